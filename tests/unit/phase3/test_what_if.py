"""Alternatives -> Pareto front, paired probabilities, sentences; the study's file and its refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from phase3_cases import ROOT

from manynode import tables
from manynode.config.loader import load_experiment
from manynode.config.prices import Prices
from manynode.errors import ManynodeError
from manynode.snakemake_run import StepFailedError
from phase3_sst.analysis import paired_difference
from phase3_sst.campaign.experiments import ExperimentRunner
from phase3_sst.studies.what_if import decide, what_if_sentences
from phase3_sst.studies.what_if.alternatives import cases
from phase3_sst.studies.what_if.what_if_file import read_study

PRICES = Prices.model_validate(yaml.safe_load((ROOT / "configs/prices/example.yaml").read_text()))


def outcome(name: str, times: list[float], cost: float, watts: float = 1000.0) -> decide.Outcome:
    bill = pd.DataFrame({"item": ["nodes"], "count": [1], "price": [cost], "cost": [cost], "power_w": [watts]})
    return decide.Outcome(name, 4, 8, dict(enumerate(times)), None, bill)


def table_of(*outcomes: decide.Outcome) -> pd.DataFrame:
    pairs = decide.pairs(outcomes, 0.9, 1, relevant=0.01)
    how = {"within": 0.05, "confidence": 0.9, "seed": 1, "relevant": 0.01}
    return decide.alternatives(outcomes, PRICES, pairs, **how).set_index("name", drop=False)


FAST = outcome("fast", [1.0, 1.02, 0.98], 300.0)
CHEAP = outcome("cheap", [2.0, 2.02, 1.98], 100.0)
WORSE = outcome("worse", [2.5, 2.52, 2.48], 200.0)
NEARLY = outcome("nearly", [1.03, 1.05, 1.01], 250.0)


def test_energy_is_power_times_time_with_the_buildings_overhead() -> None:
    row = table_of(FAST, CHEAP).loc["cheap"]
    assert row["energy_kwh"] == pytest.approx(1000 * 2 / 3.6e6 * 1.3)
    assert row["energy_cost"] == pytest.approx(row["energy_kwh"] * 0.25)


def test_the_front_has_what_no_other_beats_in_both() -> None:
    table = table_of(FAST, CHEAP, WORSE, NEARLY)
    assert list(table["front"]) == [True, True, False, True]
    assert list(table["near"]) == [True, False, False, True]
    assert decide.pareto([1.0, 1.0, 2.0], [5.0, 5.0, 5.0]) == [True, True, False]


def test_what_the_intervals_do_not_tell_apart_may_be_on_the_front() -> None:
    wide = outcome("wide", [0.9, 1.5, 0.8, 1.2], 100.0)
    table = table_of(wide, outcome("close", [1.6, 1.0, 0.9, 1.3], 150.0), outcome("far", [9.0, 9.1, 9.2, 9.0], 150.0))
    assert list(table["front"]) == [True, False, False]
    assert list(table["maybe_front"]) == [True, True, False]
    # The same draws, each 0.1 s more.
    assert list(table_of(wide, outcome("later", [1.0, 1.6, 0.9, 1.3], 150.0))["maybe_front"]) == [True, False]


def test_common_draws_settle_an_order_that_means_alone_would_not() -> None:
    noise = np.random.default_rng(1).normal(10, 1, 12)
    one, other = outcome("one", list(noise), 1.0), outcome("other", list(noise + 0.1), 1.0)
    row = decide.pairs([one, other], 0.95, 1, relevant=0.005).iloc[0]
    assert (row["first"], row["second"], row["settled"], row["more"]) == ("one", "other", True, 0)
    assert row["difference_s"] == pytest.approx(0.1) and row["probability"] == pytest.approx(13 / 14)
    shuffled = outcome("other", list(np.roll(noise + 0.1, 5)), 1.0)
    assert not decide.pairs([one, shuffled], 0.95, 1, relevant=0.005).iloc[0]["settled"]


def test_the_further_replicas_are_enough_on_average() -> None:
    """Gaps of mean 1 and deviation 4: the normal form wants 62; it is asked with the first 10."""
    rng = np.random.default_rng(3)
    asked = [paired_difference.further_replicas(rng.normal(1, 4, 10), 0.95) for _ in range(400)]
    exact = paired_difference.further_replicas(np.tile([-3.0, 5.0], 50), 0.95)
    assert exact == 1  # (1.96 * 4.02)^2 = 62 is less than the 100 present ones
    assert paired_difference.further_replicas(np.tile([-3.0, 5.0], 5), 0.95) == pytest.approx(68.3 - 10, abs=1)
    assert 20 < np.median([n for n in asked if n < 1e6]) < 120
    assert math.isnan(paired_difference.further_replicas(np.array([1.0]), 0.95))


def test_few_replicas_never_make_sure() -> None:
    assert paired_difference.probability(np.array([1.0, 2.0, 3.0])) == 0.8
    assert paired_difference.probability(np.array([0.0, 0.0])) == 0.5


def test_the_answer_names_the_cheapest_near_the_best() -> None:
    outcomes = [FAST, CHEAP, WORSE, NEARLY]
    table = table_of(*outcomes).reset_index(drop=True)
    said = what_if_sentences.sentences(table, decide.pairs(outcomes, 0.9, 1, relevant=0.01), 0.05, PRICES, 0.01)
    assert said[0].startswith("The cheapest alternative within 5.0 % of the best time is nearly: 1.03 s for 250 EUR")
    assert "Not beaten in both time and cost: cheap (2 s, 100 EUR)" in said[1]
    assert "their chance cancels" in said[-1] and "the intervals do not cover it" in said[-1]


def test_a_settled_difference_that_does_not_matter_is_said_to_be_none() -> None:
    """1.6 us of 22 ms for twice the price: settled by the draws, and no reason to pay."""
    noise = np.random.default_rng(1).normal(22e-3, 1e-3, 12)
    dear, cheap = outcome("dear", list(noise), 200.0), outcome("cheap", list(noise + 1.6e-6), 100.0)
    pairs = decide.pairs([dear, cheap], 0.95, 1, relevant=0.01, models={("dear", "cheap"): 0.04})
    row = pairs.iloc[0]
    assert row["settled"] and row["verdict"] == "irrelevant" and row["more"] == 0
    assert row["words"] == "no difference that matters (less than 1.0 %)"
    assert decide.pairs([dear, cheap], 0.95, 1, relevant=0.0).iloc[0]["verdict"] == "matters", "the key decides"
    table = table_of(dear, cheap).reset_index(drop=True)
    assert list(table["front"]) == [False, True] and list(table["maybe_front"]) == [False, True]
    said = what_if_sentences.sentences(table, pairs, 0.05, PRICES, 0.01)
    assert "no difference that matters" in said[0] and "0 differ by more than 1.0 %" in " ".join(said)


def test_a_difference_is_set_beside_the_paired_error_of_the_models() -> None:
    one, other = outcome("one", [1.0, 1.01, 0.99], 1.0), outcome("other", [1.03, 1.04, 1.02], 1.0)
    for models, words in ((0.05, "within the models' paired error of 5.0 %"), (0.02, "settled"), (None, "settled")):
        pairs = decide.pairs([one, other], 0.95, 1, relevant=0.01, models={("one", "other"): models})
        assert pairs.iloc[0]["verdict"] == "matters" and pairs.iloc[0]["words"].endswith(words)
        said = " ".join(what_if_sentences.sentences(table_of(one, other), pairs, 0.05, PRICES, 0.01))
        assert ("may err by more than the difference between one and other" in said) == (models == 0.05)
        assert ("paired error is not known" in said) == (models is None)


def test_replicas_that_do_not_settle_an_order_leave_it_open() -> None:
    wide, other = outcome("wide", [0.9, 1.5, 0.8, 1.2], 1.0), outcome("other", [1.2, 1.1, 1.3, 1.0], 1.0)
    row = decide.pairs([wide, other], 0.95, 1, relevant=0.01).iloc[0]
    assert row["verdict"] == "open" and row["more"] > 0 and row["words"].startswith("not settled: about")
    single = [outcome("a", [1.0], 1.0), outcome("b", [2.0], 1.0)]
    assert decide.pairs(single, 0.95, 1, relevant=0.01).iloc[0]["verdict"] == "open"
    assert decide.pairs(single, 0.95, 1, relevant=0.01, drawn=False).iloc[0]["verdict"] == "matters"


def test_the_least_cost_over_a_life_is_named_where_another_is_cheaper_to_buy() -> None:
    thirsty, thrifty = outcome("thirsty", [1.0, 1.01], 1000.0, 9000.0), outcome("thrifty", [1.0, 1.01], 1100.0, 10.0)
    pairs = decide.pairs([thirsty, thrifty], 0.95, 1, relevant=0.01)
    said = " ".join(what_if_sentences.sentences(table_of(thirsty, thrifty), pairs, 0.05, PRICES, 0.01))
    assert "energy of 5 years, 80 % of them under load" in said and "and thrifty only 1,214 EUR" in said


def study(folder: Path, **changes: Any) -> Path:
    content: dict[str, Any] = {
        "name": "trial",
        "experiment": str(ROOT / "configs/demo.yaml"),
        "prices": "example",
        "alternatives": {"tree": {"nodes": 8}, "torus": {"nodes": 8, "set": {"network": "paper-torus"}}},
    }
    content.update(changes)
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def test_alternatives_become_experiments_with_an_ideal_one_each(tmp_path: Path) -> None:
    path = study(tmp_path)
    found = cases(read_study(path), path)
    assert [case.name for case in found] == ["tree", "tree+ideal", "torus", "torus+ideal"]
    assert {case.resolved.network.topology.kind for case in found if case.alternative == "torus"} == {"torus"}
    assert all(case.content["nodes"] == [8] and case.content["techniques"] == ["ext-var"] for case in found)
    assert found[1].resolved.network.contention is False


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path | None]]:
    """The folders in which experiments ran, each with the measurements that it took over; "torus" fails."""
    calls: list[tuple[str, Path | None]] = []

    def run(path: Path, *, directory: Path, measurements_from: Path | None, **_: Any) -> None:
        assert path == directory / "experiment.yaml" and path.is_file()
        calls.append((directory.name, measurements_from))
        if directory.name == "torus":
            raise StepFailedError("a step failed", 5)

    monkeypatch.setattr("phase3_sst.campaign.experiments.run_experiment", run)
    return calls


def test_alternatives_share_measured_runs_and_one_that_fails_stops_no_other(
    tmp_path: Path, ran: list[tuple[str, Path | None]]
) -> None:
    path = study(tmp_path)
    planned = [case.planned(tmp_path / "out") for case in cases(read_study(path), path)]
    runner = ExperimentRunner(2, None, None, lambda text: None, shared=True)
    with pytest.raises(StepFailedError, match=r"^alternative 'torus': a step failed$") as caught:
        runner.run_whatever_fails(planned)
    assert caught.value.exit_code == 5
    first = planned[0].results
    assert ran == [("tree", None), ("tree+ideal", first), ("torus", first), ("torus+ideal", first)]


def test_own_compute_times_need_no_measurements_and_lend_none(
    tmp_path: Path, ran: list[tuple[str, Path | None]]
) -> None:
    """The experiment's table lies beside it; a third alternative measures."""
    alternatives = {"tree": {}, "faster": {"set": {"network.link.bandwidth": "200 Gbit/s"}}}
    alternatives |= {name: {"set": {"own_times": None}} for name in ("measured", "again")}
    own = str(ROOT / "configs/own-times.yaml")
    path = study(tmp_path, experiment=own, alternatives=alternatives, ideal=False)
    planned = [case.planned(tmp_path / "out") for case in cases(read_study(path), path)]
    for case in planned[:2]:
        assert load_experiment(case.write()).digest() == case.resolved.digest()
    said: list[str] = []
    for name, one in (("own", planned[0]), ("other", planned[2])):
        results = tmp_path / "results" / name
        tables.write_json(results / "experiment.json", "experiment/1", {"experiment": one.resolved.content})
        (results / "profile/nodes-1").mkdir(parents=True)
        (results / "profile/nodes-1/counters.parquet").touch()
    ExperimentRunner(2, None, None, said.append, shared=True).run_whatever_fails(planned)
    assert ran == [("tree", None), ("faster", None), ("measured", None), ("again", planned[2].results)]
    ran.clear()
    ExperimentRunner(2, None, tmp_path / "results", said.append).run_whatever_fails(planned)
    lent = tmp_path / "results/other"
    assert ran == [("tree", None), ("faster", None), ("measured", lent), ("again", lent)]
    assert not any("it is measured" in text for text in said)


