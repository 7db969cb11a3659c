"""A program whose arguments state the whole problem: how to tell it, which jobs to measure, and the study to run.

In: recorded runs, and the phases that each rank of a job executes. Out: whether a rank has less to do in larger jobs;
the node counts of jobs to measure; the file of ``manynode strong``, which interpolates compute times between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manynode.markers import CPU_TIME, read_marker_directory
from manynode.timing_profile import neighbours
from phase2_nodesim.project.measured_jobs import MOST_MEASURED, Phases, Runs

# Of the share of a rank, with the number of ranks: -1 where it has 1/P of the work, 0 where its work is its own.
_STRONG = -0.5
_FEWEST, _MOST = 2, 4


def divides_the_problem(runs: Mapping[int, Path]) -> bool:
    """Say whether a rank has less to do in larger jobs, from recorded runs of one problem by their numbers of ranks.

    The processor time between MPI calls follows a power of the number of ranks.
    """
    if len(runs) < _FEWEST:
        return False
    small, large = min(runs), max(runs)
    times = [_processor_time(runs[ranks]) for ranks in (small, large)]
    if not all(times):
        return False
    return math.log(times[1] / times[0]) / math.log(large / small) < _STRONG


def _processor_time(folder: Path) -> float:
    """Return the mean processor time of a rank between its first and its last MPI call [ns]."""
    files = read_marker_directory(folder, resolve=False)
    return float(sum(int(one.records.loc[one.records["sequence"] > 0, CPU_TIME].sum()) for one in files)) / len(files)


def sizes_to_measure(per_node: int, runs: Runs) -> list[int]:
    """Return up to four node counts of jobs that this host measures, evenly in their logarithms.

    The smallest one doubled, and doubled again, if the program runs on so many ranks: their grids are alike.
    """
    most = max(MOST_MEASURED // per_node, 2)
    first = next(filter(runs, range(2, most + 1)), None)
    if first is None:
        return []
    chosen = [first, *filter(runs, (first << times for times in range(1, (most // first).bit_length())))]
    if len(chosen) <= _FEWEST:
        chosen = list(filter(runs, range(first, most + 1)))
    if len(chosen) <= _MOST:
        return chosen
    middle = len(chosen) // 2
    return [chosen[0], chosen[middle], chosen[(middle + len(chosen)) // 2], chosen[-1]]


def not_executed(sizes: Sequence[int], nodes: int, phases: Phases) -> str | None:
    """Return a phase of a job of ``nodes`` that neither of the two jobs nearest to it executes, of those measured."""
    measured = of_study(sizes)[0]
    near = [nodes] if nodes in measured else neighbours(measured, nodes)
    executed = {name for size in near for one in phases(size) for name in one}
    return min({name for one in phases(nodes) for name in one} - executed, default=None)


def of_study(sizes: Sequence[int]) -> tuple[list[int], int | None]:
    """Return the sizes that are interpolated between, and the one that is held out: the third of four."""
    held_out = sizes[2] if len(sizes) == _MOST else None
    return [size for size in sizes if size != held_out], held_out


def study_of(name: str, title: str, experiment: Path, sizes: Sequence[int], nodes: Sequence[int]) -> dict[str, Any]:
    """Return the content of a strong scaling study's file."""
    measured, held_out = of_study(sizes)
    return {
        "name": name,
        "title": title,
        "experiment": experiment.name,
        "measured": measured,
        **({} if held_out is None else {"held_out": held_out}),
        "nodes": list(nodes),
    }
