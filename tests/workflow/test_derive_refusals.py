"""Programs that no skeleton can be derived from, not even an approximate one: refused after the first run."""

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


def test_what_the_first_run_shows_is_refused_before_the_second(program: Path, tmp_path: Path) -> None:
    words = ["derive", "--ranks", "2,3,4", "--held-out", "5", "--recordings", tmp_path / "recordings"]
    for recorded in (["recording 2 ranks"], []):  # the second time, the first run is there
        done = pipeline.manynode(*words, "--", program, "node")
        assert done.returncode == 3 and "the ranks that share memory" in done.stderr
        assert "found: MPI_Allreduce@not_derived.c:" in done.stderr and "application: recorded" in done.stderr
        assert [line for line in done.stdout.splitlines() if line.startswith("recording")] == recorded
