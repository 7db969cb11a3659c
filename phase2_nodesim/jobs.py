"""The MPI job of phase 2: the engine that simulates a node, and the ranks of one node under it, all others native."""

from __future__ import annotations

from pathlib import Path

from manynode.config.engine_section import AUTO
from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.config.resolved import Resolved
from manynode.cores import available_cores
from manynode.errors import EngineMissingError, InputError, UsageError
from manynode.qemu.choice import uses_qemu
from manynode.tables import read_provenance
from phase2_nodesim.engines._interface import ENGINES, NodeEngine, NodeJob, NodeRun
from phase2_nodesim.segments import SCHEMA


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


def choose_engine(experiment: Resolved, results: Path | None = None) -> tuple[str, str]:
    """Return the name of the engine that simulates the nodes of ``experiment``, and the reason.

    ``auto`` takes qemu where it can be used (:func:`~manynode.qemu.choice.uses_qemu`), else valgrind. If nodes of the
    experiment are simulated already in the folder ``results``, it takes their engine: the difference of two engines
    would look like the effect of external ranks or of sharing.
    """
    wanted = experiment.nodesim.engine
    before = _engine_of_simulated_nodes(results) if wanted == AUTO and results is not None else None
    if before is not None:
        return before, "other nodes of this experiment were simulated by it"
    qemu, reason = uses_qemu(experiment)
    return (wanted if wanted != AUTO else "qemu" if qemu else "valgrind"), reason


def _engine_of_simulated_nodes(results: Path) -> str | None:
    for path in sorted(results.glob("nodesim/*/node-*/segments.parquet")):
        try:
            engine = read_provenance(path, SCHEMA).get("engine")
        except InputError:  # damaged, or of another experiment: the workflow makes it again
            continue
        if engine is not None:
            return str(engine)
    return None


def require_sharing(engine: str, reason: str) -> None:
    """Refuse a control by an engine whose ranks share nothing, as a :class:`UsageError`."""
    if engine == "qemu":
        return
    raise UsageError(
        "only the engine qemu can simulate a control, whose ranks do not share caches",
        where="nodesim: qemu: control",
        found=f"{engine} ({reason})",
        remedy="remove the folder nodesim of the results, so that qemu simulates all nodes, or set control: false",
    )


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
