"""Points of a study confirmed by another engine, as steps of the workflow: simgrid, and sst if installed.

``test_what_if_run.py`` confirms the front of a what-if study.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
from described_tables import described

from manynode import tables
from phase3_sst.point.contract import engines

pytestmark = pytest.mark.long

BANDWIDTH = {
    "keys": ["network.link.bandwidth", "network.host.nic_bandwidth"],
    "values": ["0.1 Gbit/s", "1 Gbit/s", "100 Gbit/s"],
}
LATENCY = {"keys": ["network.link.latency"], "values": ["40 ns", "2 us"]}


def needs(engine: str) -> None:
    probe = engines.get(engine)().probe()
    if not probe.available:
        pytest.skip(f"the engine {engine} is not installed ({probe.remedy})")


def experiment(folder: Path, parameters: dict[str, Any], **confirm: Any) -> Path:
    study = {"techniques": ["ext-var"], "parameters": parameters, "confirm": confirm}
    return pipeline.write(folder, pipeline.tiny(nodes=[4], techniques=["ext-var"], sensitivity=study))


@pytest.mark.parametrize("engine", ["simgrid", "sst"])
def test_the_corners_are_simulated_again_and_compared(engine: str, finished: Path, tmp_path: Path) -> None:
    needs(engine)
    file = experiment(tmp_path, {"bandwidth": BANDWIDTH, "latency": LATENCY}, engine=engine, replicas=2)
    done = pipeline.run(file, tmp_path, ["--measurements-from", finished])
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results/tiny"
    again = sorted((results / "confirm").glob("*/ext-var/nodes-4/result.json"))
    assert len(again) == 4
    assert tables.read_json(again[0], "network-result/2")["engine"]["name"] == engine
    assert {"confirmation/1", "sensitivity/1"} <= described(results)
    table = tables.read_table(results / "confirmation.parquet", "confirmation/1")
    assert len(table) == 4 and set(table["replicas"]) == {2}
    # The engines agree within the band of docs/validation/statistics.md on a network this small.
    assert table["ratio"].between(0.7, 1.4).all()
    slow = table[table["bandwidth, written"] == "0.1 Gbit/s"]
    fast = table[table["bandwidth, written"] == "100 Gbit/s"]
    assert slow["confirmed_s"].min() > 1.1 * fast["confirmed_s"].max()
    report = (results / "report.html").read_text()
    assert 'id="figure-confirmation"' in report and 'id="table-confirmation"' in report
    assert f"4 points of the engine fast were simulated again with {engine}" in report
    before = {path: path.stat().st_mtime_ns for path in again}
    done = pipeline.run(file, tmp_path, ["--measurements-from", finished])
    assert done.returncode == 0 and {path: path.stat().st_mtime_ns for path in again} == before


def test_an_engine_that_is_not_there_is_said_and_the_study_is_finished(finished: Path, tmp_path: Path) -> None:
    file = experiment(tmp_path, {"latency": LATENCY}, engine="sst")
    options = ["--measurements-from", finished, "--set", "simulate.sst.executable=/nowhere/sst"]
    done = pipeline.run(file, tmp_path, options)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results/tiny"
    assert not (results / "confirm").exists()
    assert "the engine sst is not installed here" in (results / "report.html").read_text()
    assert len(pd.read_parquet(results / "sensitivity.parquet")) == 2
