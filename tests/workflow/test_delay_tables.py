"""``manynode delay``: tables in, a model, estimates out; tables that are wrong are refused with their row."""

from __future__ import annotations

from pathlib import Path

import delay_cases
import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from manynode import tables
from manynode.errors import InputError, ManynodeError, UsageError
from phase3_sst.studies.congestion.delay import tables_in
from phase3_sst.studies.congestion.delay.delay_commands import app
from phase3_sst.studies.congestion.delay.delay_model_file import MODEL_SCHEMA, read_model
from phase3_sst.studies.congestion.delay.latency import LatencyModel, Snapshots
from phase3_sst.studies.congestion.delay.run_time_model import delivery_s

GRADIENT, COMPUTING_S = 500.0, 0.5e-3


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what somebody measured on the ring: stalls, round trips, runs of an application on 3 nodes."""
    folder = tmp_path_factory.mktemp("measured")
    stalls = delay_cases.stalls(20)
    stalls.to_csv(folder / "stalls.csv", index=False)
    delay_cases.round_trips(stalls, noise=0.02).to_csv(folder / "trips.csv", index=False)
    runs = pd.DataFrame({"run": [f"run-{number}" for number in range(20)], "application": "milc"})
    runs = runs.assign(nodes=[[number % 12, (number + 4) % 12, (number + 7) % 12] for number in range(20)])
    runs = runs.assign(start_s=0.0, end_s=4e-3)
    delays = delivery_s(LatencyModel("ring", delay_cases.TRUTH), Snapshots.of(delay_cases.RING, stalls), runs)
    # The stalls of a run hardly vary over time: an earlier end changes little.
    runs = runs.assign(end_s=np.minimum(COMPUTING_S + GRADIENT * delays, 4e-3))
    runs = runs.assign(nodes=[" ".join(map(str, row)) for row in runs["nodes"]])
    runs.to_csv(folder / "runs.csv", index=False)
    network = delay_cases.RING.model_dump(mode="json")["topology"]
    (folder / "ring.yaml").write_text(yaml.safe_dump({"name": "ring", "topology": network}))
    return folder


def manynode(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, ManynodeError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def fitted(measured: Path, folder: Path) -> Path:
    common = ("--network", measured / "ring.yaml", "--stalls", measured / "stalls.csv")
    trips, runs = measured / "trips.csv", measured / "runs.csv"
    manynode("fit", *common, "--round-trips", trips, "--runs", runs, "--output", folder / "model.json")
    return folder / "model.json"


def test_a_model_is_fitted_and_estimates(measured: Path, tmp_path: Path) -> None:
    path = fitted(measured, tmp_path)
    model = read_model(path)
    for term in ("base", "idle:dim0", "wait:dim0"):
        assert model.coefficients_s[term] == pytest.approx(delay_cases.TRUTH[term], rel=0.2)
    assert model.trained.error_p75 < 0.1
    line = model.sensitivities["milc"]
    assert line.varies and line.low < line.sensitivity < line.high and (line.correlation or 0) > 0.8
    common = ("--network", measured / "ring.yaml", "--stalls", measured / "stalls.csv", "--model", path)
    manynode("estimate", *common, "--round-trips", measured / "trips.csv", "--output", tmp_path / "trips.csv")
    trips = pd.read_csv(tmp_path / "trips.csv")
    real = pd.read_csv(measured / "trips.csv")["round_trip_s"]
    assert np.corrcoef(trips["estimated_s"], real)[0, 1] > 0.99
    manynode("estimate", *common, "--runs", measured / "runs.csv", "--output", tmp_path / "runs.parquet")
    runs = tables.read_table(tmp_path / "runs.parquet", "run-time-estimates/1", ["delivery_s", "estimated_s"])
    assert np.corrcoef(runs["estimated_s"], runs["end_s"])[0, 1] == pytest.approx(line.correlation)


def test_the_same_tables_give_the_same_bytes(measured: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    assert fitted(measured, tmp_path / "a").read_bytes() == fitted(measured, tmp_path / "b").read_bytes()


def test_a_model_of_another_network_is_refused(measured: Path, tmp_path: Path) -> None:
    path = fitted(measured, tmp_path)
    other = yaml.safe_load((measured / "ring.yaml").read_text())
    (tmp_path / "other.yaml").write_text(yaml.safe_dump({**other, "name": "other"}))
    common = ("--network", tmp_path / "other.yaml", "--stalls", measured / "stalls.csv", "--model", path)
    with pytest.raises(InputError, match="another network"):
        manynode("estimate", *common, "--round-trips", measured / "trips.csv", "--output", tmp_path / "out.csv")


def test_an_application_that_the_model_does_not_know_is_refused(measured: Path, tmp_path: Path) -> None:
    path = fitted(measured, tmp_path)
    runs = pd.read_csv(measured / "runs.csv").assign(application="amg")
    runs.to_csv(tmp_path / "runs.csv", index=False)
    common = ("--network", measured / "ring.yaml", "--stalls", measured / "stalls.csv", "--model", path)
    with pytest.raises(InputError, match="amg"):
        manynode("estimate", *common, "--runs", tmp_path / "runs.csv", "--output", tmp_path / "out.csv")
    with pytest.raises(UsageError, match="one of them"):
        manynode("estimate", *common, "--output", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_file_that_is_no_model_is_refused(measured: Path, tmp_path: Path) -> None:
    path = fitted(measured, tmp_path)
    content = tables.read_json(path, MODEL_SCHEMA)
    content["coefficients_s"]["base"] = "much"
    tables.write_json(path, content.pop("schema"), content)
    with pytest.raises(InputError, match="coefficients_s: base"):
        read_model(path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("stalled_share", 12.5, "row 3, column stalled_share"),
        ("stalled_share", "much", "a number"),
        ("end_s", 0.0, "a later time"),
        ("start_s", float("inf"), "a number"),
    ],
)
def test_wrong_stalls_are_refused(tmp_path: Path, column: str, value: object, message: str) -> None:
    table = delay_cases.stalls(1).head(10).astype({column: object})
    table.loc[2, column] = value
    table.to_csv(tmp_path / "stalls.csv", index=False)
    with pytest.raises(InputError, match=message):
        tables_in.read_stalls(tmp_path / "stalls.csv")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("target_node", 3, "a node other than source_node"),
        ("source_node", 1.5, "a whole number"),
        ("round_trip_s", 0, "a positive time"),
    ],
)
def test_wrong_round_trips_are_refused(tmp_path: Path, column: str, value: object, message: str) -> None:
    row = {"run": "r", "source_node": 3, "target_node": 5, "start_s": 0.0, "end_s": 1.0, "round_trip_s": 1e-6}
    pd.DataFrame([{**row, column: value}]).to_csv(tmp_path / "trips.csv", index=False)
    with pytest.raises(InputError, match=message):
        tables_in.read_round_trips(tmp_path / "trips.csv")


@pytest.mark.parametrize("nodes", ["3", "3 3", "a b", ""])
def test_nodes_that_are_no_nodes_are_refused(tmp_path: Path, nodes: str) -> None:
    row = {"run": "r", "application": "milc", "nodes": nodes, "start_s": 0.0, "end_s": 1.0}
    pd.DataFrame([row]).to_csv(tmp_path / "runs.csv", index=False)
    with pytest.raises(InputError, match="column nodes"):
        tables_in.read_runs(tmp_path / "runs.csv")


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    delay_cases.stalls(1).drop(columns="source").to_csv(tmp_path / "stalls.csv", index=False)
    with pytest.raises(InputError, match="no source"):
        tables_in.read_stalls(tmp_path / "stalls.csv")
    with pytest.raises(InputError, match="CSV or Parquet"):
        tables_in.read_stalls(tmp_path / "missing.csv")
