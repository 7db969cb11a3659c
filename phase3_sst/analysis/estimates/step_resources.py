"""The Snakemake resources and priorities of an experiment's points, for executors of clusters.

``mpi`` and ``tasks`` are the resources of snakemake-executor-plugin-slurm for a job that starts its own MPI processes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from manynode.errors import ManynodeError
from manynode.workflow import Plan
from phase3_sst.analysis.estimates.trial import bare_run
from phase3_sst.point.contract import ReplicaCost, engine_of
from phase3_sst.point.point_experiment import PointExperiment

# Estimates are for the machine in docs/validation.md; the cluster kills a job over its limits, hence the margins.
MORE_MEMORY = 1.5
MORE_TIME = 4
STARTING_MINUTES = 10
# The engine fast took 10.4 kB per rank at 65,536 ranks (make bench NAME=fast_scale).
_KB_PER_RANK = 10.4
MB_OF_A_STEP = 1000


def of_points(plan: Plan, engine: str | None = None) -> dict[str, Callable[[Any, int], int | str]]:
    """Return the resources of the rules that simulate a point, as functions; ``engine`` overrides the study's."""
    experiment = plan.experiment
    simulate = experiment.simulate.model_copy(update={"engine": engine or experiment.simulate.engine})
    if simulate.own_section() is None:
        return {"mem_mb": lambda wildcards, threads: _native_mb(plan, int(wildcards.nodes), threads)}
    each = simulate.cores_of_replica()

    @functools.cache
    def expected(nodes: int) -> ReplicaCost | None:
        try:
            return engine_of(simulate).expected_cost(bare_run(PointExperiment.of(experiment), nodes))
        except ManynodeError:
            # The point's own run reports what is missing.
            return None

    def mem_mb(wildcards: Any, threads: int) -> int:
        found = expected(int(wildcards.nodes))
        beside = max(1, threads // each)
        return 4000 if found is None else math.ceil(MORE_MEMORY * beside * found.memory_bytes / 1e6)

    def runtime(wildcards: Any, threads: int) -> int:
        found = expected(int(wildcards.nodes))
        rounds = math.ceil(simulate.replicas / max(1, threads // each))
        seconds = 0.0 if found is None else MORE_TIME * rounds * found.seconds
        return STARTING_MINUTES + math.ceil(seconds / 60)

    resources: dict[str, Callable[[Any, int], int | str]] = {"mem_mb": mem_mb, "runtime": runtime}
    if simulate.sst.processes > 1:
        launcher = (simulate.sst.launcher or ["mpiexec"])[0]
        resources |= {
            "mpi": lambda wildcards, threads: launcher,
            "tasks": lambda wildcards, threads: simulate.sst.processes * max(1, threads // each),
            "cpus_per_task": lambda wildcards, threads: simulate.sst.threads,
        }
    return resources


def largest_first(wildcards: Any) -> int:
    """Return the priority of a point: a large one that begins last would run alone."""
    return int(wildcards.nodes)


def trials_at_once(cores: int | None) -> int:
    """Return how many trials of the flow control run side by side: without credits, with, and with finer chunks."""
    return min(3, cores or 3)


def of_trials(plan: Plan) -> dict[str, Callable[[Any, int], int | str]]:
    """Return the resources of the choice of flow control, by trials of the largest point."""
    return {"mem_mb": lambda wildcards, threads: _native_mb(plan, max(plan.experiment.nodes), threads)}


def _native_mb(plan: Plan, nodes: int, threads: int) -> int:
    """Return the memory of a point with a native engine: ``threads`` replicas at once, and the tables."""
    ranks = nodes * plan.experiment.ranks_per_node
    return MB_OF_A_STEP + math.ceil(threads * native_bytes(ranks) / 1e6)


def native_bytes(ranks: int) -> float:
    """Return the memory of one replica with a native engine [B], with a margin."""
    return MORE_MEMORY * _KB_PER_RANK * 1000 * ranks
