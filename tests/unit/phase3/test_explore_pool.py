"""The cores of a server: who gets them, and that all come back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from phase3_sst.explore.pool import LONG, Cores


def run(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 20))


def test_a_step_gets_what_is_free_up_to_what_it_can_use() -> None:
    async def body() -> None:
        cores = Cores(4)
        async with cores.some(3) as first, cores.some(3) as second:
            assert (first, second) == (3, 1)
        async with cores.some(9) as all_of_them:
            assert all_of_them == 4
        async with cores.some(9, each=2) as pairs:
            assert pairs == 2

    run(body())


def test_urgent_steps_go_first_and_then_the_order_of_questions() -> None:
    async def body() -> None:
        cores, told = Cores(1), []

        async def step(name: str, **options: Any) -> None:
            async with cores.some(1, **options):
                told.append(name)
                await asyncio.sleep(0)

        async with cores.some(1):
            waiting = [
                asyncio.create_task(step("search", urgent=False, order=0)),
                asyncio.create_task(step("second", order=2)),
                asyncio.create_task(step("first", order=1)),
            ]
            await asyncio.sleep(0.01)
            assert told == []
        await asyncio.gather(*waiting)
        assert told == ["first", "second", "search"]

    run(body())


def test_a_long_step_leaves_a_core_to_short_ones() -> None:
    async def body() -> None:
        cores = Cores(2)
        async with cores.some(2, work=2 * LONG) as long:
            assert long == 1
            other = asyncio.create_task(cores.some(2, work=2 * LONG).__aenter__())
            async with cores.some(2, work=LONG / 2) as short:
                assert short == 1 and not other.done()
        assert await other == 1

    run(body())


def test_with_one_core_a_long_step_still_runs() -> None:
    async def body() -> None:
        async with Cores(1).some(5, work=9 * LONG) as processes:
            assert processes == 1

    run(body())


def test_a_step_of_several_cores_is_not_passed_over_by_small_ones() -> None:
    async def body() -> None:
        cores, told = Cores(2), []

        async def step(name: str, each: int) -> None:
            async with cores.some(1, each=each):
                told.append(name)

        async with cores.some(1):
            tasks = [asyncio.create_task(step("pair", 2)), asyncio.create_task(step("single", 1))]
            await asyncio.sleep(0.01)
            assert told == []
        await asyncio.gather(*tasks)
        assert told == ["pair", "single"]

    run(body())


@pytest.mark.parametrize("waits", [True, False])
def test_cancelled_steps_give_their_cores_back(waits: bool) -> None:
    async def body() -> None:
        cores = Cores(2)

        async def step() -> None:
            async with cores.some(2):
                await asyncio.sleep(60)

        held = cores.some(1)
        if waits:
            await held.__aenter__()
        tasks = [asyncio.create_task(step()) for _ in range(3)]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if waits:
            await held.__aexit__(None, None, None)
        async with cores.some(2) as processes:
            assert processes == 2

    run(body())


def test_a_step_that_gets_its_cores_as_it_is_cancelled_gives_them_back() -> None:
    async def body() -> None:
        cores = Cores(1)
        first = cores.some(1)
        await first.__aenter__()
        waiting = asyncio.create_task(cores.some(1).__aenter__())
        await asyncio.sleep(0.01)
        # The core is dealt to the waiting step, which is cancelled before it runs.
        await first.__aexit__(None, None, None)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with cores.some(1) as processes:
            assert processes == 1

    run(body())
