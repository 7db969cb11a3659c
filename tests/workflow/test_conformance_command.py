"""``manynode conformance``: skeletons against their programs, as users run it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pipeline
import pytest
import yaml

from manynode.paths import native_program
from manynode.process import run

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi"
SPMV = {"nx": 3, "ny": 4, "nz": 5, "columns": 7, "iterations": 5}

pytestmark = pytest.mark.skipif(shutil.which("mpiexec.mpich") is None, reason="MPICH's mpiexec is not installed")


def experiment(folder: Path, **application: Any) -> Path:
    return pipeline.write(folder, pipeline.tiny(application={"name": "spmv", "parameters": SPMV, **application}))


def test_equal_calls_are_counted_and_recordings_are_kept(tmp_path: Path) -> None:
    path = experiment(tmp_path)
    words = ["conformance", path, "--ranks", "2,3", "--keep", tmp_path / "kept"]
    done = pipeline.manynode(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if "recording" not in line] == [
        "2 ranks: equal, 44 calls",
        "3 ranks: equal, 78 calls",
    ]
    again = pipeline.manynode(*words)
    assert again.returncode == 0 and "recording" not in again.stdout, again.stdout + again.stderr


def test_the_first_difference_is_shown_on_both_sides(tmp_path: Path) -> None:
    """The program has 7 columns, the skeleton 8."""
    words = [word for name, value in SPMV.items() for word in (f"--{name}", str(value))]
    command = [str(native_program("spmv")), *words]
    path = experiment(tmp_path, command=command, parameters={**SPMV, "columns": 8})
    done = pipeline.manynode("conformance", path, "--ranks", "4")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "4 ranks: different" in done.stdout and "in bytes" in done.stdout
    assert "  application  [no label] MPI_Irecv peer=1 bytes=840" in done.stdout
    assert "  skeleton     [no label] MPI_Irecv peer=1 bytes=960" in done.stdout


@pytest.mark.parametrize(
    ("changes", "ranks", "said"),
    [
        ({}, "0", "no numbers of ranks to compare at"),
        ({}, "4;8", "a list of whole numbers cannot be read"),
        ({"name": None, "parameters": {}, "command": ["/bin/true"]}, "4", "no skeleton to compare with its program"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path: Path, changes: dict[str, Any], ranks: str, said: str) -> None:
    path = experiment(tmp_path, **changes)
    content = yaml.safe_load(path.read_text())
    content["application"] = {key: value for key, value in content["application"].items() if value is not None}
    done = pipeline.manynode("conformance", pipeline.write(tmp_path, content), "--ranks", ranks)
    assert done.returncode == 2 and said in done.stderr, done.stdout + done.stderr


@pytest.mark.long
def test_drawn_sizes_are_compared_as_a_whole(tmp_path: Path) -> None:
    """All but the sizes must be equal; the sizes' volume and distribution are said."""
    program = tmp_path / "particles"
    if shutil.which("mpicc.mpich") is None:
        pytest.skip("mpicc.mpich is not installed")
    run(["mpicc.mpich", "-O1", "-o", program, SOURCES / "particles.c"], what="compiling particles.c")
    skeleton = tmp_path / "particles.skeleton.yaml"
    words = ["--ranks", "2,4,6,8,9,12", "--held-out", "", "--target", "", "--recordings", tmp_path / "tiny.recordings"]
    done = pipeline.manynode("derive", "--output", skeleton, *words, "--", program, "240000", "6")
    assert done.returncode == 0, done.stdout + done.stderr
    application = {"command": [str(program), "240000", "6"], "derived": skeleton.name}
    path = pipeline.write(tmp_path, pipeline.tiny(application=application), "tiny.yaml")
    done = pipeline.manynode("conformance", path, "--ranks", "8")
    assert done.returncode == 0 and "8 ranks: equal but for drawn sizes (" in done.stdout, done.stdout + done.stderr
    skeleton.write_text(skeleton.read_text().replace("tag: 1,", "tag: 2,"))
    done = pipeline.manynode("conformance", path, "--ranks", "8")
    assert done.returncode == 1 and "recording" not in done.stdout, done.stdout + done.stderr
    assert "rank 0, call 1: the skeleton differs from the application in tag" in done.stdout
