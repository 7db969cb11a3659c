"""Programs whose communication follows the data: run natively, approximated, compared with a job that was held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import marker_jobs
import pipeline
import pytest
import yaml

pytestmark = pytest.mark.usefixtures("no_busy_start")
mpi = marker_jobs.mpi


def derived(folder: Path, ranks: str, target: str, *command: Any) -> tuple[dict[int, dict[str, Any]], str]:
    """Derive a skeleton; return its measured errors by number of ranks, and what was said."""
    skeleton = folder / "program.skeleton.yaml"
    options = ["--ranks", ranks, "--held-out", "", "--target", target, "--output", skeleton]
    done = pipeline.manynode("derive", *options, "--recordings", folder / "program.recordings", "--", *command)
    assert done.returncode == 0 and "no exact skeleton: " in done.stdout, done.stdout + done.stderr
    section = yaml.safe_load(skeleton.read_text())["approximate"]
    assert section["runs"][0]["file"].startswith("program.recordings/"), "both may be moved"
    return {one["ranks"]: one for one in section["held_out"]}, done.stdout


def test_a_job_held_out_is_met_within_its_bounds(tmp_path: Path, mpi: marker_jobs.Mpi) -> None:
    """Twice as large as the largest run that it is predicted from: volume within 5 %, makespan within 10 %."""
    program = mpi.program("follows_data.c")
    errors, said = derived(tmp_path, "4,8,16,32,64", "64,250,256", program)
    assert "| 64 | proved |" in said and "| 256 | approximate |" in said
    assert "| 250 | refused | no recorded run divides 250 ranks" in said
    assert set(errors) == {32, 64} and errors[64]["from"] == 32
    assert abs(errors[64]["volume"]) <= 0.05 and abs(errors[64]["makespan"]) <= 0.1, errors


def test_collectives_over_neighbours_stay_a_ring(tmp_path: Path, mpi: marker_jobs.Mpi) -> None:
    errors, said = derived(tmp_path, "2,4,8,16", "64", mpi.program("not_derived.c"), "neighbours")
    assert "| 64 | approximate |" in said
    assert abs(errors[16]["makespan"]) <= 0.05, errors


@pytest.mark.long
def test_one_command_projects_it(tmp_path: Path, mpi: marker_jobs.Mpi) -> None:
    words = ["--ranks", "4,8,16,32", "--held-out", "", "--nodes", "2..64", "--ranks-per-node", "2"]
    words += ["--network", "opa100-fat-tree", "--output", tmp_path / "mesh.yaml", "--directory", tmp_path]
    words += ["--recordings", tmp_path / "mesh.recordings", "--cores", "2", "--node-engine", "native"]
    done = pipeline.manynode("project", *words, "--", mpi.program("follows_data.c"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 64 nodes, 128 ranks" in done.stdout
    report = (tmp_path / "results" / "mesh" / "report.html").read_text()
    assert "a recorded run stands for the job" in report and "Skeleton: from jobs that were recorded" in report


@pytest.mark.long
def test_runs_stand_for_the_jobs_that_the_exact_skeleton_leaves_open(tmp_path: Path, mpi: marker_jobs.Mpi) -> None:
    words = [
        "--ranks",
        "4,8,12,16,24,32",
        "--held-out",
        "",
        "--nodes",
        "4,10,20",
        "--ranks-per-node",
        "4",
        "--write-only",
    ]
    words += ["--network", "opa100-fat-tree", "--output", tmp_path / "grid.yaml", "--directory", tmp_path]
    words += ["--recordings", tmp_path / "grid.recordings", "--node-engine", "native"]
    done = pipeline.manynode("project", *words, "--", mpi.program("own_grid.c"))
    assert done.returncode == 0 and "not projected" not in done.stdout, done.stdout + done.stderr
    content = yaml.safe_load(next(tmp_path.glob("*.skeleton.yaml")).read_text())
    assert content["body"] and content["approximate"]["only"] == [80]
    # A run of 40 ranks is small enough to be recorded as well.
    assert 40 in [one["ranks"] for one in content["recorded"]]
    assert "a recording of 80 would decide" in content["approximate"]["why"]
    said = next(tmp_path.glob("*.skeleton.md")).read_text()
    assert "distinct rules" in said and "stand for jobs of 80 ranks" in said and "| 80 | approximate |" in said
    experiments = [
        yaml.safe_load(path.read_text()) for path in tmp_path.glob("grid*.yaml") if "skeleton" not in path.name
    ]
    assert sorted(nodes for one in experiments for nodes in one["nodes"]) == [4, 10, 20]
