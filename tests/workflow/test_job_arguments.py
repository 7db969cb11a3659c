"""A program that takes its grid of ranks as arguments, or from a file, from nothing to its projection."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import marker_jobs
import pipeline
import pytest
import yaml

from manynode.process import run

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "own_grid_arguments.c"
WORDS = ["{d0}", "{d1}", "{40 * d1}"]
TEMPLATE = "rows {{ d0 }} columns {{ d1 }} cells {{ side * d1 }}\n"
RUNS = ["--grid", "2", "--ranks", "4,6,8", "--held-out", "16"]

pytestmark = [
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="MPICH is not installed"),
]


@pytest.fixture
def template(tmp_path: Path) -> list[str]:
    """Return the options of a template, which has a parameter."""
    path = tmp_path / "stencil.in.j2"
    path.write_text(TEMPLATE)
    return ["--input", str(path), "--parameter", "side=40"]


@pytest.mark.long
@pytest.mark.parametrize("words", [WORDS, []])
def test_what_it_is_told_follows_the_ranks_when_it_is_recorded_profiled_and_simulated(
    words: list[str], tmp_path: Path, template: Sequence[str]
) -> None:
    program = tmp_path / "stencil"
    run(["mpicc.mpich", "-g", "-O1", "-o", program, SOURCE], what="compiling the program")
    options = [*RUNS, "--nodes", "1,2,64", "--node-engine", "native", *([] if words else template)]
    place = ["--network", "opa100-fat-tree", "--output", tmp_path / "stencil.yaml", "--directory", tmp_path]
    done = pipeline.manynode("project", *options, *place, "--", program, *words)
    assert done.returncode == 0, done.stderr
    assert "follow the job: d0, d1" in done.stdout and "not projected" not in done.stdout
    experiment = yaml.safe_load((tmp_path / "stencil.yaml").read_text())["application"]
    assert experiment["command"][1:] == words and experiment["grid"]["dimensions"] == 2
    assert experiment.get("input_values", {}) == ({} if words else {"side": 40})
    skeleton = yaml.safe_load((tmp_path / "stencil.skeleton.yaml").read_text())
    assert skeleton["program"]["command"][1:] == words
    assert [one["ranks"] for one in skeleton["recorded"] if one["equal"]] == [2, 4, 6, 8, 16]
    other = ["--grid", "2,least-surface,ascending", "--ranks", "4,6,8", *([] if words else template)]
    again = pipeline.manynode("derive", *other, "--output", tmp_path / "stencil.skeleton.yaml", "--", program, *words)
    assert again.returncode != 0 and "of other arguments" in again.stderr and "not overwritten" in again.stderr


def test_a_parameter_of_an_input_file_is_one_of_the_skeleton(
    tmp_path: Path, template: Sequence[str], mpi: marker_jobs.Mpi
) -> None:
    program, skeleton = mpi.program("own_grid_arguments.c"), tmp_path / "stencil.skeleton.yaml"
    recordings = tmp_path / "recordings"
    options = [*RUNS, "--output", skeleton, "--recordings", recordings, *template, "--vary", "side=20,60"]
    done = pipeline.manynode("derive", *options, "--", program)
    assert done.returncode == 0, done.stderr
    content = yaml.safe_load(skeleton.read_text())
    assert list(content["parameters"]) == ["side"] and all(one["equal"] for one in content["recorded"])
    assert list(content["program"]["inputs"]) == ["stencil.in"]
    folder = recordings / "ranks0016-side40"
    assert not (folder / "files").exists() and (folder / "run.json").exists()

    Path(template[1]).write_text(TEMPLATE.replace("rows", "rows "))
    again = pipeline.manynode("derive", *options, "--", program)
    assert again.returncode != 0 and "input files" in again.stderr and "not overwritten" in again.stderr
