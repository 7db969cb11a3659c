"""The MPI job of phase 2: the ranks of one node under an engine, all others native beside them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from manynode.config.machine import Machine
from manynode.errors import EngineMissingError, UsageError
from manynode.launch import Block, Flavour, run_job
from manynode.paths import native_library
from phase2_nodesim.engines._interface import ENGINES, NodeRun


def run_node(
    command: Sequence[str],
    flavour: Flavour,
    engine: str,
    machine: Machine,
    *,
    node: int,
    nodes: int,
    ranks_per_node: int,
    directory: Path,
    timeout_s: float | None = None,
) -> list[int]:
    """Run ``command`` on ``nodes`` x ``ranks_per_node`` ranks, those of ``node`` simulated; return the simulated ranks.

    Marker files and the engine's output go to ``directory``. An engine that is not installed is an
    :class:`EngineMissingError`; a job that fails is an :class:`~manynode.errors.EngineFailedError` with its last lines.
    """
    if not 0 <= node < nodes:
        raise UsageError("no such node in the job", where="--node", found=node, allowed=f"0 to {nodes - 1}")
    chosen = ENGINES.get(engine)
    probe = chosen.probe()
    if not probe.available:
        raise EngineMissingError(
            f"the engine {engine} cannot be used here",
            where="nodesim: engine",
            found=probe.found or "not installed",
            remedy=probe.remedy,
        )
    directory.mkdir(parents=True, exist_ok=True)
    ranks = nodes * ranks_per_node
    run = NodeRun(machine, ranks_per_node, directory, crowded=ranks > (os.cpu_count() or 1))
    markers = {
        "LD_PRELOAD": str(native_library(f"libmanynode_markers_{flavour}.so")),
        "MANYNODE_MARKERS_DIR": str(directory.resolve()),
        "MANYNODE_MARKERS_RANKS_PER_NODE": str(ranks_per_node),
    }
    simulated = Block(ranks_per_node, command, chosen.command_prefix(run), {**markers, **chosen.environment(run)})

    def external(count: int) -> Block:
        return Block(count, command, (), {**markers, **chosen.external_environment(run)})

    first = node * ranks_per_node
    blocks = [external(first), simulated, external(ranks - first - ranks_per_node)]
    run_job(
        flavour,
        blocks,
        what=f"the application with node {node} of {nodes} under {engine}",
        log=directory / "job.log",
        timeout_s=timeout_s,
    )
    return list(range(first, first + ranks_per_node))
