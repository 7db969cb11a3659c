"""Programs that no skeleton can be derived from: refused after the first run, with the reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pipeline
import pytest

from manynode.process import run

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "not_derived.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mpicc") is None:
        pytest.skip("mpicc is not installed")
    program = tmp_path_factory.mktemp("not_derived") / "program"
    run(["mpicc", "-g", str(SOURCE), "-o", str(program)], what="mpicc", timeout_s=120)
    return program


@pytest.mark.parametrize(
    ("argument", "what", "call"),
    [
        ("node", "the ranks that share memory", "MPI_Allreduce@not_derived.c:"),
        ("neighbours", "a collective over neighbours", "MPI_Neighbor_alltoall@not_derived.c:"),
    ],
)
def test_what_the_first_run_shows_is_refused_before_the_second(
    program: Path, tmp_path: Path, argument: str, what: str, call: str
) -> None:
    words = ["derive", "--ranks", "2,3,4", "--held-out", "5", "--recordings", tmp_path / "recordings"]
    for recorded in (["recording 2 ranks"], []):  # the second time, the first run is there
        done = pipeline.manynode(*words, "--", program, argument)
        assert done.returncode == 3 and what in done.stderr and f"found: {call}" in done.stderr
        assert "application: recorded" in done.stderr
        assert [line for line in done.stdout.splitlines() if line.startswith("recording")] == recorded
