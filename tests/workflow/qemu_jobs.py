"""Jobs whose ranks run under a real QEMU, for tests; without one that takes plugins they are skipped by name."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from bridge_programs import ROOT

from manynode import process
from manynode.config.experiment import NodesimSection, QemuSection
from manynode.config.machine import Machine
from manynode.errors import EngineMissingError
from manynode.launch import Flavour
from manynode.markers import read_marker_directory
from manynode.process_tree import descendants
from manynode.qemu.installation import find_qemu
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun

SOURCES = ROOT / "tests" / "data" / "mpi"
LIMIT_S = 120.0


def qemu_or_skip() -> str:
    """Return QEMU's version; without one that can run the node model the test is skipped."""
    try:
        return find_qemu().version
    except EngineMissingError as error:
        pytest.skip(f"qemu: {error.what}: {error.found}")


def mpi_or_skip(flavour: str) -> None:
    """Skip the test where ``flavour`` is not installed."""
    for name in (f"mpicc.{flavour}", f"mpiexec.{flavour}"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")


def compiled(source: str, flavour: str, folder: Path, *options: str) -> Path:
    """Return a program of tests/data/mpi."""
    program = folder / Path(source).stem
    process.run([f"mpicc.{flavour}", "-g", "-O1", "-w", *options, "-o", program, SOURCES / source], what="compiling")
    return program


def machine(name: str = "generic") -> Machine:
    """Return a shipped machine."""
    return Machine.model_validate(yaml.safe_load((ROOT / "configs" / "machines" / f"{name}.yaml").read_text()))


def node_job(
    program: Path,
    *words: object,
    flavour: Flavour = "mpich",
    ranks: int = 2,
    nodes: int = 1,
    node: int = 0,
    threads: int = 1,
    timeout_s: float = LIMIT_S,
    **settings: Any,
) -> NodeJob:
    """Return the job of ``program`` with ``ranks`` on each node."""
    return NodeJob(
        [str(program), *map(str, words)],
        flavour,
        node,
        nodes,
        ranks,
        threads=threads,
        settings=NodesimSection(engine="qemu", qemu=QemuSection.model_validate(settings)),
        timeout_s=timeout_s,
    )


def simulate(job: NodeJob, directory: Path, name: str = "generic") -> pd.DataFrame:
    """Run ``job`` under QEMU, check that nothing is left, and return the segments of its simulated ranks."""
    engine = ENGINES.get("qemu")
    run = NodeRun(machine(name), job.ranks_per_node, directory, crowded=True)
    try:
        engine.run(run, job)
    finally:
        nothing_is_left(directory)
    files = [file for file in read_marker_directory(directory) if file.metadata["rank"] in job.simulated()]
    return engine.segments(run, files)


def nothing_is_left(directory: Path) -> None:
    """No process of a job and no shared memory of its node outlives it."""
    assert not [pid for pid in descendants(os.getpid()) if pid != os.getpid() and _is_qemu(pid)]
    nothing_is_shared(directory)


def nothing_is_shared(directory: Path) -> None:
    """The node's shared memory has no name, and goes with the processes that have it open."""
    path = directory / "node.json"
    if path.is_file():
        assert not Path(json.loads(path.read_text())["shared_memory"]).exists()


def _is_qemu(pid: int) -> bool:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("qemu-")
    except OSError:
        return False


def report(directory: Path, rank: int) -> dict[str, Any]:
    """Return what the node model of a rank said at its end."""
    content: dict[str, Any] = json.loads((directory / f"node-report.{rank}.json").read_text())
    return content
