"""How much the markers change an application's run time: HPCG's time per iteration with and without them.

Paired runs in alternating order; the figure is the median of the pairs' ratios. As many ranks as cores: with more, the
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
PAIRS = 21
SIZES = {
    # the demo's own size, whose phases are short
    "demo's size": {"nx": 16, "ny": 16, "nz": 16, "iterations": 1500},
    "32^3": {"nx": 32, "ny": 32, "nz": 32, "iterations": 150},
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
    """Return the median over pairs of time with markers / time without."""
    ratios = []
    for pair in range(PAIRS):
        order = (True, False) if pair % 2 else (False, True)
        times = {markers: seconds_per_iteration(parameters, markers) for markers in order}
        ratios.append(times[True] / times[False])
    return statistics.median(ratios)


def figures() -> list[dict[str, Any]]:
    """Return the ratio at both sizes."""
    return [
        at_most(f"markers: HPCG's run time with / without, {name}", ratio(parameters), "ratio", TARGET)
        for name, parameters in SIZES.items()
    ]
