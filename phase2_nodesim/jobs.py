"""The MPI job of phase 2: the engine that simulates a node, and the ranks of one node under it, all others native."""

from __future__ import annotations

from pathlib import Path

from manynode.config.engine_section import AUTO
from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.config.resolved import Resolved
from manynode.cores import available_cores
from manynode.errors import EngineMissingError, UsageError
from manynode.qemu.choice import uses_qemu
from phase2_nodesim.engines._interface import ENGINES, NodeEngine, NodeJob, NodeRun


def installed(engine: str, settings: NodesimSection | None) -> NodeEngine:
    """Return the named engine; if this host lacks it, this is an :class:`EngineMissingError`."""
    chosen = ENGINES.get(engine)
    probe = chosen.probe(settings)
    if not probe.available:
        raise EngineMissingError(
            f"the engine {engine} cannot be used here",
            where="nodesim: engine",
            found=probe.found or "not installed",
            remedy=probe.remedy,
        )
    return chosen


def choose_engine(experiment: Resolved) -> tuple[str, str]:
    """Return the name of the engine that simulates the nodes of ``experiment``, and the reason.

    ``auto`` takes qemu where it can be used (:func:`~manynode.qemu.choice.uses_qemu`), else valgrind.
    """
    qemu, reason = uses_qemu(experiment)
    wanted = experiment.nodesim.engine
    return (wanted if wanted != AUTO else "qemu" if qemu else "valgrind"), reason


def run_node(job: NodeJob, engine: str, machine: Machine, directory: Path) -> list[int]:
    """Run ``job`` under ``engine``; return the simulated ranks.

    Marker files and the engine's output go to ``directory``. An engine that is not installed is an
    :class:`EngineMissingError`; a job that fails is an :class:`~manynode.errors.EngineFailedError` with its last lines.
    """
    if not 0 <= job.node < job.nodes:
        raise UsageError(
            "the job does not have this node", where="--node", found=job.node, allowed=f"0 to {job.nodes - 1}"
        )
    chosen = installed(engine, job.settings)
    directory.mkdir(parents=True, exist_ok=True)
    crowded = job.ranks * job.threads > available_cores()
    chosen.run(NodeRun(machine, job.ranks_per_node, directory, crowded=crowded), job)
    return job.simulated()
