"""A sensitivity study with real engines: killed and resumed, a point that fails, the report."""

from __future__ import annotations

import os
import re
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

pytestmark = pytest.mark.long

LATENCY = {"keys": ["network.link.latency"], "values": [f"{value} ns" for value in range(40, 160, 40)]}
BANDWIDTH = {
    "keys": ["network.link.bandwidth", "network.host.nic_bandwidth"],
    "values": ["0.1 Gbit/s", "1 Gbit/s", "10 Gbit/s", "100 Gbit/s"],
}
# Where the report is not looked at; test_slow_parts.py looks at that of such a study.
ANALYSED = ("--until", "phase3_analyse_sensitivity")


def experiment(folder: Path, changes: dict[str, Any] | None = None, **section: Any) -> Path:
    section.setdefault("techniques", ["ext-var"])
    one = {"nodes": [4], "techniques": ["ext-var"], "sensitivity": section}
    return pipeline.write(folder, pipeline.tiny(**one | (changes or {})))


def results_of(folder: Path) -> dict[Path, int]:
    """Return the finished points with the time at which each was written."""
    points = (folder / "results/tiny/sensitivity").glob("*/*/*/result.json")
    return {path: path.stat().st_mtime_ns for path in points}


def test_a_study_of_twelve_points_that_is_killed_loses_no_finished_point(finished: Path, tmp_path: Path) -> None:
    file = experiment(tmp_path, parameters={"latency": LATENCY, "bandwidth": BANDWIDTH})
    command = [sys.executable, "-m", "manynode", "run", str(file), "--cores", "2", "--directory", str(tmp_path)]
    first = subprocess.Popen(
        [*command, "--measurements-from", str(finished)],
        cwd=pipeline.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 300
    while len(results_of(tmp_path)) < 5 and time.monotonic() < until and first.poll() is None:
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGTERM)
    first.wait(60)
    for path in re.findall(r"^(\d+)$", _children(tmp_path), re.M):
        os.kill(int(path), signal.SIGKILL)
    kept = results_of(tmp_path)
    assert 5 <= len(kept) < 12
    done = pipeline.run(file, tmp_path, ["--measurements-from", finished, *ANALYSED])
    assert done.returncode == 0, done.stdout + done.stderr
    after = results_of(tmp_path)
    assert len(after) == 12
    # Snakemake repeats the files that were being written at the kill: at most one point for each core.
    assert sum(after[path] != written for path, written in kept.items()) <= 2
    points = pd.read_parquet(tmp_path / "results/tiny/sensitivity.parquet")
    assert len(points) == 12 and not points["variant"].duplicated().any()
    slow = points.groupby("bandwidth")["time_s"].mean()
    assert slow.is_monotonic_decreasing and slow.iloc[0] > 1.2 * slow.iloc[-1]


def _children(folder: Path) -> str:
    """Return the processes that still work on the folder."""
    return subprocess.run(["pgrep", "-f", str(folder)], capture_output=True, text=True, check=False).stdout


def limited(build: Path, folder: Path) -> Path:
    """Return the native build with an engine that may have 6 GiB of address space."""
    (folder / "bin").mkdir(parents=True)
    for path in [*(build / "bin").iterdir(), build / "lib"]:
        (folder / path.relative_to(build)).symlink_to(path)
    engine, space = folder / "bin/manynode-fast", 6 * 2**30
    engine.unlink()
    engine.write_text(f'#!/bin/sh\nexec prlimit --as={space}:{space} {build}/bin/manynode-fast "$@"\n')
    engine.chmod(0o755)
    return folder


def test_a_point_that_fails_is_named_and_the_others_are_finished(
    finished: Path, tmp_path: Path, build_dir: Path
) -> None:
    machine = {
        "simulate": {"replicas": 3, "preflight": {"enabled": False}},
        "network": {"name": "ring", "topology": {"kind": "torus", "shape": [4], "hosts_per_switch": 1}},
    }
    hosts = {"keys": ["network.topology.hosts_per_switch"], "values": [1, 200_000_000]}
    file = experiment(tmp_path, machine, parameters={"hosts": hosts})
    # The largest machine needs more memory than there is, which no check knows before.
    # A folder of results, as the shipped studies take over each other's.
    words = ("run", file, "--cores", 2, "--directory", tmp_path, "--measurements-from", finished.parent)
    limit = {"MANYNODE_BUILD_DIR": str(limited(build_dir, tmp_path / "limited"))}
    done = pipeline.manynode(*words, env=limit)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "hosts=200000000" in done.stderr and "not enough memory" in done.stderr and "Traceback" not in done.stderr
    assert len(results_of(tmp_path)) == 1
    assert (tmp_path / "results/tiny/projection.parquet").is_file()
    file = experiment(tmp_path, machine, parameters={"hosts": {**hosts, "values": [1, 2]}})
    done = pipeline.run(file, tmp_path, ["--measurements-from", finished, *ANALYSED])
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(pd.read_parquet(tmp_path / "results/tiny/sensitivity.parquet")) == 2


def test_a_point_that_cannot_be_simulated_is_refused_before_the_first_step(finished: Path, tmp_path: Path) -> None:
    algorithms = {"keys": ["simulate.collectives.allreduce"], "values": ["no-such", "ring"]}
    file = experiment(tmp_path, parameters={"allreduce": algorithms})
    done = pipeline.run(file, tmp_path, ["--measurements-from", finished])
    assert done.returncode == 2 and "no-such" in done.stderr and results_of(tmp_path) == {}, done.stderr


@pytest.fixture(scope="module")
def sobol(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sobol")
    parameters = {
        "bandwidth": {"keys": BANDWIDTH["keys"], "low": "0.1 Gbit/s", "high": "10 Gbit/s"},
        "latency": {"keys": LATENCY["keys"], "low": "40 ns", "high": "1 us"},
    }
    file = experiment(folder, plan="sobol", samples=2, parameters=parameters)
    done = pipeline.run(file, folder, ["--measurements-from", finished])
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results/tiny"


def test_sobol_indices_say_what_matters(sobol: Path) -> None:
    assert {"sensitivity/1", "sensitivity-knees/1", "sensitivity-indices/1"} <= described(sobol)
    indices = pd.read_parquet(sobol / "sensitivity_indices.parquet").set_index("parameter")
    assert indices.loc["bandwidth", "total"] > 0.5 > indices.loc["latency", "total"]
    report = (sobol / "report.html").read_text()
    assert 'id="figure-sensitivity-indices"' in report and "Total Sobol indices: bandwidth" in report
