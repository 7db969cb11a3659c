"""Runs the programs of small kinds (``tests/data/mpi/kinds``) and derives their skeletons, as a user would."""

from __future__ import annotations

import functools
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pipeline
import pytest

from manynode.process import run

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi" / "kinds"
# Of four ranks and more: grids of two axes, and of three.
FLAT, DEEP = "4,6,8,9,12", "4,8,12,18,24,27"
POWERS, SQUARES = "2,4,8,32", "1,4,9,25"
# Blocks of up to 16 ranks are looked for: half of the ranks must be more.
HALF = "4,6,8,9,12,36"
# With two to five ranks along both axes: fewer numbers do not show how a problem is divided.
DIVIDED = "4,6,9,12,18,20,25"


class Kind(NamedTuple):
    """What comes of a kind: the verdict at ``target`` ranks, or ``refused``, and words of the report or of the error.

    One run, of 16 ranks, is held out; an exact skeleton must equal it.
    """

    name: str
    verdict: str
    says: str = ""
    ranks: str = FLAT
    target: int = 64


@functools.cache
def compiled(source: str, mpi: str, folder: Path) -> Path:
    """Return the program of a source with this MPI, made once; the test is skipped where the MPI is not installed."""
    if shutil.which(f"mpicc.{mpi}") is None:
        pytest.skip(f"mpicc.{mpi} is not installed")
    program = folder / f"{Path(source).stem}-{mpi}"
    run([f"mpicc.{mpi}", "-g", "-O1", "-o", program, SOURCES / source], what=f"compiling {source}")
    return program


def check(kind: Kind, program: Path, folder: Path) -> None:
    """Derive the skeleton of a kind and compare what comes of it with what is expected."""
    words = ["derive", "--ranks", kind.ranks, "--held-out", "16", "--target", kind.target]
    paths = ["--output", folder / "kind.skeleton.yaml", "--recordings", folder / "recordings"]
    done = pipeline.manynode(*words, *paths, "--", program, kind.name)
    said = done.stdout + done.stderr
    assert kind.says in said, said
    if kind.verdict == "refused":
        assert done.returncode == 3, said
        return
    assert done.returncode == 0 and f"| {kind.target} | {kind.verdict} |" in done.stdout, said
    if kind.verdict == "agreed":
        assert re.search(r"\| 16 ranks \| equal", done.stdout), said
