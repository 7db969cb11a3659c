"""The job of an engine that runs the native program with a command prefix, beside native ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from manynode.launch import Block, run_job
from manynode.paths import native_library
from phase2_nodesim.engines._interface import NodeJob, NodeRun


def run_on_host(
    run: NodeRun,
    job: NodeJob,
    engine: str,
    *,
    prefix: Sequence[str],
    simulated: Mapping[str, str],
    external: Mapping[str, str],
) -> None:
    """Run ``job`` with the markers library in all ranks; ``simulated`` and ``external`` are added to environments."""
    shared = {
        "LD_PRELOAD": str(native_library(f"libmanynode_markers_{job.flavour}.so")),
        "MANYNODE_MARKERS_DIR": str(run.directory.resolve()),
        "MANYNODE_MARKERS_RANKS_PER_NODE": str(job.ranks_per_node),
        "OMP_NUM_THREADS": str(job.threads),
    }

    def native(count: int) -> Block:
        return Block(count, job.command, (), {**shared, **external})

    blocks = [
        native(job.first),
        Block(job.ranks_per_node, job.command, prefix, {**shared, **simulated}),
        native(job.ranks - job.first - job.ranks_per_node),
    ]
    run_job(job.flavour, blocks, what=job.words(engine), log=run.directory / "job.log", timeout_s=job.timeout_s)
