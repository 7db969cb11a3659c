"""Polite waiting leaves what a program sees as it is: statuses, buffers and return codes, call by call."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import polite_calls
import pytest

from manynode.launch import Block, Flavour, run_job
from manynode.paths import native_library
from manynode.process import run

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi"
RANKS = 4
LIMIT_S = 240.0


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def flavour(request: pytest.FixtureRequest) -> Flavour:
    flavour: Flavour = request.param
    if shutil.which(f"mpicc.{flavour}") is None or shutil.which(f"mpiexec.{flavour}") is None:
        pytest.skip(f"{flavour} is not installed")
    return flavour


def include_folder(flavour: Flavour) -> Path:
    """Return the folder of this MPI's ``mpi.h``, as its compiler names it."""
    shown = run([f"mpicc.{flavour}", "-show"], what="asking for the include folder").output
    (folder,) = [path for path in map(Path, re.findall(r"-I *(\S+)", shown)) if (path / "mpi.h").exists()]
    return folder


def lines(flavour: Flavour, program: Path, folder: Path, **settings: str) -> list[list[str]]:
    """Run the program and return what each rank wrote to ``lines-<rank>``."""
    folder.mkdir()
    environment = {f"MANYNODE_MARKERS_{name.upper()}": value for name, value in settings.items()}
    if settings:
        environment["LD_PRELOAD"] = str(native_library(f"libmanynode_markers_{flavour}.so"))
    block = Block(RANKS, [str(program), str(folder)], (), environment)
    run_job(flavour, [block], what=program.name, log=folder / "job.log", timeout_s=LIMIT_S)
    return [(folder / f"lines-{rank}").read_text().splitlines() for rank in range(RANKS)]


def test_every_polite_call_shows_the_program_what_the_call_itself_does(flavour: Flavour, tmp_path: Path) -> None:
    calls = polite_calls.write_calls(include_folder(flavour), tmp_path)
    program = tmp_path / "table"
    run([f"mpicc.{flavour}", "-I", tmp_path, "-o", program, SOURCES / "polite_table.c"], what="compiling the table")
    native = lines(flavour, program, tmp_path / "native")
    (tmp_path / "recorded").mkdir()
    recorded = {"counters": "time", "dir": str(tmp_path / "recorded")}
    assert lines(flavour, program, tmp_path / "polite", polite="2", **recorded) == native
    rows = {line.split()[0].rstrip(":") for line in native[0]}
    by_hand = {"Probe", "Wait", "Waitall", "Waitany", "Waitsome"}
    assert rows == {*calls, *by_hand} and len(native[0]) > 3500


def test_fortran_statuses_are_those_of_the_calls_themselves(flavour: Flavour, tmp_path: Path) -> None:
    if shutil.which(f"mpifort.{flavour}") is None:
        pytest.skip(f"mpifort.{flavour} is not installed")
    program = tmp_path / "statuses"
    run([f"mpifort.{flavour}", "-o", program, SOURCES / "fortran_statuses.f90"], what="compiling", cwd=tmp_path)
    native = lines(flavour, program, tmp_path / "native")
    assert len(native[0]) == 15
    assert lines(flavour, program, tmp_path / "polite", polite="2") == native
