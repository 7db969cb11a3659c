"""The contract of a reader of reports: converts a profiling tool's output to a run's time by operation.

In: the text of a file and its name. Out: a :class:`Report` for each run in it, in their order. A reader keeps no state.
Unreadable input is an :class:`InputError` with line, finding and allowed values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from manynode.config.validation import COMPUTE
from manynode.errors import InputError
from manynode.registry import Registry

# These calls begin and end a run; a skeleton replays what is between them.
_OUTSIDE = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")


@dataclass(frozen=True)
class Report:
    """One run: seconds of the slowest rank, ranks, nodes, and mean seconds per rank by operation (empty: unknown)."""

    seconds: float
    ranks: int
    nodes: int
    operations: Mapping[str, float]


class Reader(Protocol):
    """Reads the reports of one tool."""

    def recognises(self, text: str) -> bool:
        """Return whether ``text`` has such a report."""

    def read(self, text: str, source: str) -> list[Report]:
        """Return the runs in ``text``; ``source`` is the file's name, for errors."""


readers: Registry[type[Reader]] = Registry("format of reports", "phase3_sst.measured.readers")


def report(wall_s: float, mean_s: float, ranks: int, nodes: int, sums_s: Mapping[str, float] | None) -> Report:
    """Return a report from the slowest rank's time, the mean time, and ``sums_s`` over all ranks by MPI operation [s].

    The rest of the mean time is computation. Without sums, operations are unknown. MPI_Init and MPI_Finalize are not
    part of a run.
    """
    if sums_s is None:
        return Report(wall_s, ranks, nodes, {})
    outside = sum(sums_s.get(name, 0.0) for name in _OUTSIDE) / ranks
    calls = {name: value / ranks for name, value in sorted(sums_s.items()) if name not in _OUTSIDE and value > 0}
    compute = max(0.0, mean_s - outside - sum(calls.values()))
    return Report(wall_s - outside, ranks, nodes, {COMPUTE: compute, **calls})


def number(text: str, what: str, source: str, line: int) -> float:
    """Return a finite number that is not negative; else an error."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise InputError(
            f"{what} cannot be used", where=f"{source}:{line}", found=repr(text), allowed="a number of at least 0"
        )
    return value
