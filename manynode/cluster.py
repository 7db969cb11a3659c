"""Resources of the rules, for an executor such as Slurm.

The names are those of snakemake-executor-plugin-slurm: ``mpi`` (the job starts MPI processes itself and is not wrapped
in ``srun``), ``tasks``, ``nodes``, ``cpus_per_task``, ``mem_mb``, ``runtime`` (minutes). On one host Snakemake ignores
them. A profile's ``set-resources`` overrides any of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from manynode.workflow import Plan

Resource = Callable[..., int | str]

# What a rank takes besides its own memory, and an engine that runs beside it, as measured (docs/how-to/slurm.md).
_MB_PER_RANK = 500
_MB_OF_A_STEP = 2000
_MORE_MINUTES = 15


def of_profiling(plan: Plan) -> dict[str, Resource | int | str]:
    """Return the resources of a profiling run of phase 1: one task per rank, on as many nodes as the job has.

    With callgrind and qemu, one node is enough: instruction counts do not depend on neighbours.
    """
    spread = plan.experiment.profile.source not in ("callgrind", "qemu")
    return _of_a_job(plan, lambda wildcards: int(wildcards.nodes), spread)


def of_node_simulation(plan: Plan) -> dict[str, Resource | int | str]:
    """Return the resources of a node simulated in phase 2: one task per rank of its job, external ranks included.

    The engine native measures the cluster's own nodes. Under the other engines the node is a model; its job stays on
    one host, which gem5's guests need.
    """
    section = plan.experiment.nodesim
    return _of_a_job(
        plan,
        lambda wildcards: section.nodes if wildcards.mode.startswith("ext") else 1,
        spread=section.engine == "native",
    )


def _of_a_job(plan: Plan, nodes: Callable[[Any], int], spread: bool) -> dict[str, Resource | int | str]:
    model = plan.experiment
    each = model.ranks_per_node
    return {
        "mpi": "mpiexec",
        # An MPI job of one task is refused by the plugin.
        "tasks": lambda wildcards: max(2, nodes(wildcards) * each),
        "nodes": lambda wildcards: nodes(wildcards) if spread else 1,
        "cpus_per_task": model.application.threads,
        "mem_mb": lambda wildcards: _MB_OF_A_STEP + _MB_PER_RANK * each * (1 if spread else nodes(wildcards)),
        "runtime": _MORE_MINUTES + math.ceil(model.application.timeout_s / 60),
    }
