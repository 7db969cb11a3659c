"""Costs before they are paid, and signs of life while they are: `manynode run` with its output in a file."""

from __future__ import annotations

import re
from pathlib import Path

import pipeline
import pytest

from manynode.heartbeat import INTERVAL

OFTEN = {INTERVAL: "0.5"}


def run(experiment: Path, folder: Path, *options: object) -> str:
    done = pipeline.manynode("run", experiment, "--cores", 2, "--directory", folder, *options, env=OFTEN)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_measured_runs_are_announced_before_the_first_and_live_while_they_run(tmp_path: Path) -> None:
    profile = {"source": "callgrind", "nodes": [2], "repetitions": 1}
    engine = {"engine": "valgrind", "nodes": 2}
    experiment = pipeline.write(tmp_path, pipeline.tiny(profile=profile, nodesim=engine))
    dry = run(experiment, tmp_path, "--dry-run")
    kept = tmp_path / "results/tiny/logs/native-trial.json"
    assert "50 to 100 times  not known" in dry and not kept.exists()

    text = run(experiment, tmp_path, "--until", "phase1_classify_ranks")
    row = re.search(r"^  phase 1, profile of 2 nodes +1 +2 ranks +callgrind +50 to 100 times +(.*\d+ \w+)$", text, re.M)
    assert row and "phase 2" not in text
    step = "phase1_profile_ranks (nodes=2, repetition=0): "
    started, lives = text.index(f"{step}callgrind, 2 ranks, typically"), text.index(f"{step}running for")
    assert row.end() < started < lives < text.index("1 of ")
    log = (tmp_path / "results/tiny/logs/phase1_profile_ranks/nodes-2-rep-0.log").read_text()
    assert log.startswith("manynode profile run: started\n")
    assert re.search(r"^callgrind, 2 ranks, .* slower than native, .*\d+ \w+$", log, re.M)
    assert re.search(r"^manynode profile run: running for .*( left|longer than the estimate \(.*\))$", log, re.M)

    # Phase 1 is done: not announced as coming. The native run is not repeated.
    before = kept.stat().st_mtime_ns
    again = run(experiment, tmp_path, "--dry-run")
    assert "phase 1" not in again and re.search(
        r"^  phase 2, a node alone +1 +1 rank +valgrind .*\d+ \w+$", again, re.M
    )
    assert kept.stat().st_mtime_ns == before


@pytest.mark.long
def test_measurements_that_are_taken_over_are_not_announced(finished: Path, tmp_path: Path) -> None:
    experiment = pipeline.write(tmp_path, pipeline.tiny())
    taken = ["--measurements-from", finished]
    dry = run(experiment, tmp_path, *taken, "--dry-run")
    text = run(experiment, tmp_path, *taken, "--until", "phase2_fit_profile")
    assert "phase1_classify_ranks" in text and not re.search("measured runs|announced", dry + text)
    assert not (tmp_path / "results/tiny/logs/native-trial.json").exists()
