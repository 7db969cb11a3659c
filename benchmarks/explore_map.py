"""Fill two maps of the demo as 'manynode explore' does, then simulate all of their cells: how far off is a map?

Bandwidth (10 to 400 Gbit/s) x latency (20 ns to 5 us) at 64 nodes, and bandwidth x nodes (1 to 64), 8 x 8 cells each.
The cross-validated error is what the map states of itself; the true error is that of its interpolated cells against
their simulation. A third map has slow links and long wires (1 to 100 Gbit/s, 100 ns to 100 us), where the network
takes most of the time.

Forty formulas with kinks follow, without a simulation: computing, bytes over bandwidth and steps of latency, which add
up or hide each other. They show how often a map knows that it is not good yet.

The demo must be there (``make demo``); its results are copied, not changed. Usage on its own: ``python
benchmarks/explore_map.py [RESULTS] [--times FOLDER]``; the latter writes all simulated times, as in tests/data/explore.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from _figure import Skipped, figure

from manynode.cores import available_cores
from manynode.paths import ROOT
from phase3_sst.explore.asker import with_value
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.explorer import Explorer
from phase3_sst.explore.map_search import fill
from phase3_sst.explore.parameter_map import Map
from phase3_sst.explore.question import Question

MOST, TARGET = 20, 0.02
BANDWIDTH = Axis(keys=["network.link.bandwidth"], kind="bandwidth", low="10 Gbit/s", high="400 Gbit/s")
LATENCY = Axis(keys=["network.link.latency"], kind="time", low="20 ns", high="5 us")
NODES = Axis(keys=["nodes"], kind="count", values=[1, 2, 4, 8, 16, 32, 48, 64])
NARROW = Axis(keys=["network.link.bandwidth"], kind="bandwidth", low="1 Gbit/s", high="100 Gbit/s")
LONG = Axis(keys=["network.link.latency"], kind="time", low="100 ns", high="100 us")
MAPS = {
    "bandwidth-latency": (BANDWIDTH, LATENCY),
    "bandwidth-nodes": (BANDWIDTH, NODES),
    "slow-network": (NARROW, LONG),
}


FORMULAS = 40
_SOURCE = {"made_by": "benchmarks/explore_map.py", "experiment": "configs/demo.yaml"}


@dataclass(frozen=True)
class Measured:
    """A map, and the simulated times of all its cells, row by row."""

    found: Map
    times_s: list[float]

    def errors(self) -> np.ndarray:
        """Return the relative errors of the interpolated cells."""
        cells = zip(self.found.cells, self.times_s, strict=True)
        return np.array([(cell.time_s or 0) / time - 1 for cell, time in cells if cell.state == "interpolated"])

    def covered(self) -> float:
        """Return the share of interpolated cells whose error is within two of their standard errors."""
        stated = np.array([cell.error for cell in self.found.cells if cell.state == "interpolated"], dtype=float)
        return float((np.abs(self.errors()) <= 2 * stated).mean())

    def true_error(self) -> float:
        """Return the root mean square of the errors."""
        return float(np.sqrt(np.mean(self.errors() ** 2)))


async def measured(results: Path, name: str) -> Measured:
    """Return a map of the demo in ``results``, where its points are kept."""
    explorer = Explorer(results, cores=available_cores())
    try:
        return await _measured(explorer, *MAPS[name])
    finally:
        await explorer.close()


async def _measured(explorer: Explorer, x: Axis, y: Axis) -> Measured:
    question = explorer.start()
    if x is NARROW:
        # The check before a simulation refuses latencies that are out of proportion to bandwidths.
        question = question.with_change("simulate.preflight.enabled", False)
    # Cells that an earlier map knows would make this one look cheaper than it is.
    found = await fill(_Forgetful(explorer), question, x, y, most=MOST, target=TARGET)
    cells = [with_value(with_value(question, x, cell.x), y, cell.y) for cell in found.cells]
    answers = await asyncio.gather(*(explorer.answer(cell, urgent=False) for cell in cells))
    return Measured(found, [answer.time_s for answer in answers])


def formula(seed: int) -> Callable[[float, float], float]:
    """Return a time [s] over bandwidth [B/s] and latency [s]; half of the formulas add costs, half hide the smaller."""
    rng = np.random.default_rng(seed)
    computing = rng.uniform(0.01, 0.05)
    moved, steps = rng.uniform(1e6, 3e7), 10 ** rng.uniform(3.1, 4.4)
    hidden, hides = rng.uniform(1e7, 5e7), rng.uniform(0.002, 0.02)
    if seed % 2:
        return lambda b, latency: float(computing + max(steps * latency, moved / b))
    return lambda b, latency: float(computing + moved / b + steps * latency + max(0.0, hidden / b - hides))


async def of_formula(seed: int) -> Measured:
    """Return the map of a formula."""
    asker = _Formula(formula(seed))
    found = await fill(asker, Question(nodes=64), BANDWIDTH, LATENCY, most=MOST, target=TARGET, at_once=1)
    return Measured(found, [asker.time(str(cell.x), str(cell.y)) for cell in found.cells])


class _Formula:
    """An explorer whose answers are a formula, the same for each replica."""

    def __init__(self, times: Callable[[float, float], float]) -> None:
        self.times = times

    def time(self, bandwidth: str, latency: str) -> float:
        return self.times(BANDWIDTH.number(bandwidth), LATENCY.number(latency))

    def checked(self, question: Question) -> None:
        return None

    def known(self, question: Question) -> None:
        return None

    async def answer(self, question: Question, *, urgent: bool = True) -> Any:
        time = self.time(*(question.changes[axis.keys[0]] for axis in (BANDWIDTH, LATENCY)))
        return SimpleNamespace(digest="", time_s=time, low_s=time, high_s=time)


class _Forgetful:
    """An explorer that knows nothing before it is asked."""

    def __init__(self, explorer: Explorer) -> None:
        self.checked, self.answer = explorer.checked, explorer.answer

    def known(self, question: object) -> None:
        return None


def made(results: Path) -> Iterator[tuple[str, Measured]]:
    """Yield the maps of the demo in ``results``, which is copied."""
    if not (results / "projection.parquet").is_file():
        raise Skipped(f"no finished demo in {results}: run 'make demo' first")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / results.name
        shutil.copytree(results, copy)
        shutil.rmtree(copy / "explore", ignore_errors=True)
        for name in MAPS:
            yield name, asyncio.run(measured(copy, name))


def figures() -> list[dict[str, Any]]:
    """Return each map's points, cross-validated error and true error."""
    rows = []
    for name, each in made(ROOT / "results" / "demo"):
        stated = each.found.error if each.found.error is not None else float("nan")
        rows += [
            figure(f"{name}: simulated points of 64", each.found.asked, "", MOST, "<="),
            figure(f"{name}: cross-validated error", 100 * stated, "%", 100 * TARGET, "<="),
            figure(f"{name}: true error of the rest", 100 * each.true_error(), "%", 100 * TARGET, "<="),
        ]
    return rows + formula_figures()


