"""MPI jobs under the markers library, with MPICH and with Open MPI, for the tests of the library."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from manynode.launch import Flavour
from manynode.process import Completed, run

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi"
BUILD = Path(os.environ.get("MANYNODE_BUILD_DIR", Path(__file__).resolve().parents[2] / "build"))
FLAVOURS = ("mpich", "openmpi")
COMPILERS = {".c": "mpicc", ".cpp": "mpicxx", ".f": "mpifort", ".f90": "mpifort"}
LIMIT_S = 180.0


class Mpi:
    """One MPI library: compiles the programs of tests/data/mpi once and runs them under the markers library."""

    def __init__(self, flavour: Flavour, folder: Path) -> None:
        self.flavour: Flavour = flavour
        self.folder = folder
        self.library = BUILD / "lib" / f"libmanynode_markers_{flavour}.so"

    @property
    def version(self) -> int:
        """The version of the standard that the library has."""
        command = [f"mpicc.{self.flavour}", "-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null"]
        defined = re.search(r"#define MPI_VERSION (\d+)", run(command, what="its version").output)
        return 0 if defined is None else int(defined[1])

    def program(self, source: str) -> Path:
        path = SOURCES / source
        compiler = f"{COMPILERS[path.suffix]}.{self.flavour}"
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        program = self.folder / source.replace(".", "_")
        if not program.exists():
            run([compiler, "-g", "-w", "-o", program, path, "-lpthread", "-ldl"], what=f"compiling {source}")
        return program

    def start(
        self, out: Path | None, program: Path, *words: str, ranks: int = 2, check: bool = True, **settings: str
    ) -> Completed:
        launcher = [f"mpiexec.{self.flavour}"]
        if self.flavour == "openmpi":
            launcher += ["--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
        environment = {f"MANYNODE_MARKERS_{name.upper()}": value for name, value in settings.items()}
        if out is not None:
            environment["MANYNODE_MARKERS_DIR"] = str(out)
        assigned = [f"{name}={value}" for name, value in environment.items()]
        command = [*launcher, "-n", str(ranks), "env", f"LD_PRELOAD={self.library}", *assigned, program, *words]
        return run([str(word) for word in command], what="an MPI test program", timeout_s=LIMIT_S, check=check)


@pytest.fixture(scope="module", params=FLAVOURS)
def mpi(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mpi:
    flavour = request.param
    if shutil.which(f"mpicc.{flavour}") is None or shutil.which(f"mpiexec.{flavour}") is None:
        pytest.skip(f"{flavour} is not installed")
    made = Mpi(flavour, tmp_path_factory.mktemp(flavour))
    if not made.library.exists():
        pytest.skip(f"{made.library} is not built")
    return made
