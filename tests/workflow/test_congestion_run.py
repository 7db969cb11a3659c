"""A congestion study from its file to its page, with real engines: killed, resumed, nothing finished repeated."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
from described_tables import described

from manynode import tables

pytestmark = pytest.mark.long


def study(folder: Path, **changes: Any) -> Path:
    pipeline.write(folder, pipeline.tiny(), "tiny.yaml")
    ring = {"name": "patterns", "parameters": {"pattern": "random-ring", "bytes": 65536, "iterations": 20}}
    content: dict[str, Any] = {
        **{"name": "trial", "title": "A trial", "network": pipeline.SMALL_DRAGONFLY, "seed": 3, "batch": 4},
        "workloads": {"hpcg": {"experiment": "tiny.yaml"}, "ring": {"application": ring}},
        "impact": {
            **{"nodes": 6, "rotations": 2},
            "congestor": {"pattern": "incast", "bytes": "64 KiB"},
            "intensity": {"nodes": [10], "repetitions": 2, "canary": {"iterations": 20}},
        },
    }
    return pipeline.write(folder, {**content, **changes}, "study.yaml")


def options(folder: Path, *more: object) -> list[object]:
    return ["congestion", folder / "study.yaml", "--output", folder / "out", "--cores", 2, *more]


def results(folder: Path) -> dict[Path, int]:
    """Return the finished situations and when they were written."""
    return {path: path.stat().st_mtime_ns for path in (folder / "out/situations").glob("*/result.json")}


@pytest.fixture(scope="module")
def killed_and_resumed(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A study that is killed when a few of its situations are finished, and run again to its end."""
    folder = tmp_path_factory.mktemp("congestion")
    study(folder)
    command = [sys.executable, "-m", "manynode", *map(str, options(folder, "--measurements-from", finished))]
    child = subprocess.Popen(
        command,
        cwd=pipeline.ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 600
    while len(results(folder)) < 3 and child.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    before = results(folder)
    assert child.poll() is None and before, "the study ended before it could be killed"
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=120)
    interrupted = results(folder)
    again = pipeline.manynode(*options(folder, "--measurements-from", finished))
    return {"folder": folder, "code": child.returncode, "said": said, "before": interrupted, "again": again}


def test_a_kill_says_that_finished_situations_are_kept(killed_and_resumed: dict[str, Any]) -> None:
    assert killed_and_resumed["code"] == 130
    assert "interrupted; finished situations are kept" in killed_and_resumed["said"]
    assert "Traceback" not in killed_and_resumed["said"]


def test_it_goes_on_and_repeats_nothing_that_was_finished(killed_and_resumed: dict[str, Any]) -> None:
    again, folder, before = (killed_and_resumed[key] for key in ("again", "folder", "before"))
    assert again.returncode == 0, again.stdout + again.stderr
    after = results(folder)
    # 2 applications in 4 settings and 2 rotations, and 2 times congestor and canary, and the canary alone.
    assert len(after) == 16 + 4 and 0 < len(before) < len(after)
    assert {path: after[path] for path in before} == before
    assert f"{len(after) - len(before)} situations in" in again.stdout


def test_the_tables_tell_of_every_run(killed_and_resumed: dict[str, Any]) -> None:
    out = killed_and_resumed["folder"] / "out"
    assert {"congestion-impact-runs/1", "congestion-impact-sensitivity/1"} <= described(out)
    runs = tables.read_table(out / "impact/runs.parquet", "congestion-impact-runs/1").set_index("application")
    assert len(runs) == 16 and (runs["time_s"] > 0).all()
    assert (runs.loc["hpcg", "mpi_share"] < 1).all(), "HPCG computes, with the times that were measured"
    assert (runs.loc["ring", "mpi_share"] == 1).all()
    congested = runs[runs["setting"].isin(["III", "IV"])]
    assert congested.loc["ring", "time_s"].max() >= runs.loc["ring", "time_s"].min()
    assert len(pd.read_csv(out / "impact/pressure.csv")) == 2
    page = (out / "congestion.html").read_text()
    assert 'id="figure-impact-times"' in page and "hpcg" in page and "src=" not in page.split("<script")[0]


def test_a_further_run_simulates_nothing_and_gives_the_same_bytes(killed_and_resumed: dict[str, Any]) -> None:
    folder = killed_and_resumed["folder"]
    page, before = (folder / "out/congestion.html").read_bytes(), results(folder)
    again = pipeline.manynode(*options(folder))
    assert again.returncode == 0, again.stdout + again.stderr
    assert results(folder) == before and "congestion_simulate_batch" not in again.stdout
    assert (folder / "out/congestion.html").read_bytes() == page


def test_an_estimate_simulates_no_situation(tmp_path: Path) -> None:
    study(tmp_path)
    done = pipeline.manynode(*options(tmp_path, "--estimate"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not measured yet: hpcg" in done.stdout and "impact: 20 situations, about" in done.stdout
    assert not (tmp_path / "out/situations").exists() and not (tmp_path / "out/workloads").exists()


def test_a_situation_that_fails_is_named_and_the_others_are_finished(tmp_path: Path) -> None:
    # A canary that is too slow for its limit, beside applications that are not.
    ring = {"application": {"name": "patterns", "parameters": {"pattern": "random-ring", "iterations": 2}}}
    canary = {"bytes": "4 MiB", "iterations": 1_000_000}
    impact = {
        **{"nodes": 4, "rotations": 1, "congestor": {"pattern": "shift"}},
        "intensity": {"nodes": [10], "repetitions": 1, "canary": canary},
    }
    study(tmp_path, workloads={"ring": ring}, impact=impact, simulate={"time_limit": "3 s"})
    done = pipeline.manynode(*options(tmp_path))
    assert done.returncode == 5 and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert "2 of 6 situations failed" in done.stderr and "impact-congestor-10-0-0" in done.stderr
    assert len(tables.read_table(tmp_path / "out/impact/runs.parquet", "congestion-impact-runs/1")) == 4
    assert "Situations that failed" in (tmp_path / "out/congestion.html").read_text()
