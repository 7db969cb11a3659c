"""How much the markers change an application's run time: HPCG's time per iteration with and without them.

Paired runs in alternating order. As many ranks as cores: with more, the
times would measure the scheduler.
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
SIZES = {
    # the demo's own size, whose phases are short
    "demo's size": {"nx": 16, "ny": 16, "nz": 16, "iterations": 200},
    "32^3": {"nx": 32, "ny": 32, "nz": 32, "iterations": 30},
}
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

    What disturbs a run on a shared host makes it longer, never shorter: single runs differ by several per cent, the
    lower quartiles of two equal series by a few tenths.
    """
    times: dict[bool, list[float]] = {True: [], False: []}
    for pair in range(PAIRS):
        for markers in (True, False) if pair % 2 else (False, True):
            times[markers].append(seconds_per_iteration(parameters, markers))
    with_markers, without = (statistics.quantiles(times[markers], n=4)[0] for markers in (True, False))
    return with_markers / without


def figures() -> list[dict[str, Any]]:
    """Return the ratio at both sizes."""
    return [
        at_most(f"markers: HPCG's run time with / without, {name}", ratio(parameters), "ratio", TARGET)
        for name, parameters in SIZES.items()
    ]
