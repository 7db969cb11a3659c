"""Events of the explore server: every page hears of everything, a slow page is cut off; searches start once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from manynode.errors import InputError, UsageError
from phase3_sst.explore.server.events import MOST_WAITING, Hub
from phase3_sst.explore.server.searching import MOST_RUNNING, Searching, Tell


def contents(text: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


async def heard(hub: Hub) -> list[str]:
    return [text async for text in hub.stream()]


def test_every_page_hears_every_event_in_order() -> None:
    async def play() -> list[list[str]]:
        hub = Hub()
        pages = [asyncio.create_task(heard(hub)) for _ in range(3)]
        await asyncio.sleep(0)
        for number in range(5):
            hub.publish("progress", {"number": number, "share": float("nan")})
        await asyncio.sleep(0)
        hub.close()
        return await asyncio.gather(*pages)

    for texts in asyncio.run(play()):
        assert texts[0].startswith("retry:")
        assert contents("".join(texts)) == [{"number": number, "share": None} for number in range(5)]
        assert all(text.startswith("event: progress\n") and text.endswith("\n\n") for text in texts[1:])


def test_a_page_that_reads_too_slowly_is_cut_off() -> None:
    async def play() -> tuple[int, list[str]]:
        hub = Hub()
        stream = hub.stream()
        await anext(stream)
        # this page stops reading; the other events have nowhere to go
        for _ in range(MOST_WAITING + 1):
            hub.publish("progress", {})
        quick = asyncio.create_task(heard(hub))
        await asyncio.sleep(0)
        hub.publish("finished", {"digest": "a"})
        rest = [text async for text in stream]
        hub.close()
        return len(rest), await quick

    left, quick = asyncio.run(play())
    assert left == 0
    assert contents("".join(quick)) == [{"digest": "a"}]


def search(work: Callable[[Tell], Awaitable[Mapping[str, Any]]], then: Callable[[Searching, str], None]) -> Any:
    async def play() -> Any:
        searching = Searching(Hub())
        name = searching.start("map", {"a": 1}, work)["search"]
        await asyncio.sleep(0)
        then(searching, name)
        for _ in range(5):
            await asyncio.sleep(0)
        found = dict(searching.state(name) or {})
        await searching.close()
        return found

    return asyncio.run(play())


def test_a_search_ends_finished_failed_or_cancelled_and_says_so() -> None:
    async def finishes(tell: Tell) -> Mapping[str, Any]:
        tell({"step": 1})
        return {"step": 2}

    async def fails(tell: Tell) -> Mapping[str, Any]:
        tell({"step": 1})
        raise InputError("no good", where="here")

    async def waits(tell: Tell) -> Mapping[str, Any]:
        tell({"step": 1})
        await asyncio.Event().wait()
        raise AssertionError

    nothing = lambda searching, name: None  # noqa: E731
    assert search(finishes, nothing)["content"] == {"step": 2}
    failed = search(fails, nothing)
    assert (failed["state"], failed["error"]) == ("failed", {"what": "no good", "where": "here"})
    cancelled = search(waits, lambda searching, name: searching.cancel(name))
    assert (cancelled["state"], cancelled["content"]) == ("cancelled", {"step": 1})
    assert search(waits, nothing)["state"] == "running"


def test_the_same_search_runs_once_and_too_many_are_refused() -> None:
    runs = []

    async def waits(_tell: Tell) -> Mapping[str, Any]:
        runs.append(1)
        await asyncio.Event().wait()
        raise AssertionError

    async def play() -> None:
        searching = Searching(Hub())
        for number in range(MOST_RUNNING):
            first = searching.start("map", {"a": number}, waits)
            assert searching.start("map", {"a": number}, waits) == first
            await asyncio.sleep(0)
        assert len(runs) == MOST_RUNNING == len(searching.running())
        with pytest.raises(UsageError, match="too many searches"):
            searching.start("map", {"a": -1}, waits)
        await searching.close()
        assert searching.running() == []

    asyncio.run(play())