def formula_figures() -> list[dict[str, Any]]:
    """Return how many maps of formulas are good, and the worst true error of these."""
    maps = [asyncio.run(of_formula(seed)) for seed in range(FORMULAS)]
    good = [each for each in maps if each.found.good]
    covered = float(np.mean([each.covered() for each in maps]))
    return [
        figure(f"formulas: good maps of {FORMULAS}", len(good), "", None, None),
        figure(
            "formulas: worst true error of a good map",
            100 * max((e.true_error() for e in good), default=0.0),
            "%",
            2.5,
            "<=",
        ),
        figure("formulas: errors within two standard errors", 100 * covered, "%", 90, ">="),
    ]


def main() -> None:
    """Print every map."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", default=ROOT / "results" / "demo")
    parser.add_argument("--times", type=Path, help="folder for all simulated times")
    given = parser.parse_args()
    for row in formula_figures():
        print(f"{row['name']}: {row['value']:.3g} {row['unit']}", flush=True)
    for name, each in made(given.results):
        errors, times, found = each.errors(), each.times_s, each.found
        stated = found.error or 0, found.worst or 0, found.spread or 0
        print(
            f"{name}: times {min(times):.4g} to {max(times):.4g} s, {found.asked} points, good: {found.good}\n"
            f"  cross-validated {stated[0]:.2%} (worst {stated[1]:.2%}), stated for the rest {stated[2]:.2%}\n"
            f"  true {each.true_error():.2%} (worst {np.abs(errors).max(initial=0):.2%}), "
            f"within two standard errors {each.covered():.0%}",
            flush=True,
        )
        if given.times:
            given.times.mkdir(parents=True, exist_ok=True)
            rows = [{"x": cell.x, "y": cell.y, "time_s": time} for cell, time in zip(found.cells, times, strict=True)]
            (given.times / f"{name}.json").write_text(json.dumps({**_SOURCE, "times_s": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
