"""A program that hears from neighbours in any order and waits for them one by one: derived, and run natively."""

from __future__ import annotations

import shutil
from pathlib import Path

import pipeline
import pytest
import yaml

from manynode.process import run

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "neighbour_list.c"

pytestmark = [
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="MPICH is not installed"),
]


def test_the_native_skeleton_makes_the_calls_of_a_run_that_was_not_learned_from(tmp_path: Path) -> None:
    program, skeleton = tmp_path / "list", tmp_path / "list.skeleton.yaml"
    run(["mpicc.mpich", "-g", "-O1", "-o", program, SOURCE], what="compiling the program")
    options = ["--ranks", "1,4,8,12,18,27", "--held-out", "", "--target", "1000", "--output", skeleton]
    done = pipeline.manynode("derive", *options, "--recordings", tmp_path / "recordings", "--", program, "4")
    assert done.returncode == 0 and "| 1000 | agreed |" in done.stdout, done.stdout + done.stderr
    assert "receives from any source at MPI_Irecv@neighbour_list.c:" in done.stdout
    experiment = {
        "name": "list",
        "application": {"command": [str(program), "4"], "derived": str(skeleton)},
        "nodes": [4],
        "ranks_per_node": 4,
        "machine": "broadwell",
        "network": "opa100-fat-tree",
    }
    (tmp_path / "list.yaml").write_text(yaml.safe_dump(experiment))
    done = pipeline.manynode("conformance", tmp_path / "list.yaml", "--ranks", "16")
    assert done.returncode == 0 and "16 ranks: equal" in done.stdout, done.stdout + done.stderr
