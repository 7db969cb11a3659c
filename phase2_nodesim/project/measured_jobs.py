"""Which jobs to measure on this host, so that every compute phase of the projected jobs has times.

In: the node counts to project, and the phases that each rank of a job executes. Out: at most two jobs to measure
(:class:`MeasuredJob`), each with the node counts that have its phases, and why others are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from manynode.report.wording import count

# A measured job runs on this host, one process per rank.
MOST_MEASURED = 64
_MOST_JOBS = 2

# Phases of each rank, by nodes; whether the program runs on so many nodes.
Phases = Callable[[int], Sequence[Collection[str]]]
Runs = Callable[[int], bool]


@dataclass(frozen=True)
class MeasuredJob:
    """A job of ``nodes``, with the node counts to project from it; ``differ``: their ranks execute different phases."""

    nodes: int
    projected: tuple[int, ...]
    differ: bool


def measured_jobs(
    projected: Sequence[int], per_node: int, phases: Phases, runs: Runs
) -> tuple[list[MeasuredJob], dict[int, str]]:
    """Return the jobs to measure, that of the largest projected one first, and why node counts are left out.

    The smallest job that executes the phases of all is taken. If there is none, the largest node counts come first, and
    a second job is measured for the others. A single node count is measured itself where this host can: its compute
    times hold for strong scaling, too.
    """
    of_ranks = {nodes: phases(nodes) for nodes in projected}
    needed = {nodes: set().union(*found) for nodes, found in of_ranks.items()}
    most = max(MOST_MEASURED // per_node, 2)
    candidates = [nodes for nodes in (*range(2, most + 1), 1) if runs(nodes)]
    if len(projected) == 1 and projected[0] <= most:
        candidates = list(projected)
    jobs: list[MeasuredJob] = []
    while needed and len(jobs) < _MOST_JOBS:
        nodes, covered = _best(candidates, needed, phases)
        if not covered:
            break
        differ = any(set(one) != set(of_ranks[number][0]) for number in covered for one in of_ranks[number])
        jobs.append(MeasuredJob(nodes, tuple(covered), differ))
        needed = {number: names for number, names in needed.items() if number not in covered}
    left_out = {number: _why(number, names, per_node, candidates, phases) for number, names in needed.items()}
    return jobs, left_out


def _best(candidates: Sequence[int], needed: Mapping[int, set[str]], phases: Phases) -> tuple[int, list[int]]:
    """Return the job that executes the phases of the largest node count, and of most others, and these node counts."""
    best: tuple[int, list[int]] = (0, [])
    for nodes in candidates:
        executed = set().union(*phases(nodes))
        covered = sorted(number for number, names in needed.items() if names <= executed)
        if nodes == 1:
            # A lone node has no ranks beside it: its times hold for itself.
            covered = [number for number in covered if number == 1]
        if covered and (not best[1] or (covered[-1], len(covered)) > (best[1][-1], len(best[1]))):
            best = nodes, covered
        if len(covered) == len(needed):
            break
    return best


def _why(number: int, names: set[str], per_node: int, candidates: Sequence[int], phases: Phases) -> str:
    """Return why no job is measured for a node count, and the run that would decide."""
    if number in candidates:
        return f"its compute phases need one more measured job: project it alone (--nodes {number})"
    executed = set().union(*(set().union(*phases(nodes)) for nodes in candidates))
    if missing := sorted(names - executed):
        what = f"no job that this host measures executes the phase {missing[0]}"
    else:
        what = "no single job that this host measures executes all of its phases"
    nodes = min(2 * max(MOST_MEASURED // per_node, 1), number)
    while nodes < number and not names <= set().union(*phases(nodes)):
        nodes = min(2 * nodes, number)
    return (
        f"{what}; a job of {count(nodes, 'node')} ({count(nodes * per_node, 'rank')}) does: measure it where so many "
        f"ranks can run (nodesim: nodes: {nodes}, profile: nodes: [{nodes}])"
    )
