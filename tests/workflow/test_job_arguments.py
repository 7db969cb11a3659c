"""A program that takes its grid of ranks as arguments, and refuses another one, from nothing to its projection."""

from __future__ import annotations

import shutil
from pathlib import Path

import pipeline
import pytest
import yaml

from manynode.process import run

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "own_grid_arguments.c"
WORDS = ["{d0}", "{d1}", "{40 * d1}"]

pytestmark = [
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="MPICH is not installed"),
]


@pytest.mark.long
def test_its_arguments_follow_the_ranks_when_it_is_recorded_profiled_and_simulated(tmp_path: Path) -> None:
    program = tmp_path / "stencil"
    run(["mpicc.mpich", "-g", "-O1", "-o", program, SOURCE], what="compiling the program")
    options = ["--grid", "2", "--nodes", "1,2,64", "--ranks", "4,6,8", "--held-out", "16", "--node-engine", "native"]
    place = ["--network", "opa100-fat-tree", "--output", tmp_path / "stencil.yaml", "--directory", tmp_path]
    done = pipeline.manynode("project", *options, *place, "--", program, *WORDS)
    assert done.returncode == 0, done.stderr
    assert "follow the job: d0, d1" in done.stdout and "not projected" not in done.stdout
    experiment = yaml.safe_load((tmp_path / "stencil.yaml").read_text())["application"]
    assert experiment["command"][1:] == WORDS and experiment["grid"]["dimensions"] == 2
    skeleton = yaml.safe_load((tmp_path / "stencil.skeleton.yaml").read_text())
    assert skeleton["program"]["command"][1:] == WORDS
    assert [one["ranks"] for one in skeleton["recorded"] if one["equal"]] == [2, 4, 6, 8, 16]
    again = pipeline.manynode("derive", "--ranks", "4,6,8", "--output", tmp_path / "stencil.skeleton.yaml", "--grid",
                              "2,least-surface,ascending", "--", program, *WORDS)  # fmt: skip
    assert again.returncode != 0 and "of other arguments" in again.stderr and "not overwritten" in again.stderr
