"""Measure how much the markers lengthen an application's run: the demo's HPCG with and without them.

The time is that of an iteration of the main loop, as the mini-app measures it. It excludes the start of MPI, which
takes longer than the demo's few iterations. More iterations than in the demo make the difference measurable. Paired
runs alternate in order. There are as many ranks as cores: with more, the times would measure the scheduler.
"""

from __future__ import annotations

import re
import statistics
import tempfile
from pathlib import Path
from typing import Any

from _mini_app import at_most, run_hpcg

RANKS = 2
PAIRS = 60
DEMO = {"nx": 24, "ny": 24, "nz": 24, "iterations": 60, "levels": 4}
TARGET = 1.01


def seconds_per_iteration(parameters: dict[str, int], markers: bool) -> float:
    """Run once and return the time per iteration [s] that the mini-app prints."""
    with tempfile.TemporaryDirectory() as folder:
        output = run_hpcg(RANKS, parameters, Path(folder) if markers else None)
    match = re.search(r"seconds_per_iteration: (\S+)", output)
    assert match is not None, output
    return float(match[1])


def ratio(parameters: dict[str, int]) -> float:
    """Return time with markers / time without, each the lower quartile of its runs.

    Disturbances on a shared host only make a run longer. Single runs differ by several per cent, the lower quartiles of
    two equal series by a few tenths.
    """
    times: dict[bool, list[float]] = {True: [], False: []}
    for pair in range(PAIRS):
        for markers in (True, False) if pair % 2 else (False, True):
            times[markers].append(seconds_per_iteration(parameters, markers))
    with_markers, without = (statistics.quantiles(times[markers], n=4)[0] for markers in (True, False))
    return with_markers / without


def figures() -> list[dict[str, Any]]:
    """Return the ratio at the demo's problem size."""
    return [at_most("markers: run time of the demo's application", ratio(DEMO), "ratio", TARGET)]
