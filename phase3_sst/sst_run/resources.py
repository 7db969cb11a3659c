"""What Snakemake is told of the points of an experiment with the engine sst, so that an executor can place them.

``mpi`` and ``tasks`` are the words of snakemake-executor-plugin-slurm for a job that starts MPI processes by itself.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from manynode.errors import ManynodeError
from manynode.workflow import Plan
from phase3_sst.estimates.trial import bare_run
from phase3_sst.sst_run.estimate import Estimate, estimate_of

# Estimates are of the machine in docs/validation.md; a job that outgrows what it asked for is ended by the cluster.
_MORE_MEMORY = 1.5
_MORE_TIME = 4
_STARTING_MINUTES = 10


def of_points(plan: Plan) -> dict[str, Callable[[Any, int], int | str]]:
    """Return the resources of rule ``phase3_simulate_point`` as functions; none for other engines than sst."""
    simulate = plan.model.simulate
    if simulate.engine != "sst":
        return {}
    each = simulate.sst.cores()
    content = plan.resolved.content

    @functools.cache
    def expected(nodes: int) -> Estimate | None:
        try:
            return point_estimate(content, nodes)
        except ManynodeError:
            # The point itself will say what lacks.
            return None

    def mem_mb(wildcards: Any, threads: int) -> int:
        found = expected(int(wildcards.nodes))
        beside = max(1, threads // each)
        return 4000 if found is None else math.ceil(_MORE_MEMORY * beside * found.memory_bytes / 1e6)

    def runtime(wildcards: Any, threads: int) -> int:
        found = expected(int(wildcards.nodes))
        rounds = math.ceil(simulate.replicas / max(1, threads // each))
        seconds = 0.0 if found is None else _MORE_TIME * rounds * found.seconds
        return _STARTING_MINUTES + math.ceil(seconds / 60)

    resources: dict[str, Callable[[Any, int], int | str]] = {"mem_mb": mem_mb, "runtime": runtime}
    if simulate.sst.processes > 1:
        launcher = (simulate.sst.launcher or ["mpiexec"])[0]
        resources |= {
            "mpi": lambda wildcards, threads: launcher,
            "tasks": lambda wildcards, threads: simulate.sst.processes * max(1, threads // each),
            "cpus_per_task": lambda wildcards, threads: simulate.sst.threads,
        }
    return resources


def point_estimate(content: dict[str, Any], nodes: int) -> Estimate:
    """Return the estimate of a replica of the application under study on ``nodes`` nodes, beside the further jobs."""
    run = bare_run(content, nodes)
    return estimate_of(run, content["simulate"]["sst"]["processes"])
