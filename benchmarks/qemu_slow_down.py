"""Measure how much slower a rank is under QEMU and under callgrind than natively: HPCG, 24^3 points, one rank.

Each figure is the ratio of processor time per iteration, from two runs with different numbers of iterations: starting
MPI and the emulator is left out. The sources ``qemu`` and ``callgrind`` count (phase 1); the engine ``qemu`` times
(phase 2).
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _figure import figure
from _node_run import shipped_machine

from manynode.config.experiment import NodesimSection
from manynode.launch import Block, run_job
from manynode.paths import native_library, native_program
from phase1_profile.sources.interface import SOURCES, CountedJob
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun

PROBLEM = ("--nx", "24", "--ny", "24", "--nz", "24", "--levels", "3", "--iterations")
LIMIT_S = 1800.0
Run = Callable[[Path, list[str]], None]


def natively(folder: Path, command: list[str]) -> None:
    """Run the command with the markers library alone."""
    variables = {
        "LD_PRELOAD": str(native_library("libmanynode_markers_mpich.so")),
        "MANYNODE_MARKERS_DIR": str(folder),
        "MANYNODE_MARKERS_COUNTERS": "time",
        "UCX_TLS": "self,sm",
    }
    run_job("mpich", [Block(1, command, (), variables)], what="hpcg", log=folder / "job.log", timeout_s=LIMIT_S)


def counted(source: str, folder: Path, command: list[str]) -> None:
    """Run the command under a source of counters."""
    chosen, job = SOURCES.get(source)(), CountedJob(folder, "mpich", 1)
    block = Block(1, command, chosen.prefix(job), chosen.environment(job))
    run_job("mpich", [block], what="hpcg", log=folder / "job.log", timeout_s=LIMIT_S)


def simulated(folder: Path, command: list[str]) -> None:
    """Run the command under the engine qemu."""
    job = NodeJob(command, "mpich", 0, 1, 1, settings=NodesimSection(engine="qemu"), timeout_s=LIMIT_S)
    ENGINES.get("qemu").run(NodeRun(shipped_machine("generic"), 1, folder), job)


def iteration_s(run: Run, few: int, many: int) -> float:
    """Return the processor time of one iteration [s]."""
    program = str(native_program("hpcg"))
    used = []
    for iterations in (few, many):
        before = _processor_s()
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder), [program, *PROBLEM, str(iterations)])
        used.append(_processor_s() - before)
    return (used[1] - used[0]) / (many - few)


def _processor_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def figures() -> list[dict[str, Any]]:
    """Return the slow-downs."""
    native = iteration_s(natively, 10, 510)
    runs: dict[str, tuple[Run, int, int]] = {
        "source qemu": (partial(counted, "qemu"), 5, 35),
        "source callgrind": (partial(counted, "callgrind"), 3, 13),
        "engine qemu": (simulated, 3, 13),
    }
    return [
        figure(f"hpcg under the {name}: processor time against native", iteration_s(*run) / native, "", None, None)
        for name, run in runs.items()
    ]