def test_an_experiment_that_others_need_stops_the_study_by_its_name(
    tmp_path: Path, ran: list[tuple[str, Path | None]]
) -> None:
    path = study(tmp_path)
    planned = [case.planned(tmp_path / "out") for case in cases(read_study(path), path)]
    with pytest.raises(StepFailedError, match=r"^alternative 'torus': a step failed$"):
        ExperimentRunner(2, None, None, lambda text: None).run(planned)
    assert ran == [("tree", None), ("tree+ideal", None), ("torus", None)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"alternatives": {"one": {}}}, "at least 2"),
        ({"prices": "no-such"}, "unknown prices"),
        ({"prices": {"name": "x", "node": {"price": 1}}}, "nic"),
        ({"experiment": "nowhere.yaml"}, "does not exist"),
        ({"alternatives": {"a": {}, "b": {"set": {"seed": 3}}}}, "common random numbers"),
        ({"alternatives": {"a": {}, "b": {"set": {"relevant_difference": 0.1}}}}, "the same for all"),
        ({"alternatives": {"a": {}, "b": {"set": {"network.link.bandwith": "1 GB/s"}}}}, "alternative 'b'"),
        ({"alternatives": {"a": {}, "b": {"nodes": 99999}}}, "do not fit"),
        ({"tehcnique": "ext-var"}, "did you mean 'technique'"),
    ],
)
def test_a_wrong_study_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = study(tmp_path, **changes)
    with pytest.raises(ManynodeError, match=said):
        cases(read_study(path), path)


