"""Times a point's first iterations with the engine fast on this host -> processor time and memory of all iterations.

Compute times are left out, and no profile is needed. The number of iterations doubles until they are long enough to
time. The cost of one iteration is the difference to the first, which counts the start-up once.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manynode.config.application import read_application
from manynode.config.converge import iterations_of
from manynode.config.simulate import SkeletonChoice
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.run_file import network_of, run_of

# Long enough for the processor clock, short compared with a study.
_ENOUGH_S = 0.15
# If the first iteration takes this long, no second one is needed.
LONG_S = 3.0


@dataclass(frozen=True)
class Trial:
    """Processor time [s] of a replica with one iteration, of each further one, and its memory [B]."""

    first_s: float
    iteration_s: float
    memory_bytes: float

    def seconds(self, iterations: float) -> float:
        """Return the processor time of one replica [s]."""
        return self.first_s + max(0.0, iterations - 1) * self.iteration_s


def bare_run(experiment: PointExperiment, nodes: int) -> dict[str, Any]:
    """Return the run file of the application on ``nodes`` nodes, with the other jobs; computing takes no time."""
    application = experiment.application.model_dump(mode="json")
    jobs: list[dict[str, Any]] = [
        {"name": "main", "application": application, "nodes": nodes, "ranks_per_node": experiment.ranks_per_node},
    ]
    taken = nodes
    for job in experiment.simulate.jobs:
        hosts = list(range(taken, taken + job.nodes))
        taken += job.nodes
        kept = {"name": job.name, "nodes": job.nodes, "ranks_per_node": job.ranks_per_node}
        jobs.append({**kept, "application": job.application.model_dump(mode="json"), "hosts": hosts})
    return run_of(network_of(experiment), experiment.simulate.collectives, jobs, seed=experiment.seed, replicas=[0])


def iterations(experiment: PointExperiment) -> tuple[str | None, int]:
    """Return the parameter that sets the application's iterations and their number; None and 1 without one."""
    application, converge = experiment.application, experiment.simulate.converge
    if converge is not None:
        return iterations_of(application.name, application.parameters, converge)
    return counted_iterations(application)


def counted_iterations(application: SkeletonChoice) -> tuple[str | None, int]:
    """Return the parameter that sets a skeleton's iterations and their number; None and 1 without one."""
    counter = read_application(application.name).iterations
    if counter is None or counter not in application.parameters:
        return None, 1
    return counter, max(1, int(application.parameters[counter]))


def tried(experiment: PointExperiment, nodes: int, timeout_s: float) -> Trial:
    """Return the trial of an experiment on ``nodes`` nodes.

    Raises the engine's errors, and :class:`EngineFailedError` when an iteration takes longer than ``timeout_s``.
    """
    return tried_run(bare_run(experiment, nodes), *iterations(experiment), timeout_s)


def tried_run(run: Mapping[str, Any], counter: str | None, total: int, timeout_s: float) -> Trial:
    """Return the trial of a run file whose first job has ``total`` iterations, set by its parameter ``counter``.

    Raises as :func:`tried` does.
    """
    application = run["jobs"][0]["application"]

    def timed(count: int) -> float:
        parameters = application["parameters"] if counter is None else {**application["parameters"], counter: count}
        jobs = [{**run["jobs"][0], "application": {**application, "parameters": parameters}}, *run["jobs"][1:]]
        before = _children()
        FastEngine().measure({**run, "jobs": jobs}, timeout_s)
        return _children() - before

    first = timed(1)
    count, last = 1, first
    while first < LONG_S and count < total and last - first < _ENOUGH_S:
        count = min(2 * count, total)
        last = timed(count)
    iteration = first if count == 1 else max(0.0, last - first) / (count - 1)
    # Linux counts ru_maxrss in KiB, for the largest child so far. Points are therefore tried from few nodes to many.
    return Trial(first, iteration, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024.0)


def extrapolated(fewer: tuple[int, Trial], more: tuple[int, Trial], nodes: int) -> Trial:
    """Return what ``nodes`` nodes take, from two numbers of nodes that were tried.

    Times follow the power of the nodes between the two trials. They grow at least in proportion, because what is beside
    the messages counts less and less, and at most with the square: a short trial may be noise. Memory grows in
    proportion, which is an upper bound: a trial's has that of this program in it, from which the engine is started.
    """
    (few, first), (many, last) = fewer, more

    def time(name: str) -> float:
        one, two = getattr(first, name), getattr(last, name)
        power = math.log(two / one) / math.log(many / few) if one > 0 and two > 0 else 1.0
        return float(two * (nodes / many) ** min(2.0, max(1.0, power)))

    return Trial(time("first_s"), time("iteration_s"), last.memory_bytes * nodes / many)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
