"""Programs of tests/data/mpi, compiled once for all tests as native MPI programs and as guests of the bridge."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from conftest import shared_folder

from manynode.hostlock import exclusive
from manynode.launch import Flavour
from manynode.process import run
from phase2_nodesim.bridge.job import BridgedJob, Inject

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build"))
SOURCES = ROOT / "tests" / "data" / "mpi"
LIBRARY = BUILD / "lib" / "libmanynode_bridge.a"
GUEST_OPTIONS = ["-static", "-no-pie", "-fno-pie", "-march=x86-64", "-isystem", ROOT / "phase2_nodesim/bridge/include"]
LIMIT_S = 60.0


class Programs:
    """One MPI library: ``native`` and ``guest`` compile a source, ``job`` describes a job of both."""

    def __init__(self, flavour: Flavour, folder: Path) -> None:
        self.flavour: Flavour = flavour
        self.folder = folder

    def native(self, source: str) -> Path:
        compiler = f"{'mpicxx' if source.endswith('.cpp') else 'mpicc'}.{self.flavour}"
        return self._compiled(source, "native", [compiler, "-DOMPI_SKIP_MPICXX"], [])

    def guest(self, source: str) -> Path:
        compiler = "g++" if source.endswith(".cpp") else "gcc"
        return self._compiled(source, "guest", [compiler, *GUEST_OPTIONS], [LIBRARY])

    def _compiled(self, source: str, kind: str, compiler: list[str | Path], libraries: list[Path]) -> Path:
        program = self.folder / f"{Path(source).stem}-{kind}"
        with exclusive(self.folder / "lock", purpose="compilation"):
            if not program.exists():
                part = program.with_suffix(".part")
                run(
                    [*compiler, "-g", "-O1", "-w", "-fopenmp", SOURCES / source, *libraries, "-lm", "-o", part],
                    what="compiling",
                )
                part.rename(program)
        return program

    def job(
        self,
        source: str,
        *words: str | Path,
        directory: Path,
        first: int = 1,
        ranks: int = 2,
        total: int = 4,
        inject: Inject = "none",
    ) -> BridgedJob:
        arguments = [str(word) for word in words]
        return BridgedJob(
            self.flavour,
            [str(self.guest(source)), *arguments],
            [str(self.native(source)), *arguments],
            first,
            ranks,
            total,
            directory,
            inject,
        )


def programs_of(flavour: Flavour, factory: pytest.TempPathFactory) -> Programs:
    """Return the programs for ``flavour``; the test is skipped by name where something is not there."""
    if shutil.which(f"mpicc.{flavour}") is None or shutil.which(f"mpiexec.{flavour}") is None:
        pytest.skip(f"{flavour} is not installed")
    if not LIBRARY.exists():
        pytest.skip(f"{LIBRARY} is not built")
    return Programs(flavour, shared_folder(factory) / f"bridge-{flavour}")
