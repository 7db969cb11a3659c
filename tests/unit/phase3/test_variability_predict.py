"""A run of the user's own: the model as a file, its prediction or refusal, the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result
from variability_cases import MEANS_S, runs

from manynode import tables
from manynode.errors import InputError, UsageError
from phase3_sst.studies.congestion.counters.counter_table import COLUMNS, Counters
from phase3_sst.studies.congestion.counters.counter_table import write as write_counters
from phase3_sst.studies.congestion.variability import variability_model_file
from phase3_sst.studies.congestion.variability.model import Model, groups_of, standardised
from phase3_sst.studies.congestion.variability.predict import Prediction, predict, routers_of, words
from phase3_sst.studies.congestion.variability.train import Hyperparameters, Options, learn
from phase3_sst.studies.congestion.variability.variability_commands import app

RUNS = runs(each=50)


@pytest.fixture(scope="module")
def model() -> Model:
    """A small model of two applications."""
    groups = groups_of(RUNS)
    about = {"runs": len(RUNS), "runs_from": "test"}
    return Model(learn(RUNS, standardised(RUNS, groups), Options(trees=12), Hyperparameters(10.0, 0.1)), groups, about)


def counters(ratio: float = 0.5) -> Counters:
    """Two routers with two network ports and a host each; ``ratio`` of stalls to flits."""
    rows = []
    for router, host in (("r0", "host-0"), ("r1", "host-1")):
        for port in ("n0", "n1"):
            rows.append((router, port, "network", "in", "local", "", 100.0, 100.0 * ratio))
        rows.append((router, "h", "host", "in", "host-up", host, 1e9, 0.0))
    names = ["router", "port", "port_class", "direction", "link_class", "peer", "flits", "stalls"]
    table = pd.DataFrame(rows, columns=names).assign(start_s=0.0, end_s=1.0, stalled_pct=0.0)
    return Counters(table.reindex(columns=list(COLUMNS)), [], {"nid1": "r1"})


def test_a_model_predicts_the_same_after_it_was_written_and_read(model: Model, tmp_path: Path) -> None:
    variability_model_file.write(tmp_path / "model.json", model)
    again = variability_model_file.read(tmp_path / "model.json")
    one, two = model.learned.estimates(RUNS), again.learned.estimates(RUNS)
    np.testing.assert_array_equal(one.estimate, two.estimate)
    np.testing.assert_array_equal(one.bound, two.bound)
    assert again.groups == model.groups and again.about == model.about


def test_the_same_model_gives_the_same_bytes(model: Model, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        variability_model_file.write(tmp_path / name, model)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_a_changed_number_is_damage(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    variability_model_file.write(path, model)
    content = json.loads(path.read_text())
    content["intercept"] += 1e-9
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="damaged or changed"):
        variability_model_file.read(path)


@pytest.mark.parametrize(
    ("text", "words_"),
    [
        ('{"schema": "timing-profile/1"}', "variability-model/1"),
        ("{", "not valid JSON"),
        ("\x80\x04\x95 pickle", "not valid JSON"),
    ],
)
def test_a_foreign_file_is_refused_by_name(tmp_path: Path, text: str, words_: str) -> None:
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(InputError, match=words_):
        variability_model_file.read(tmp_path / "model.json")


def damaged(model: Model, path: Path, key: str, value: object) -> None:
    """Write a model with one key replaced and a matching checksum, as an attacker would."""
    variability_model_file.write(path, model)
    content = tables.read_json(path, variability_model_file.SCHEMA)
    tables.write_json(path, content.pop("schema"), {**content, key: value})


@pytest.mark.parametrize(
    ("key", "value", "words_"),
    [
        ("features", ["shoe_size"], "shoe_size"),
        ("scale", "1 1 1 1 1 1 0", "scale"),
        ("dual", "1.0", "dual"),
        ("trees", [{"left": "0", "right": "0", "feature": "0", "threshold": "0", "value": "0"}], "tree"),
        ("trees", [], "trees"),
        ("trees", [{"left": "-1", "right": "-1", "feature": "9", "threshold": "0", "value": "0"}], "feature"),
        ("centre", "nan 0 0 0 0 0 0", "centre"),
    ],
)
def test_content_that_does_not_fit_together_is_refused(
    model: Model, tmp_path: Path, key: str, value: object, words_: str
) -> None:
    damaged(model, tmp_path / "model.json", key, value)
    with pytest.raises(InputError, match=words_):
        variability_model_file.read(tmp_path / "model.json")


def test_the_routers_of_nodes_are_found_by_peer_and_by_name() -> None:
    assert routers_of(counters(), ["host-0", "nid1"], []) == ["r0", "r1"]
    assert routers_of(counters(), ["0"], []) == ["r0"]
    assert routers_of(counters(), [], []) == ["r0", "r1"]
    with pytest.raises(UsageError, match="did you mean 'host-1'"):
        routers_of(counters(), ["hosst-1"], [])
    with pytest.raises(UsageError, match="r9"):
        routers_of(counters(), [], ["r9"])


def asked(model: Model, application: str | None = None, run_time_s: float | None = None) -> Prediction:
    """The prediction for a run with the counters above."""
    routers = ["r0", "r1"]
    return predict(model, counters(), routers=routers, nodes=16, application=application, run_time_s=run_time_s)


def test_seconds_are_given_for_an_application_that_is_known(model: Model) -> None:
    found = asked(model, application="a", run_time_s=11.0)
    assert found.group is not None and found.group.mean_s == pytest.approx(MEANS_S["a"] * 1.1, rel=0.05)
    lines = words(found, model)
    assert any(line.startswith("a on 16 nodes usually takes 1") for line in lines)
    assert any(line.startswith("the run took 11 s: ") for line in lines)


def test_a_size_that_was_not_learned_gives_no_seconds(model: Model) -> None:
    found = predict(model, counters(), routers=["r0"], nodes=8, application="a")
    assert "no seconds: the model has no runs of a on 8 nodes" in words(found, model)


def test_an_application_that_is_not_known_is_named(model: Model) -> None:
    with pytest.raises(UsageError, match="not trained on this application"):
        asked(model, application="aa")


def test_what_lies_beyond_the_training_runs_is_told(model: Model) -> None:
    found = predict(model, counters(ratio=1e9), routers=["r0", "r1"], nodes=16)
    assert any(what.startswith("network_stalls_mean is 1e+11, of the") for what in found.unlike_training)


def test_a_refusal_says_what_each_model_says(model: Model) -> None:
    sure = replace(model, learned=replace(model.learned, factor=0.01))  # bounds so narrow that none agree
    found = predict(sure, counters(), routers=["r0", "r1"], nodes=16)
    assert found.refused is not None
    assert words(found, model)[0].startswith(
        "no prediction: the two models disagree: the support vector regression says"
    )


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.long
def test_train_and_predict_on_the_command_line(tmp_path: Path) -> None:
    RUNS.to_csv(tmp_path / "runs.csv", index=False)
    model = tmp_path / "model.json"
    done = invoke("train", tmp_path / "runs.csv", "--output", model, "--trees", 10, "--tables", tmp_path / "tables")
    assert done.exit_code == 0, done.output
    assert "10-fold R2 is 0.9" in done.output
    assert (tmp_path / "tables" / "unseen.parquet").is_file()
    about = json.loads(model.read_text())["about"]
    assert about["runs"] == 100 and about["validation"]["r2"] > 0.9 and len(about["runs_sha256"]) == 64
    write_counters(tmp_path / "counters.parquet", counters())
    said = invoke("predict", model, tmp_path / "counters.parquet", "--nodes", "0,1", "--node-count", 16)
    assert said.exit_code in (0, 6)
    first = "variability estimate: " if said.exit_code == 0 else "no prediction: "
    assert said.output.startswith(first)


def test_a_run_without_nodes_is_a_usage_error(model: Model, tmp_path: Path) -> None:
    variability_model_file.write(tmp_path / "model.json", model)
    write_counters(tmp_path / "counters.parquet", counters())
    said = invoke("predict", tmp_path / "model.json", tmp_path / "counters.parquet")
    assert isinstance(said.exception, UsageError) and "--node-count" in str(said.exception)


def test_too_few_runs_are_a_named_error_on_the_command_line(tmp_path: Path) -> None:
    runs(each=15).to_csv(tmp_path / "runs.csv", index=False)
    done = invoke("train", tmp_path / "runs.csv", "--output", tmp_path / "model.json")
    assert isinstance(done.exception, InputError) and "too few runs" in str(done.exception)
    assert not (tmp_path / "model.json").exists()


def test_a_run_is_judged_by_the_files_of_ldms(model: Model, tmp_path: Path) -> None:
    variability_model_file.write(tmp_path / "model.json", model)
    names = ["AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0", "AR_RTR_0_0_INQ_PRF_ROWBUS_STALL_CNT"]
    names += ["AR_RTR_PT_5_0_INQ_PRF_INCOMING_FLIT_VC0"]
    lines = ["#Time,Time_usec,ProducerName,aries_rtr_id," + ",".join(names)]
    for second in range(3):
        for router, node in (("c0-0c0s0a0", "nid1"), ("c0-0c0s1a0", "nid5")):
            counts = (second * 1000, second * 500, second * 10**9)
            lines.append(f"{second}.000000,0,{node},{router},{','.join(map(str, counts))}")
    (tmp_path / "rtr").write_text("\n".join(lines) + "\n")
    said = invoke(
        *("predict", tmp_path / "model.json", tmp_path / "rtr", "--nodes", "nid1", "--application", "a"),
        *("--node-count", 16, "--run-time", "11 s", "--start", 1, "--end", 2),
    )
    assert said.exit_code == 0, said.output
    assert "variability estimate: " in said.output and "the run took 11 s" in said.output
    unknown = invoke("predict", tmp_path / "model.json", tmp_path / "rtr", "--nodes", "nid7", "--node-count", 16)
    assert isinstance(unknown.exception, UsageError) and "nid7" in str(unknown.exception)
