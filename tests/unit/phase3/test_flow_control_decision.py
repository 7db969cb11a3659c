"""The choice of ``flow_control: auto``: which trials are played, what they decide, what the points get."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from phase3_cases import ROOT

from manynode.config.loader import load_experiment
from manynode.config.resolved import Resolved
from manynode.config.variation import with_value
from phase3_sst.checks.flow_control import Situation, choose, difference, follow
from phase3_sst.point.contract import Measurement, Point
from phase3_sst.point.flow_choice import decided, is_chosen
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.run_file import network_of, run_description


class Played:
    """An engine that answers with a function of the network of the run file, and keeps the runs."""

    def __init__(self, answer: Callable[[Mapping[str, Any]], float]) -> None:
        self.answer = answer
        self.runs: list[Mapping[str, Any]] = []

    def measure_all(
        self, runs: Sequence[Mapping[str, Any]], timeout_s: float | None = None, processes: int = 1
    ) -> list[Measurement]:
        self.runs += runs
        times = [self.answer(run["network"]) for run in runs]
        return [Measurement(time, frozenset(), 0.0, 0, (0.1, time)) for time in times]


def experiment_of(changes: Mapping[str, Any]) -> Resolved:
    """The demo with other values."""
    experiment = load_experiment(ROOT / "configs" / "demo.yaml")
    for key, value in changes.items():
        experiment = with_value(experiment, key, value, "test")
    return experiment


def point(**network: Any) -> Point:
    experiment = experiment_of({f"network.{key}": value for key, value in network.items()})
    return Point(PointExperiment.of(experiment), 4, "ext-var", None, (), seed=1)


def situations(*points: Point) -> Iterator[Situation]:
    return iter([Situation(f"situation {number}", one) for number, one in enumerate(points)])


def by_credits(none: float, credits: float) -> Callable[[Mapping[str, Any]], float]:
    return lambda network: credits if network["flow_control"] == "credits" else none


def test_where_both_agree_the_cheaper_is_taken_and_only_the_first_iterations_are_played() -> None:
    engine = Played(by_credits(1.005, 1.0))
    found = choose(situations(point()), engine)
    assert found["flow_control"] == "none" and found["most_chunks"] == 64 and not found["warnings"]
    assert found["trials"][0]["difference"] == pytest.approx((1.005 - 1.0) / 0.9)
    assert {run["jobs"][0]["iterations_limit"] for run in engine.runs} == {3}
    assert len(engine.runs) == 3, "one without credits, one with, one with finer chunks"


@pytest.mark.parametrize(("credits", "plays"), [(1.0, 3), (0.9, 4)])
def test_with_more_processes_the_same_is_chosen_and_finer_chunks_are_tried_beside_the_others(
    credits: float, plays: int
) -> None:
    def answer(network: Mapping[str, Any]) -> float:
        return (credits if network["flow_control"] == "credits" else 1.0) + network["chunk_bytes"] / 1e7

    engine = Played(answer)
    assert choose(situations(point()), engine, 2) == choose(situations(point()), Played(answer))
    assert len(engine.runs) == plays, "what was tried without credits is tried again with them"


@pytest.mark.parametrize(("none", "chosen"), [(0.992, "none"), (0.985, "credits"), (1.02, "credits")])
def test_more_than_a_hundredth_apart_means_credits(none: float, chosen: str) -> None:
    assert choose(situations(point()), Played(by_credits(none, 1.0)))["flow_control"] == chosen


def test_a_difference_after_the_first_iteration_is_not_hidden_by_a_long_start() -> None:
    def ends(*times: float) -> Measurement:
        return Measurement(times[-1], frozenset(), 0.0, 0, times)

    assert difference(ends(10.0, 10.10), ends(10.0, 10.13)) == pytest.approx(0.03 / 0.13)


def test_one_situation_that_differs_decides_for_all_and_ends_the_trials() -> None:
    def answer(network: Mapping[str, Any]) -> float:
        return 1.0 if network["flow_control"] == "credits" or network["link"]["latency_s"] < 2e-7 else 0.5

    engine = Played(answer)
    same, other = point(**{"link.latency": 1e-7}), point(**{"link.latency": 3e-7})
    found = choose(situations(same, other, same), engine)
    assert found["flow_control"] == "credits" and "situation 1" in found["reason"]
    assert [trial["situation"] for trial in found["trials"]] == ["situation 0", "situation 1"]


def test_more_chunks_are_taken_where_they_change_the_time() -> None:
    engine = Played(lambda network: 1.0 if network.get("most_chunks", 64) == 128 else 1.5)
    found = choose(situations(point()), engine)
    assert found["most_chunks"] == 128 and not found["warnings"]


def test_chunks_that_are_still_too_large_are_a_warning_that_names_the_key() -> None:
    engine = Played(lambda network: 1.0 + network["chunk_bytes"] / 1e4)
    found = choose(situations(point(chunk=4096.0)), engine)
    assert found["most_chunks"] == 64, "more chunks changed nothing"
    (warning,) = found["warnings"]
    assert "18.5%" in warning and "lower network: chunk" in warning


def test_a_stated_number_of_chunks_is_kept_and_only_warned_of() -> None:
    engine = Played(lambda network: 2.0 if network.get("most_chunks") == 8 else 1.0)
    found = choose(situations(point(most_chunks=8)), engine)
    assert found["most_chunks"] == 8 and "raise most_chunks" in found["warnings"][0]


def test_variants_follow_the_experiment_or_have_credits_together() -> None:
    base = choose(situations(point()), Played(by_credits(1.0, 1.0)))
    assert follow(base, situations(point()), Played(by_credits(1.0, 1.0)))["flow_control"] == "none"
    assert follow(base, situations(point()), Played(by_credits(0.9, 1.0)))["flow_control"] == "credits"
    never = Played(lambda network: pytest.fail("an experiment with credits needs no trial of its variants"))
    with_credits = {**base, "flow_control": "credits"}
    assert follow(with_credits, situations(point()), never)["flow_control"] == "credits"
    assert follow(base, situations(), never)["flow_control"] == "none", "a study without variants"


def test_injection_control_by_stalls_has_credits_without_a_trial() -> None:
    experiment = experiment_of({"simulate.injection": {"kind": "aimd"}})
    controlled = replace(point(), experiment=PointExperiment.of(experiment))
    found = choose(situations(controlled), Played(lambda network: 1.0))
    assert found["flow_control"] == "credits" and not found["trials"]


def test_points_get_the_choice_only_where_the_network_leaves_it_open() -> None:
    choice = {"flow_control": "none", "most_chunks": 128}
    network = decided(point().experiment, choice).network
    assert (network.flow_control, network.most_chunks) == ("none", 128)
    network = decided(point(flow_control="credits", most_chunks=16).experiment, choice).network
    assert (network.flow_control, network.most_chunks) == ("credits", 16)
    free = decided(point(contention=False).experiment, {**choice, "flow_control": "credits"}).network
    assert free.flow_control == "none", "nothing to control"


def test_without_a_trial_the_points_have_credits_where_the_engine_can() -> None:
    assert run_description(point(), [0])["network"]["flow_control"] == "credits"
    assert network_of(point(contention=False).experiment).flow_control == "none"
    simgrid = experiment_of({"simulate.engine": "simgrid"})
    assert network_of(PointExperiment.of(simgrid)).flow_control == "none"


@pytest.mark.parametrize(
    ("changes", "chosen"),
    [
        ({}, True),
        ({"network.flow_control": "none"}, False),
        ({"network.contention": False}, False),
        ({"simulate.engine": "sst"}, False),
        ({"simulate.engine": "unknown"}, False),
        ({"simulate.preflight.enabled": False}, False),
    ],
)
def test_trials_are_made_only_where_there_is_a_choice(changes: dict[str, Any], chosen: bool) -> None:
    experiment: Resolved = experiment_of(changes)
    assert is_chosen(experiment) is chosen
