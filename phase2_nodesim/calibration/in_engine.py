"""Microbenchmarks under an engine of phase 2: the same measurements from the segments of a simulated node.

The MPI form of the microbenchmarks (``manynode-microbenchmarks-mpi``, as a guest ``.bridge``) runs the same tasks as
ranks, and each timed region is a compute phase with the task's label. An engine's times of these phases, read here,
give the figures that :mod:`core_figures` and :mod:`memory_figures` make of native measurements. They must be those of
the machine file that the engine was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from manynode.errors import InputError
from phase2_nodesim.calibration.measurements import Series, clocked, read_lines
from phase2_nodesim.calibration.plan import CLOCK, Task

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = "manynode-microbenchmarks-mpi"


def words(tasks: Sequence[Task]) -> list[str]:
    """Return the arguments with which the program runs the clock and ``tasks``; numbers of workers are left out.

    The workers are the ranks of the job.
    """
    alone = [
        Task(one.name, tuple(pair for pair in one.values if pair[0] != "workers"), one.operations) for one in tasks
    ]
    return [word for one in [CLOCK, *alone] for word in one.words()]


def series_of_segments(segments: pd.DataFrame, output: str) -> dict[str, Series]:
    """Return the series by label from the segments of a job (phase, rank, compute_s) and what the job printed.

    The slowest rank counts, as natively. ``output`` says how many operations a region had.
    """
    found: dict[str, Series] = {}
    for label, native in read_lines(output).items():
        rows = segments[segments["phase"] == label]
        if rows.empty:
            raise InputError(
                "the segments lack a timed region",
                where="phase of the segments",
                found=f"no phase {label!r}",
                allowed="one phase per label that the job printed",
                remedy="run the MPI form of the microbenchmarks under the engine, with the markers library",
            )
        rounds = rows.groupby(rows.groupby("rank").cumcount())["compute_s"].max()
        found[label] = Series(
            native.workers,
            [float(seconds) / native.operations for seconds in rounds],
            native.large_page_bytes,
            operations=native.operations,
        )
    return clocked(found)
