"""Points of a study confirmed by another engine, as steps of the workflow: simgrid, and sst if installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
from described_tables import described

from manynode import tables
from phase3_sst.point.contract import engines

BANDWIDTH = {
    "keys": ["network.link.bandwidth", "network.host.nic_bandwidth"],
    "values": ["0.1 Gbit/s", "1 Gbit/s", "100 Gbit/s"],
}
LATENCY = {"keys": ["network.link.latency"], "values": ["40 ns", "200 ns", "2 us"]}


def needs(engine: str) -> None:
    probe = engines.get(engine)().probe()
    if not probe.available:
        pytest.skip(f"the engine {engine} is not installed ({probe.remedy})")


def experiment(folder: Path, **confirm: Any) -> Path:
    parameters = {"bandwidth": BANDWIDTH, "latency": LATENCY}
    study = {"techniques": ["ext-var"], "parameters": parameters, "confirm": confirm}
    return pipeline.write(folder, pipeline.tiny(nodes=[4], techniques=["ext-var"], sensitivity=study))


@pytest.mark.parametrize("engine", ["simgrid", "sst"])
def test_the_corners_are_simulated_again_and_compared(engine: str, finished: Path, tmp_path: Path) -> None:
    needs(engine)
    file = experiment(tmp_path, engine=engine, replicas=2)
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
    file = experiment(tmp_path, engine="sst")
    options = ["--measurements-from", finished, "--set", "simulate.sst.executable=/nowhere/sst"]
    done = pipeline.run(file, tmp_path, options)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results/tiny"
    assert not (results / "confirm").exists()
    assert "the engine sst is not installed here" in (results / "report.html").read_text()
    assert len(pd.read_parquet(results / "sensitivity.parquet")) == 9


def test_the_front_of_a_what_if_study_is_simulated_again(finished: Path, tmp_path: Path) -> None:
    needs("simgrid")
    pipeline.write(tmp_path, pipeline.tiny(), "tiny.yaml")
    slow = {"network.link.bandwidth": "0.1 Gbit/s", "network.host.nic_bandwidth": "0.1 Gbit/s"}
    content = {
        "name": "trial",
        "experiment": "tiny.yaml",
        "prices": "example",
        "ideal": False,
        "confirm": {"engine": "simgrid", "replicas": 2},
        "alternatives": {
            "tree": {"nodes": 4},
            "torus": {"nodes": 4, "set": {"network": "paper-torus"}},
            "slow tree": {"nodes": 4, "set": slow},
        },
    }
    study = pipeline.write(tmp_path, content, "study.yaml")
    options = ("--output", tmp_path / "out", "--cores", 2, "--measurements-from", finished)
    done = pipeline.manynode("what-if", study, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    table = tables.read_table(tmp_path / "out/alternatives.parquet", "what-if/1")
    expected = set(table.loc[table["front"] | table["maybe_front"], "name"])
    assert {"confirmation/1", "what-if/1"} <= described(tmp_path / "out")
    again = tables.read_table(tmp_path / "out/confirmation.parquet", "confirmation/1")
    assert set(again["variant"]) == expected and "slow tree" not in expected
    assert set(again["nodes"]) == {4} and again["ratio"].between(0.7, 1.4).all()
    page = (tmp_path / "out/what-if.html").read_text()
    assert 'id="table-confirmation"' in page and "again with simgrid" in page
    # Without the section nothing of it is left.
    del content["confirm"]
    done = pipeline.manynode("what-if", pipeline.write(tmp_path, content, "study.yaml"), *options)
    assert done.returncode == 0 and not (tmp_path / "out/confirmation.parquet").exists()
    assert 'id="table-confirmation"' not in (tmp_path / "out/what-if.html").read_text()