def test_the_shipped_study_is_right() -> None:
    path = ROOT / "configs/studies/what-if.yaml"
    found = cases(read_study(path), path)
    assert len({case.alternative for case in found}) == 4


def warned(folder: Path, alternatives: dict[str, Any], **changes: Any) -> str:
    path = study(folder, alternatives=alternatives, ideal=False, **changes)
    described = read_study(path)
    return " ".join(what_if_sentences.warnings(described, cases(described, path)))


def test_what_a_buyer_must_know_of_the_machines_is_said(tmp_path: Path) -> None:
    fast = {"network.link.bandwidth": "200 Gbit/s"}
    small = {"nodes": 2048}
    said = warned(tmp_path, {"a": small, "b": {**small, "set": fast}})
    assert "b: network.host.nic_bandwidth 100 Gbit/s limits what each adapter sends and receives" in said
    assert "a:" not in said and "room for" not in said and "no classes of speed" not in said
    both = {**fast, "network.host.nic_bandwidth": "200 Gbit/s"}
    assert warned(tmp_path, {"a": small, "b": {**small, "set": both}}) == ""
    assert "a: The network opa100-fat-tree has room for 2,304 nodes" in warned(
        tmp_path, {"a": {"nodes": 64}, "b": small}
    )
    plain = {**PRICES.model_dump(), "speeds": {}}
    assert "parts of 100 Gbit/s and 200 Gbit/s cost the same" in warned(
        tmp_path, {"a": small, "b": {**small, "set": both}}, prices=plain
    )
    own = {**small, "set": both, "nic": {"price": 900}}
    assert warned(tmp_path, {"a": small, "b": own}, prices=plain) == ""
