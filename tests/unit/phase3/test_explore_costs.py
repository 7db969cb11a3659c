"""Prices of answers: bill, energy, and the same front as a what-if study has."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml
from explore_cases import answer_of
from phase3_cases import ROOT

from manynode.config.loader import load_experiment
from manynode.config.prices import Prices
from manynode.errors import UsageError
from phase3_sst.explore.costs import Costs, bill_rows
from phase3_sst.explore.question import Question
from phase3_sst.studies.what_if import decide
from phase3_sst.studies.what_if.bill import bill

PRICES = Prices.model_validate(yaml.safe_load((ROOT / "configs/prices/example.yaml").read_text()))
NETWORK = load_experiment(ROOT / "configs" / "demo.yaml").network


def test_a_row_has_what_a_what_if_study_writes_for_the_same_machine_and_times() -> None:
    costs = Costs(PRICES, 0.0)
    row = costs.add(answer_of(Question(nodes=64), {0: 2.0, 1: 2.2}), NETWORK, 64)
    items = bill(NETWORK, 64, PRICES)
    same = [decide.Outcome("same", 64, 512, {0: 2.0, 1: 2.2}, None, items)]
    pairs = decide.pairs(same, 0.95, 1, relevant=0.0)
    how = {"within": 0.05, "confidence": 0.95, "seed": 1, "relevant": 0.0}
    study = decide.alternatives(same, PRICES, pairs, **how).iloc[0]
    for name in ("time_s", "cost", "life_cost", "power_w", "energy_kwh", "energy_cost"):
        assert getattr(row, name) == study[name], name
    assert bill_rows(NETWORK, 64, PRICES)[0] == dict(items.iloc[0])
    assert json.dumps(bill_rows(NETWORK, 64, PRICES)) and json.dumps(
        [each.as_json() for each in costs.front()], allow_nan=False
    )


def test_the_front_is_that_of_what_if_for_random_answers() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        costs = Costs(PRICES, 0.0)
        outcomes = []
        for number in range(30):
            nodes = int(rng.integers(1, 9))  # many share their cost
            times = {0: float(rng.integers(1, 9)), 1: float(rng.integers(1, 9))}
            costs.add(answer_of(Question(nodes=nodes), times, digest=str(number)), NETWORK, nodes)
            outcomes.append((str(number), times, nodes))
        rows = {row.digest: row for row in costs.front()}
        names = [name for name, _, _ in outcomes]
        front = decide.pareto([rows[name].time_s for name in names], [rows[name].cost for name in names])
        assert [rows[name].front for name in names] == front
        for name in names:
            beaten = [
                other for other in rows.values() if other.cost <= rows[name].cost and other.high_s < rows[name].low_s
            ]
            assert rows[name].maybe_front == (not beaten)


def test_groups_have_fronts_of_their_own_and_an_answer_replaces_itself() -> None:
    costs = Costs(PRICES, 0.0)
    costs.add(answer_of(Question(nodes=2), {0: 1.0}, digest="small"), NETWORK, 2, group="2")
    costs.add(answer_of(Question(nodes=4), {0: 2.0}, digest="large"), NETWORK, 4, group="4")
    assert [row.front for row in costs.front()] == [True, True]
    costs.add(answer_of(Question(nodes=4), {0: 2.0}, digest="large"), NETWORK, 4, group="2")
    assert {row.digest: row.front for row in costs.front()} == {"small": True, "large": False}


def test_runs_scale_time_and_energy_but_not_the_price() -> None:
    answer = answer_of(Question(nodes=4), {0: 1.0, 1: 1.2})
    once, twice = (Costs(PRICES, 0.0).add(answer, NETWORK, 4, runs=runs) for runs in (1.0, 2.0))
    assert (twice.time_s, twice.energy_kwh, twice.low_s) == (2 * once.time_s, 2 * once.energy_kwh, 2 * once.low_s)
    assert twice.cost == once.cost


def test_thousands_of_answers_are_compared_while_one_waits() -> None:
    costs = Costs(PRICES, 0.0)
    first = costs.add(answer_of(Question(nodes=1), {0: 1.0}), NETWORK, 1)
    costs.rows = {
        str(number): type(first)(**{**vars(first), "digest": str(number), "cost": float(number % 97)})
        for number in range(5000)
    }
    assert sum(row.front for row in costs.front()) == sum(number % 97 == 0 for number in range(5000))


def test_a_gain_that_does_not_matter_is_not_on_the_front_and_a_network_that_is_too_large_is_said() -> None:
    costs = Costs(PRICES, 0.01)
    costs.add(answer_of(Question(nodes=4), {0: 1.0, 1: 1.0}, digest="dear"), NETWORK, 4)
    costs.add(answer_of(Question(nodes=2), {0: 1.005, 1: 1.005}, digest="cheap"), NETWORK, 2)
    rows = {row.digest: row for row in costs.front()}
    assert not (rows["dear"].front or rows["dear"].maybe_front) and rows["cheap"].front
    assert "room for" in rows["dear"].warning
    assert rows["dear"].life_cost == PRICES.life_cost(rows["dear"].cost, rows["dear"].power_w)


def test_nodes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="do not fit"):
        Costs(PRICES, 0.0).add(answer_of(Question(nodes=9), {0: 1.0}), NETWORK, NETWORK.room() + 1)
