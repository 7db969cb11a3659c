"""The job of an engine that runs the native program with a command prefix, beside native ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from manynode.launch import Block, run_job
from manynode.paths import native_library
from manynode.qemu.guest import for_program
from phase2_nodesim.engines._interface import NodeJob, NodeRun


def run_on_host(
    run: NodeRun,
    job: NodeJob,
    engine: str,
    *,
    prefix: Sequence[str],
    simulated: Mapping[str, str],
    external: Mapping[str, str],
    emulated: bool = False,
) -> None:
    """Run ``job`` with the markers library in all ranks; ``simulated`` and ``external`` are added to environments.

    With ``emulated``, ``prefix`` is QEMU's command: the markers library is loaded into the program and not into QEMU.
    """
    preload = {"LD_PRELOAD": str(native_library(f"libmanynode_markers_{job.flavour}.so"))}
    shared = {
        "MANYNODE_MARKERS_DIR": str(run.directory.resolve()),
        "MANYNODE_MARKERS_RANKS_PER_NODE": str(job.ranks_per_node),
        "OMP_NUM_THREADS": str(job.threads),
    }

    def native(count: int) -> Block:
        return Block(count, job.command, (), {**shared, **preload, **external})

    slowed = {**shared, **simulated}
    if emulated:
        prefix = [*prefix, *for_program(preload)]
    else:
        slowed |= preload

    blocks = [
        native(job.first),
        Block(job.ranks_per_node, job.command, prefix, slowed),
        native(job.ranks - job.first - job.ranks_per_node),
    ]
    log = run.directory / "job.log"
    run_job(job.flavour, blocks, what=job.words(engine), log=log, cwd=job.folder, timeout_s=job.timeout_s)
