"""Maps and inverse questions on points that the engine fast simulates."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import explore_bases
import numpy as np
import pytest
import yaml
from conftest import made_once
from pipeline import ROOT

from manynode.config.prices import Prices
from phase3_sst.explore.asker import with_value
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.cheapest_search import Alternative, cheapest
from phase3_sst.explore.costs import Costs
from phase3_sst.explore.explorer import Explorer
from phase3_sst.explore.goal import Goal
from phase3_sst.explore.inverse_search import seek
from phase3_sst.explore.map_search import fill
from phase3_sst.explore.question import Question

pytestmark = pytest.mark.long

NOTHING_BEFORE = {"simulate.preflight.enabled": False, "network.flow_control": "none"}
BANDWIDTH = Axis(keys=["network.link.bandwidth"], kind="bandwidth", low="1 Gbit/s", high="100 Gbit/s", n=4)
LATENCY = Axis(keys=["network.link.latency"], kind="time", low="90 ns", high="9 us", n=4)

T = TypeVar("T")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = made_once(tmp_path_factory, "explore-small", explore_bases.run_small) / "results" / "small"
    return explore_bases.copied(made, tmp_path_factory.mktemp("searches"))


def first(explorer: Explorer) -> Question:
    """The baseline without the steps before a simulation that a search of many points repeats.

    The check would say that 9 us are out of proportion to 1 Gbit/s.
    """
    return explorer.baseline().changed(changes=NOTHING_BEFORE)


def asked(results: Path, ask: Callable[[Explorer], Awaitable[T]]) -> T:
    """Ask an explorer and close it."""

    async def whole() -> T:
        explorer = Explorer(results, cores=2)
        try:
            return await ask(explorer)
        finally:
            await explorer.close()

    return asyncio.run(whole())


def test_a_map_marks_its_points_and_the_rest_is_as_exact_as_it_says(results: Path) -> None:
    async def ask(explorer: Explorer) -> tuple[Any, list[float]]:
        found = await fill(explorer, first(explorer), BANDWIDTH, LATENCY, most=12)
        cells = [with_value(with_value(first(explorer), BANDWIDTH, c.x), LATENCY, c.y) for c in found.cells]
        before = [explorer.known(cell) for cell in cells]
        for cell, answer in zip(found.cells, before, strict=True):
            assert (cell.state == "simulated") == (answer is not None), "simulated cells, and no others, are known"
            if answer is not None:
                assert (cell.time_s, cell.low_s, cell.digest) == (answer.time_s, answer.low_s, answer.digest)
        return found, [(await explorer.answer(cell)).time_s for cell in cells]

    found, times = asked(results, ask)
    assert found.error is not None and found.asked <= 12
    rest = [(cell, time) for cell, time in zip(found.cells, times, strict=True) if cell.state == "interpolated"]
    errors = np.array([cell.time_s / time - 1 for cell, time in rest])
    assert max(times) > 1.2 * min(times), "the map is not flat"
    assert np.sqrt(np.mean(errors**2)) < max(2 * found.error, 0.02)


def test_the_least_bandwidth_lies_between_two_simulated_points(results: Path) -> None:
    async def ask(explorer: Explorer) -> Any:
        baseline = await explorer.answer(first(explorer))
        goal = Goal(loss=0.1, baseline=baseline)
        found = await seek(explorer, first(explorer), BANDWIDTH, goal, sense="least", resolution=0.05)
        for step in found.steps:
            assert explorer.known(with_value(first(explorer), BANDWIDTH, step.value)) is not None
        return found, baseline

    found, baseline = asked(results, ask)
    assert found.outcome == "found" and found.holds and found.fails
    assert found.holds.answer.time_s <= 1.1 * baseline.time_s < found.fails.answer.time_s
    assert found.fails.number < found.holds.number < 1.12 * found.fails.number
    assert found.surely_holds and found.surely_fails
    assert found.surely_fails.number <= found.fails.number < found.holds.number <= found.surely_holds.number
    assert found.surely_holds.number < 1.5 * found.surely_fails.number, "the draws are paired"
    assert found.binding and found.binding.by_losses and found.binding.part in ("bandwidth", "contention", "latency")


def test_the_cheapest_network_that_keeps_the_loss(results: Path) -> None:
    prices = Prices.model_validate(yaml.safe_load((ROOT / "configs/prices/example.yaml").read_text()))

    async def ask(explorer: Explorer) -> Any:
        baseline = await explorer.answer(first(explorer))
        costs = Costs(prices, explorer.resolved.relevant_difference)
        own = costs.add(baseline, explorer.resolved.network, baseline.nodes)
        slow = with_value(first(explorer), BANDWIDTH, "1 Gbit/s")
        choices = [Alternative("slow", slow, own.cost / 2), Alternative("own", first(explorer), own.cost)]
        return await cheapest(explorer, choices, Goal(loss=0.0, baseline=baseline))

    found = asked(results, ask)
    assert found.holds and found.holds.value == "own" and found.holds.number > 8 * 8000
    assert [step.verdict.level for step in found.steps] == [0, 3]


def test_a_cancelled_map_leaves_no_simulation(results: Path) -> None:
    async def ask(explorer: Explorer) -> int:
        other = Axis(keys=["network.switch_latency"], kind="time", low="50 ns", high="5 us", n=6)
        task = asyncio.ensure_future(fill(explorer, first(explorer), BANDWIDTH, other))
        while not explorer.running():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(500):
            if not explorer.running():
                break
            await asyncio.sleep(0.01)
        return len(explorer.running())

    assert asked(results, ask) == 0
