"""``manynode run A B C`` with real engines: a front page, one that fails, repeated and kept steps."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd
import pipeline
import pytest
from described_tables import described

pytestmark = pytest.mark.long

# The trials that choose the flow control are of the largest node count: a larger one repeats nothing only without them.
WITHOUT_TRIALS = ("--set", "simulate.replicas=2", "--set", "network.flow_control=none")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two experiments that run, and between them one whose points fail."""
    folder = tmp_path_factory.mktemp("several")
    wrong = {"replicas": 3, "time_limit": "1 us"}
    contents = [
        pipeline.tiny(techniques=["ext-var"], **changes)
        for changes in (
            {"name": "tree"},
            {"name": "wrong", "simulate": wrong},
            {"name": "torus", "network": "paper-torus"},
        )
    ]
    return [pipeline.write(folder, content, f"{content['name']}.yaml") for content in contents]


def run(files: list[Path], finished: Path, *options: object) -> subprocess.CompletedProcess[str]:
    directory = files[0].parent
    return pipeline.manynode(
        *("run", *files, "--cores", 2, "--directory", directory, "--measurements-from", finished.parent, *options)
    )


@pytest.fixture(scope="module")
def done(files: list[Path], finished: Path) -> subprocess.CompletedProcess[str]:
    """The run of all three."""
    return run(files, finished, "--set", "nodes=[1, 2]", *WITHOUT_TRIALS)


def test_the_others_are_finished_and_the_failure_is_named(
    files: list[Path], done: subprocess.CompletedProcess[str]
) -> None:
    assert done.returncode == 5 and "Traceback" not in done.stderr
    assert "1 of 3 experiments failed" in done.stderr and "experiment 'wrong'" in done.stderr
    results = files[0].parent / "results"
    for name in ("tree", "torus"):
        projection = pd.read_parquet(results / name / "projection.parquet")
        assert set(projection["nodes"]) == {1, 2} and set(projection["replicas"]) == {2}
        assert (results / name / "report.html").is_file()
    page = (results / "index.html").read_text()
    assert 'href="tree/report.html"' in page and "wrong: " in page and 'href="wrong/report.html"' not in page
    assert "overview/1" in described(results)
    frame = pd.read_parquet(results / "overview.parquet")
    assert list(dict.fromkeys(frame["experiment"])) == ["tree", "torus"] and len(frame) == 2 * 2
    (results / "index.html").unlink()
    again = pipeline.manynode("report", results)
    assert again.returncode == 0 and again.stdout.strip() == str(results / "index.html")
    assert 'href="tree/report.html"' in (results / "index.html").read_text()


@pytest.mark.usefixtures("done")
def test_a_further_node_count_repeats_nothing(files: list[Path], finished: Path) -> None:
    """A larger one; test_pipeline.py and test_flow_control_choice.py have one in between."""
    kept = [files[0], files[2]]
    points = [
        file.parent / "results" / file.stem / "simulate/ext-var" / f"nodes-{count}" / "result.json"
        for file in kept
        for count in (1, 2)
    ]
    before = {path: path.stat().st_mtime_ns for path in points}
    until = ("--until", "phase3_analyse_points")
    more = run(kept, finished, "--set", "nodes=[1, 2, 4]", *WITHOUT_TRIALS, *until)
    assert more.returncode == 0, more.stdout + more.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before
    frame = pd.read_parquet(files[0].parent / "results/overview.parquet")
    assert set(frame["nodes"]) == {1, 2, 4}


def test_the_shipped_experiments_can_be_checked_together() -> None:
    shipped = sorted((pipeline.ROOT / "configs/studies/scaling").glob("*.yaml"))
    assert len(shipped) == 5
    done = pipeline.manynode("run", *shipped, shipped[0], "--dry-run")
    assert done.returncode == 2 and "same name" in done.stderr
