"""A program whose arguments state the whole problem: its compute times are those of each number of nodes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pipeline
import pytest
import yaml
from described_tables import described

from manynode.process import run
from manynode.timing_profile import read_timing_profile

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "divided_problem.c"

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="MPICH is not installed"),
]


def times(folder: Path) -> dict[int, float]:
    """Return the computing time of a rank [s] by nodes, from the profiles of points or of measured jobs."""
    found = {}
    for path in folder.rglob("timing-profile*.json"):
        nodes = next(part for part in path.relative_to(folder).parts if part.startswith("nodes"))
        phases = read_timing_profile(path).classes[0].phases
        found[int(nodes.replace("=", "-").split("-")[1])] = sum(phase.count * phase.mean_s for phase in phases)
    return found


def test_it_is_measured_in_jobs_of_several_sizes(tmp_path: Path) -> None:
    (tmp_path / "problem.in").write_text("512\n")
    run(["mpicc.mpich", "-g", "-O1", "-o", tmp_path / "divided", SOURCE], what="compiling the program")
    options = ["--nodes", "2,4,32,64", "--ranks-per-node", "1", "--ranks", "2,4,8,16", "--held-out", "32"]
    words = ["project", *options, "--network", "opa100-fat-tree", "--", "./divided", "problem.in"]
    done = pipeline.manynode(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "strong scaling: a rank has less to do in larger jobs" in done.stdout
    study = yaml.safe_load((tmp_path / "divided-strong.yaml").read_text())
    assert (study["measured"], study["held_out"], study["nodes"]) == ([2, 16, 64], 32, [2, 4, 32, 64])

    results = tmp_path / "results" / "divided-strong"
    assert {"strong/1", "strong-interpolation/1"} <= described(results)
    table = pd.read_parquet(results / "strong.parquet").set_index("nodes")
    assert table["interpolated"].tolist() == [False, True, True, False] and not table["extrapolated"].any()
    assert table["time_s"].is_monotonic_decreasing
    projected, measured = times(results / "points"), times(results / "measured")
    assert projected[2] == pytest.approx(measured[2]) and projected[64] == pytest.approx(measured[64])
    # Nobody measured 4 nodes; 32 nodes were held out.
    assert projected[32] == pytest.approx(measured[32], rel=0.1)
    assert projected[4] == pytest.approx(measured[2] / 2, rel=0.1)
    assert "At the held-out size the computation is off by" in done.stdout

    again = pipeline.manynode(*words, cwd=tmp_path)
    assert again.returncode == 0 and "as derived before" in again.stdout and "4 of them finished" in again.stdout
    (tmp_path / "divided-strong.yaml").write_text("name: mine\n")
    edited = pipeline.manynode(*words, cwd=tmp_path)
    assert edited.returncode != 0 and "divided-strong.yaml" in edited.stderr and "not overwritten" in edited.stderr
