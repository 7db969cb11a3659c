"""What happens, told to every open page as server-sent events.

In: events as a kind and a JSON object. Out: one stream per page. A page that reads too slowly is cut off: it connects
again and asks for the whole state.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from phase3_sst.explore.server.wording import plain

MOST_WAITING = 1000
# A comment at this distance shows the server that a page has gone.
HEARTBEAT_S = 15.0
MOST_PAGES = 32


class Hub:
    """The pages that listen."""

    def __init__(self) -> None:
        self._pages: set[asyncio.Queue[str | None]] = set()
        self._closed = False

    @property
    def full(self) -> bool:
        return len(self._pages) >= MOST_PAGES

    def publish(self, kind: str, content: Mapping[str, Any]) -> None:
        """Tell all pages of ``content``; ``kind`` is one word."""
        text = f"event: {kind}\ndata: {json.dumps(plain(content), allow_nan=False, separators=(',', ':'))}\n\n"
        for page in list(self._pages):
            try:
                page.put_nowait(text)
            except asyncio.QueueFull:
                self._pages.discard(page)
                while not page.empty():
                    page.get_nowait()
                page.put_nowait(None)

    def close(self) -> None:
        """End all streams after what they still have to say: the server is about to stop."""
        self._closed = True
        for page in self._pages:
            if page.full():
                page.get_nowait()
            page.put_nowait(None)

    async def stream(self, first: str = "") -> AsyncIterator[str]:
        """Yield the events from now on, after ``first``, until the page or the server goes."""
        if self._closed:
            return
        page: asyncio.Queue[str | None] = asyncio.Queue(MOST_WAITING)
        self._pages.add(page)
        try:
            yield f"retry: 1000\n\n{first}"
            while True:
                try:
                    text = await asyncio.wait_for(page.get(), HEARTBEAT_S)
                except TimeoutError:
                    text = ": still here\n\n"
                if text is None:
                    return
                yield text
        finally:
            self._pages.discard(page)
