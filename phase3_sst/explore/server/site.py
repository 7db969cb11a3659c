"""What all routes of one server share."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from manynode.errors import InputError, ManynodeError
from phase3_sst.explore.server.asking import Asking
from phase3_sst.explore.server.events import Hub
from phase3_sst.explore.server.searching import Searching
from phase3_sst.explore.server.wording import refused

if TYPE_CHECKING:
    from phase3_sst.explore.answer import Answer
    from phase3_sst.explore.explorer import Explorer

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Site:
    """The explorer, the pages that listen, and what runs for them."""

    explorer: Explorer
    hub: Hub
    asking: Asking
    searching: Searching

    def baseline(self) -> Answer:
        """Return the base's own answer."""
        found = self.explorer.known(self.explorer.baseline())
        if found is None:
            raise InputError(
                "the base experiment has no projection of its own question",
                where=str(self.explorer.name),
                remedy="finish it: manynode run",
            )
        return found

    async def close(self) -> None:
        await self.searching.close()
        await self.asking.close()


def worded(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint that answers an error with its words."""

    @functools.wraps(endpoint)
    async def answering(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ManynodeError as error:
            return refused(error)

    return answering
