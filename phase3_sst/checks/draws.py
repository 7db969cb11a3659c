"""Compares the draws of a timing profile with the simulated node itself, schema ``draws/1``.

In: the timing profile and the series of the same node (:mod:`phase2_nodesim.series`). Out: the time of the node's ranks
in a job of their own with each execution's own time, with drawn times, and with constant times. Section 5.1 of Eyerman
et al. makes this test: variable timings reconstruct what the detailed simulation reports, constant ones do not. What is
between drawn and own times is lost in the fit: an order of the executions, or what ranks have in common.

Before that, what the skeleton has these ranks compute is compared with what they computed: a skeleton of another
program, or of other arguments, executes its phases another number of times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.config.resolved import Resolved
from manynode.config.skeleton import executions
from manynode.errors import ManynodeError
from manynode.timing_profile import TimingProfile, read_timing_profile
from phase3_sst.point.contract import Measurement, NetworkEngine, Point
from phase3_sst.point.inputs import check_profile
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.run_file import main_job, network_of, run_of

DRAWS_SCHEMA = "draws/1"
REPLICAS = 5
# Sums of the same times in another order.
_SAME = 1e-6


@dataclass(frozen=True)
class _Job:
    """The job that is replayed: its nodes, and the class of each rank in the profile and in the series."""

    nodes: int
    drawn: Sequence[str]
    own: Sequence[str]


def compare(experiment: Resolved, profile: Path, series: Path, engine: NetworkEngine) -> dict[str, Any]:
    """Return ``draws/1`` for the mode of ``profile``; ``refused`` says why there is nothing to compare."""
    fitted, simulated = read_timing_profile(profile), read_timing_profile(series)
    parameters = _parameters(fitted).get("parameters", experiment.application.parameters)
    mode = "ext" if fitted.external else "no-ext"
    for path, content in ((profile, fitted), (series, simulated)):
        check_profile(path, content, f"{mode}-var", str(experiment.application.name))
    job = _job(fitted, simulated, experiment.ranks_per_node)
    found: dict[str, Any] = {"mode": mode, "nodes": job.nodes, "ranks": len(job.own)}
    found |= computed(simulated, executions(str(experiment.application.name), parameters, fitted.ranks))
    nothing: dict[str, Any] = {"own_s": None, "drawn_s": [], "constant_s": None}
    if len(job.own) != job.nodes * experiment.ranks_per_node:
        return {**found, **nothing, "refused": "not all ranks of a node were simulated"}
    base = PointExperiment.of(experiment)
    point = Point(base, job.nodes, f"{mode}-var", series, job.own, experiment.seed)
    constant = Point(base, job.nodes, f"{mode}-const", profile, job.drawn, experiment.seed)
    drawn = Point(base, job.nodes, f"{mode}-var", profile, job.drawn, experiment.seed)
    runs = [_run(point, fitted, 0), _run(constant, fitted, 0)]
    runs += [_run(drawn, fitted, replica) for replica in range(REPLICAS)]
    try:
        own, means, *draws = engine.measure_all(runs, experiment.simulate.time_limit)
    except ManynodeError as error:
        # A skeleton may exist for other sizes only: that is no fault of the experiment.
        return {**found, **nothing, "refused": f"the skeleton does not run on {job.nodes} nodes: {error}"}
    times = {
        "own_s": own.makespan_s,
        "drawn_s": [one.makespan_s for one in draws],
        "constant_s": means.makespan_s,
    }
    return {**found, **times, "refused": _difference(own, simulated, job)}


def computed(simulated: TimingProfile, executions: Mapping[int, Mapping[str, int]]) -> dict[str, float | None]:
    """Return the compute times [s] of the simulated ranks together: as they executed their phases, and as the skeleton
    does in a job of the same size (``executions``: rank -> phase -> times; empty if the skeleton has none).
    """
    if not executions:
        return {"computed_s": None, "skeleton_s": None}
    own = skeleton = 0.0
    for one in simulated.classes:
        own += sum(phase.mean_s * phase.count for phase in one.phases)
        times = executions[one.simulated_ranks[0]]
        skeleton += sum(phase.mean_s * times.get(phase.name, 0) for phase in one.phases)
    return {"computed_s": own, "skeleton_s": skeleton}


def _job(fitted: TimingProfile, simulated: TimingProfile, ranks_per_node: int) -> _Job:
    """Return the whole job if all its ranks were simulated, else the first simulated node as a job of its own."""
    names = {one.simulated_ranks[0]: one.name for one in simulated.classes}
    ranks = sorted(names)
    nodes = fitted.nodes
    if len(ranks) < fitted.ranks:
        first = ranks[0] // ranks_per_node
        nodes, ranks = 1, [rank for rank in ranks if rank // ranks_per_node == first]
    # A class without a simulated rank of its own lists those from which it borrows.
    held = {rank: one.name for one in fitted.classes if not one.borrowed for rank in one.simulated_ranks}
    return _Job(nodes, [held[rank] for rank in ranks], [names[rank] for rank in ranks])


def _run(point: Point, profile: TimingProfile, replica: int) -> dict[str, Any]:
    """Return the run file of the job alone on the machine, of the size that was simulated."""
    experiment = point.experiment
    job = main_job(point)
    job.pop("injection", None)
    job["application"] = {**job["application"], **_parameters(profile)}
    return run_of(network_of(experiment), experiment.simulate.collectives, [job], seed=point.seed, replicas=[replica])


def _parameters(profile: TimingProfile) -> dict[str, Any]:
    """Return the parameters of the simulated run; a program of the user's own has none here."""
    found = profile.application.get("parameters")
    return {} if found is None else {"parameters": found}


def _difference(own: Measurement, simulated: TimingProfile, job: _Job) -> str | None:
    """Return why the skeleton did not replay the node's own series, None if it did."""
    chosen = set(job.own)
    sums = [sum(phase.mean_s * phase.count for phase in one.phases) for one in simulated.classes if one.name in chosen]
    computed = own.slowest_s.get("compute", 0.0)
    if abs(computed - max(sums)) <= _SAME * max(sums):
        return None
    return (
        f"the skeleton on {job.nodes} node{'' if job.nodes == 1 else 's'} computes for {computed:.6g} s on the rank "
        f"that computes longest, the simulated node for {max(sums):.6g} s: it executes its phases another number of "
        "times"
    )
