"""Inverse questions: interval, doubt, what is not monotone, binding constraint, cheapest alternative."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import pytest
from explore_cases import BANDWIDTH, LATENCY, FormulaAsker, answer_of, kinked, smooth

from manynode.errors import UsageError
from manynode.units import parse
from phase3_sst.explore.asker import with_value
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.cheapest_search import Alternative, Cheapest, cheapest
from phase3_sst.explore.goal import Goal
from phase3_sst.explore.inverse_search import Found, Step, seek
from phase3_sst.explore.question import Question

QUESTION = Question(nodes=64)
WHOLE = Axis(keys=["nodes"], kind="count", low=1, high=512)


def sought(asker: FormulaAsker, axis: Axis, goal: Goal, sense: str = "least", **limits: Any) -> Found:
    return asyncio.run(seek(asker, QUESTION, axis, goal, sense=sense, **limits))  # type: ignore[arg-type]


def losses(question: Question) -> list[dict[str, Any]]:
    """The parts of ``smooth``."""
    bandwidth = parse(question.changes["network.link.bandwidth"], "bandwidth")
    latency = parse(question.changes.get("network.link.latency", "90 ns"), "time")
    parts = {"compute": 0.02, "bandwidth": 2e7 / bandwidth, "latency": 1e3 * latency * math.log2(65), "contention": 0.0}
    return [{"part": part, "seconds": seconds} for part, seconds in parts.items()]


def test_the_least_bandwidth_lies_in_the_interval_and_both_ends_are_simulated() -> None:
    asker = FormulaAsker(smooth, draws=(1.0, 1.0, 1.0))
    found = sought(asker, BANDWIDTH, Goal(time_s=0.025), resolution=0.01)
    # 0.02 + 2e7 / b + latency = 0.025
    exact = 2e7 / (0.025 - 0.02 - 1e3 * 9e-8 * math.log2(65))
    assert found.outcome == "found" and found.fails and found.holds
    assert found.fails.number < exact <= found.holds.number
    assert found.holds.number / found.fails.number < 1.02
    assert found.holds.verdict.settled and found.fails.verdict.settled and found.monotone
    assert found.value == found.holds.value and str(found.value) in found.words
    assert {found.fails.answer.digest, found.holds.answer.digest} <= {each.digest for each in asker.answers.values()}
    assert found.asked <= 16 and json.loads(json.dumps(found.as_json(), allow_nan=False))["outcome"] == "found"


def test_a_parameter_whose_values_hardly_change_the_time_makes_no_difference_that_matters() -> None:
    asker = FormulaAsker(lambda bandwidth, latency, nodes: 0.022 + 1e4 / bandwidth, draws=(1.0, 1.0))
    found = sought(asker, BANDWIDTH, Goal(time_s=0.0220005))
    assert found.holds and found.fails and "No difference that matters" in found.words and "1.0 %" in found.words
    assert "matters" not in sought(FormulaAsker(smooth, draws=(1.0, 1.0)), BANDWIDTH, Goal(time_s=0.025)).words


def test_the_greatest_latency_and_whole_numbers_of_nodes() -> None:
    asker = FormulaAsker(smooth, draws=(1.0, 1.0))
    found = sought(asker, LATENCY, Goal(time_s=0.025), "greatest")
    exact = (0.025 - 0.02 - 2e7 / 1.25e10) / (1e3 * math.log2(65))
    assert found.holds and found.fails and found.holds.number <= exact < found.fails.number
    assert "greatest latency" in found.words
    nodes = sought(FormulaAsker(lambda b, latency, n: 0.02 + 1e-4 * math.log2(n), draws=(1.0, 1.0)), WHOLE,
                   Goal(time_s=0.0206), "greatest")  # fmt: skip
    assert nodes.holds and nodes.fails
    assert (nodes.holds.value, nodes.fails.value) == (64, 65)


def test_a_loss_is_decided_by_pairs_although_the_draws_scatter_more() -> None:
    noisy = FormulaAsker(smooth, draws=(0.9, 1.1, 0.95, 1.05, 1.0))
    baseline = asyncio.run(noisy.answer(with_value(QUESTION, BANDWIDTH, "100 Gbit/s")))
    found = sought(noisy, BANDWIDTH, Goal(loss=0.05, baseline=baseline))
    assert found.holds and found.fails and found.holds.verdict.settled and found.fails.verdict.settled
    assert found.holds.answer.time_s <= 1.05 * baseline.time_s < found.fails.answer.time_s
    assert "a loss of 5 % against the baseline" in found.words
    # The interval of the time alone is wider than the loss.
    assert found.holds.answer.high_s > 1.05 * baseline.time_s
    alone = sought(noisy, BANDWIDTH, Goal(time_s=1.05 * baseline.time_s))
    assert alone.holds and not alone.holds.verdict.settled and "not settled" in alone.words
    if alone.surely_holds:
        assert alone.surely_holds.number > alone.holds.number


def test_goals_that_all_or_no_values_keep() -> None:
    asker = FormulaAsker(smooth, losses=losses)
    none = sought(asker, BANDWIDTH, Goal(time_s=0.0204))
    assert none.outcome == "none holds" and none.holds is None and none.value is None
    assert none.binding and none.binding.part == "latency" and "400 Gbit/s" in none.words
    every = sought(asker, BANDWIDTH, Goal(time_s=1.0))
    assert every.outcome == "all hold" and every.fails is None and every.value == "10 Gbit/s"
    hopeless = sought(asker, BANDWIDTH, Goal(time_s=0.019))
    assert hopeless.binding and hopeless.binding.part == "compute" and "no network is enough" in hopeless.binding.words
    # Five values show that; nothing is left to halve.
    assert len(none.steps) == len(every.steps) == 5


def test_the_binding_constraint_is_the_loss_that_grows() -> None:
    asker = FormulaAsker(smooth, losses=losses)
    found = sought(asker, BANDWIDTH, Goal(time_s=0.025))
    assert found.binding and found.binding.by_losses and found.binding.part == "bandwidth"
    assert found.holds and found.binding.seconds == pytest.approx(2e7 / found.holds.number - 2e7 / 5e10)
    # An engine without counterfactuals: the breakdown must do, and here there is none.
    plain = sought(FormulaAsker(smooth), BANDWIDTH, Goal(time_s=0.025))
    assert plain.binding is None and plain.value == found.value


def test_a_goal_that_is_kept_on_both_sides_of_a_gap_is_called_so() -> None:
    def bumpy(bandwidth: float, latency: float, nodes: int) -> float:
        # Congestion between 40 and 100 Gbit/s.
        return 0.02 + (0.02 if 5e9 < bandwidth < 1.25e10 else 0.0)

    asker = FormulaAsker(bumpy)
    found = sought(asker, BANDWIDTH, Goal(time_s=0.03))
    assert not found.monotone and found.bend and "does not follow" in found.words
    assert found.holds and found.fails
    assert found.fails.number < 1.25e10 <= found.holds.number
    assert "not kept by all easier values" in found.words
    # All simulated values from the answer on keep the goal.
    after = found.steps[found.steps.index(found.holds) :]
    assert all(step.verdict.holds for step in after)
    assert sought(FormulaAsker(kinked), BANDWIDTH, Goal(time_s=0.03)).monotone


def test_values_that_cannot_be_simulated_are_named_and_the_search_goes_on() -> None:
    asker = FormulaAsker(lambda b, latency, n: 0.02 + 1e-4 * n, refuses=lambda question: question.nodes > 300)
    found = sought(asker, WHOLE, Goal(time_s=0.0236), "greatest")
    assert found.holds and found.holds.value == 36 and "512" in found.refused
    with pytest.raises(UsageError, match="no value of the inverse question"):
        sought(FormulaAsker(smooth, refuses=lambda question: True), WHOLE, Goal(time_s=1.0))


def test_the_limit_of_points_is_kept_and_known_points_are_free() -> None:
    asker = FormulaAsker(smooth)
    goal = Goal(time_s=0.025)
    short = sought(asker, BANDWIDTH, goal, most=6)
    assert short.asked == 6 == len(asker.asked)
    again = sought(asker, BANDWIDTH, goal, most=6)
    assert again.asked == 6
    assert again.holds and short.holds and again.holds.number <= short.holds.number


def test_each_step_is_told_and_a_cancelled_search_asks_no_more() -> None:
    seen: list[Step] = []
    asker = FormulaAsker(smooth)
    found = asyncio.run(seek(asker, QUESTION, BANDWIDTH, Goal(time_s=0.025), sense="least", on_step=seen.append))
    assert {step.value for step in seen} == {step.value for step in found.steps}
    assert json.dumps([step.as_json() for step in seen], allow_nan=False)

    async def cancelled() -> FormulaAsker:
        held = FormulaAsker(smooth)
        held.holds_back = asyncio.Event()
        task = asyncio.ensure_future(seek(held, QUESTION, BANDWIDTH, Goal(time_s=0.025), sense="least"))
        while held.running < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        held.holds_back.set()
        await asyncio.sleep(0.01)
        return held

    held = asyncio.run(cancelled())
    assert (held.cancelled, held.running, len(held.answers)) == (2, 0, 0)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "either a time or a loss"),
        ({"time_s": 1.0, "loss": 0.1}, "either a time or a loss"),
        ({"time_s": 0.0}, "above zero"),
        ({"time_s": math.nan}, "above zero"),
        ({"loss": 0.1}, "needs a baseline"),
        ({"loss": -1.0}, "share of the baseline"),
    ],
)
def test_a_goal_without_sense_is_refused(content: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Goal(**content)


def test_answers_without_common_draws_are_not_paired() -> None:
    one = answer_of(QUESTION, {0: 1.0, 1: 1.1})
    with pytest.raises(UsageError, match="no draws in common"):
        Goal(loss=0.1, baseline=answer_of(QUESTION, {2: 1.0})).verdict(one)
    with pytest.raises(UsageError, match="no draws in common"):
        Goal(loss=0.1, baseline=answer_of(QUESTION, {0: 1.0}, seed=2)).verdict(one)


def test_one_replica_settles_only_constant_times() -> None:
    goal = Goal(time_s=2.0)
    assert not goal.verdict(answer_of(QUESTION, {0: 1.0})).settled
    assert goal.verdict(answer_of(QUESTION, {0: 1.0}, technique="ext-const")).settled


def test_choices_have_no_least_value() -> None:
    routing = Axis(keys=["network.topology.routing"], kind="choice", values=["minimal", "valiant"])
    with pytest.raises(UsageError, match="cheapest alternative"):
        sought(FormulaAsker(smooth), routing, Goal(time_s=1.0))


def alternatives() -> list[Alternative]:
    rows = [("dear", "400 Gbit/s", 400.0), ("cheap", "10 Gbit/s", 100.0), ("middle", "50 Gbit/s", 200.0)]
    return [Alternative(name, with_value(QUESTION, BANDWIDTH, value), cost) for name, value, cost in rows]


def bought(asker: FormulaAsker, time_s: float, **limits: Any) -> Cheapest:
    return asyncio.run(cheapest(asker, alternatives(), Goal(time_s=time_s), **limits))


def test_the_cheapest_alternative_is_found_and_dearer_ones_are_not_simulated() -> None:
    asker = FormulaAsker(smooth)
    found = bought(asker, 0.025)
    assert found.holds and found.holds.value == "middle" and found.left == ["dear"]
    assert [step.value for step in found.steps] == ["cheap", "middle"] and len(asker.asked) == 2
    assert "middle is the cheapest" in found.words and json.dumps(found.as_json(), allow_nan=False)
    none = bought(asker, 0.0204)
    assert none.holds is None and len(none.steps) == 3 and "None of 3" in none.words
    assert bought(FormulaAsker(smooth), 0.0204, most=1).left == ["middle", "dear"]


def test_the_search_for_the_cheapest_goes_on_to_one_beyond_doubt() -> None:
    middle = smooth(parse("50 Gbit/s", "bandwidth"), 9e-8, 64)
    noisy = FormulaAsker(smooth, draws=(0.96, 1.04, 1.0))
    found = bought(noisy, middle * 1.01)
    assert found.holds and found.holds.value == "middle" and not found.holds.verdict.settled
    assert found.surely_holds and found.surely_holds.value == "dear"


def test_alternatives_that_cannot_be_simulated_are_named() -> None:
    refusing = FormulaAsker(smooth, refuses=lambda question: "10 Gbit/s" in question.canonical())
    assert list(bought(refusing, 0.025).refused) == ["cheap"]
    with pytest.raises(UsageError, match="at least one"):
        asyncio.run(cheapest(refusing, [], Goal(time_s=1.0)))
