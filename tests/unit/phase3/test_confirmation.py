"""Points of a study with a second engine: which are chosen, ratios, orders that agree and that do not."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode import tables
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.config.variants import confirmed, variants, with_confirming_engine
from manynode.config.variation import with_value
from manynode.errors import UsageError
from phase3_sst.studies.confirmation import comparison, second_engine
from phase3_sst.studies.confirmation.comparison import Pair

ROOT = Path(__file__).resolve().parent.parent.parent.parent
BANDWIDTH = {"keys": ["network.link.bandwidth"], "values": ["100 Gbit/s", "20 Gbit/s", "50 Gbit/s"]}
LATENCY = {"keys": ["network.link.latency"], "values": ["90 ns", "1 us", "40 ns", "200 ns"]}
ALGORITHM = {"keys": ["simulate.collectives.allreduce"], "values": ["ring", "recursive_doubling", "auto"]}


def study(confirm: dict[str, Any] | None = None, **section: Any) -> Resolved:
    content = yaml.safe_load((ROOT / "configs/demo.yaml").read_text())
    section.setdefault("parameters", {"bandwidth": BANDWIDTH, "latency": LATENCY})
    content["sensitivity"] = copy.deepcopy(
        {**section, "confirm": {"engine": "simgrid"} if confirm is None else confirm}
    )
    return resolve(content, where="test", base=ROOT / "configs")


def test_the_corners_are_those_of_the_values_not_of_their_order() -> None:
    settings = [variant.settings for variant in confirmed(study())]
    assert len(settings) == 4
    assert {s["bandwidth"] for s in settings} == {"20 Gbit/s", "100 Gbit/s"}
    assert {s["latency"] for s in settings} == {"40 ns", "1 us"}


def test_of_texts_every_value_is_a_corner_and_of_single_parameters_their_ends() -> None:
    found = confirmed(study(parameters={"latency": LATENCY, "allreduce": ALGORITHM}))
    assert len(found) == 2 * 3
    found = confirmed(study(plan="one-at-a-time"))
    assert [variant.settings for variant in found] == [
        *({"bandwidth": value} for value in ("100 Gbit/s", "20 Gbit/s")),
        *({"latency": value} for value in ("1 us", "40 ns")),
    ]


def test_all_points_or_none() -> None:
    everything = study({"engine": "sst", "points": "all"})
    assert confirmed(everything) == variants(everything)
    experiment = study()
    assert experiment.sensitivity is not None
    without = experiment.model_copy(update={"sensitivity": experiment.sensitivity.model_copy(update={"confirm": None})})
    assert confirmed(without) == [] and second_engine.lacks(without) == ""


def test_samples_have_no_corners() -> None:
    ranges = {"x": {"keys": ["network.link.latency"], "low": "40 ns", "high": "1 us"}}
    with pytest.raises(UsageError, match="no corners"):
        study(plan="sobol", parameters=ranges)
    with pytest.raises(UsageError, match="confirm: engine"):
        study({"engine": "gem5"})


def test_the_engine_and_at_most_so_many_replicas_change() -> None:
    experiment = study({"engine": "simgrid", "replicas": 3})
    found = with_confirming_engine(experiment)
    assert (found.simulate.engine, found.simulate.replicas) == ("simgrid", 3)
    assert experiment.simulate.engine == "fast"
    assert {**found.content, "simulate": None} == {**experiment.content, "simulate": None}
    many = with_confirming_engine(study({"replicas": 500}))
    assert many.simulate.replicas == experiment.simulate.replicas


CONTENT = {"seed": 1, "relevant_difference": 0.01, "simulate": {"confidence": 0.95}}


def pairs(times: dict[str, tuple[list[float], list[float]]], technique: str = "ext-var", nodes: int = 64) -> list[Pair]:
    return [
        Pair(name, technique, nodes, dict(enumerate(one)), dict(enumerate(two)), {"latency, written": name})
        for name, (one, two) in times.items()
    ]


def test_ratios_are_of_the_replicas_that_both_have() -> None:
    found = comparison.compare(pairs({"a": ([1.0, 2.0, 9.0], [1.1, 2.4])}), "fast", "sst", CONTENT).table.iloc[0]
    assert found["ratio"] == pytest.approx((1.1 + 1.2) / 2)
    assert (found["time_s"], found["confirmed_s"], found["replicas"]) == (1.5, pytest.approx(1.75), 2)
    assert found["low"] <= found["ratio"] <= found["high"]


def test_an_order_that_is_turned_around_is_named() -> None:
    times = {"40 ns": ([1.00], [1.30]), "90 ns": ([1.10], [1.20]), "1 us": ([2.00], [2.00])}
    found = comparison.compare(pairs(times), "fast", "sst", CONTENT)
    assert list(found.table["place"]) == [1, 2, 3] and list(found.table["confirmed_place"]) == [2, 1, 3]
    agreeing, turned = comparison.orders(found.table, 0.01)
    assert agreeing == 2 and [(a["variant"], b["variant"]) for a, b in turned] == [("90 ns", "40 ns")]
    words = found.summary["sentences"][-1]
    assert "disagree on 1 of 3 orders" in words and "latency 90 ns" in words and "by 8.3 %" in words


def test_equal_times_are_no_order_and_techniques_are_not_mixed() -> None:
    near = pairs({"a": ([1.00], [1.001]), "b": ([1.10], [1.0]), "c": ([1.0], [2.0])})
    others = pairs({"d": ([9.0], [0.5])}, technique="ext-const")
    agreeing, turned = comparison.orders(comparison.compare([*near, *others], "fast", "sst", CONTENT).table, 0.01)
    assert agreeing + len(turned) == 2
    alike = comparison.compare(pairs({"a": ([1.0], [1.5]), "b": ([2.0], [3.0])}), "fast", "sst", CONTENT)
    assert "Both engines agree on the order of all 1 pair" in alike.summary["sentences"][-1]


def test_an_engine_that_is_not_installed_is_said(tmp_path: Path) -> None:
    experiment = with_value(study({"engine": "sst"}), "simulate.sst.executable", "/nowhere/sst", "test")
    remedy = second_engine.lacks(experiment)
    assert remedy and "'" not in remedy
    found = comparison.of_study(experiment, tmp_path, tmp_path, remedy)
    comparison.write(found, tmp_path / "confirmation.parquet")
    assert tables.read_table(tmp_path / "confirmation.parquet", "confirmation/1").empty
    document = tables.read_json(tmp_path / "confirmation.json", "confirmation-summary/1")
    assert "the engine sst is not installed" in document["sentences"][0] and document["lacks"] == remedy
