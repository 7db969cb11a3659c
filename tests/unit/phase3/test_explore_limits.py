"""What one server may take is refused in words, and paired answers say which one is faster."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from explored_base import base_folder

from manynode.errors import UsageError
from manynode.report.band import Part
from phase3_sst.explore.answer import Answer, BandOfAnswer
from phase3_sst.explore.base import Base
from phase3_sst.explore.limits import Limits
from phase3_sst.explore.question import question_of
from phase3_sst.explore.steps import progress_of, steps_of
from phase3_sst.explore.store import Store

GIGABYTE = 1e9


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return Base(base_folder(tmp_path_factory.mktemp("base")))


def refusal(base: Base, limits: Limits, cores: int = 2, **changes: Any) -> str:
    question = base.baseline().changed(nodes=changes.pop("nodes", 4), changes=changes)
    with pytest.raises(UsageError) as refused:
        limits.check_point(base.asked(question).resolved, cores)
    return str(refused.value)


def test_points_over_a_limit_are_refused_in_words(base: Base) -> None:
    limits = Limits(rank_replicas=100, memory_bytes=GIGABYTE)
    limits.check_point(base.asked(base.baseline()).resolved, 2)
    words = refusal(base, limits, **{"simulate.replicas": 13})
    assert "8 ranks x 13 replicas = 104" in words and "at most 100" in words and "export" in words
    assert "too much memory" in refusal(base, Limits(memory_bytes=1e5), nodes=64)
    with pytest.raises(UsageError, match="too many questions wait"):
        Limits(waiting=3).check_waiting(3)
    Limits(waiting=3).check_waiting(2)


def test_a_replica_that_needs_more_memory_takes_more_cores(base: Base) -> None:
    resolved = base.asked(base.baseline().changed(nodes=64)).resolved
    one = Limits().bytes_of_replica(resolved)
    assert Limits(memory_bytes=8 * one).cores_of_replica(resolved, 4) == 1
    assert Limits(memory_bytes=2 * one).cores_of_replica(resolved, 4) == 2


def test_steps_wait_for_what_they_read(base: Base) -> None:
    planned = Store(base).planned(base.asked(base.baseline().changed(losses=True)))
    steps = {step.name: step for step in steps_of(planned, True)}
    assert list(steps)[:4] == ["preflight", "flow control", "4 nodes", "1 nodes"]
    assert steps["4 nodes"].after == ("preflight", "flow control") and steps["4 nodes"].replicas == 6
    assert set(steps["analysis"].after) == {"4 nodes", "1 nodes"}
    assert "without-overhead, 4 nodes" in steps["scaling"].after and "4 nodes" in steps["scaling"].after
    known: set[str] = set()
    for step in steps.values():
        assert set(step.after) <= known | set(steps), step.name
        known.add(step.name)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("replica 1: 0.02 s simulated in 3.0 s, step 5 of 9, 0 of 8 ranks finished, 1e+05 messages, about 1 s left",
         (1, 1, 0.75)),
        ("process 2 of 3: replica 4: 1 s simulated in 1.0 s, step 1 of 9, 0 of 8 ranks finished, 7 messages, "
         "about 9 s left", (2, 3, 0.1)),
        ("replica 0: 0 s simulated in 0.0 s, step 9 of 9, 8 of 8 ranks finished, 7 messages, about 0 s left",
         (1, 1, 0.0)),
        ("manynode simulate run: started", None),
    ],
)  # fmt: skip
def test_progress_is_read_from_the_engine_s_lines(line: str, found: Any) -> None:
    assert progress_of(line) == found


def answer(digest: str, *makespans: float) -> Answer:
    times = dict(enumerate(makespans))
    mean = sum(makespans) / len(makespans)
    return Answer(
        digest, question_of({"nodes": 4}), "own", "results/own", 4, 8, "ext-var", 1, 0.95, len(makespans),
        mean, min(makespans), max(makespans), mean, 1.0, 1, times, None, [], [], None, None, 0.01,
    )  # fmt: skip


def test_paired_answers_say_which_is_faster_over_common_replicas() -> None:
    slow, fast = answer("a", 3.0, 3.2, 3.1, 9.0), answer("b", 2.0, 2.1, 2.2)
    found = slow.paired(fast)
    assert found.replicas == 3 and found.difference_s == pytest.approx(1.0) and found.settled
    assert found.low_s > 0 and found.probability == pytest.approx(1 / 5) and found.share == pytest.approx(3 / 6.3)
    back = fast.paired(slow)
    assert back.difference_s == pytest.approx(-1.0) and back.probability == pytest.approx(4 / 5) and back.settled
    open_ = answer("c", 2.0, 2.2, 2.1).paired(fast)
    assert not open_.settled and open_.low_s < 0 < open_.high_s
    assert math.isnan(open_.more), "equal means: no number of replicas would settle it"
    assert (found.verdict, open_.verdict) == ("matters", "open")


def test_a_difference_below_the_relevant_one_is_none_that_matters() -> None:
    """+0.000175 %, settled: the sign is sure, and nobody needs it."""
    base = answer("a", 3.0, 3.2, 3.1)
    found = answer("b", *(1.00000175 * time for time in base.makespans.values())).paired(base)
    assert found.settled and found.verdict == "irrelevant"
    assert found.words(0.02) == "no difference that matters (less than 1.0 %)"


def part(share: float, half: float | None, bias: float = 0.0) -> Part:
    side = None if half is None else share * half
    return Part("model", side, side, share * bias, share=share)


def test_the_models_error_cancels_where_both_answers_share_the_model() -> None:
    def banded(digest: str, computing: float, half: float | None = 0.2, **changes: Any) -> Answer:
        models = [part(computing, 0.1, 0.05), part(1 - computing, half)]
        band = BandOfAnswer(None, None, "", [], models)
        return replace(answer(digest, 1.0), band=band, question=question_of({"nodes": 4, "changes": changes}))

    base = banded("a", 0.8)
    same = banded("b", 0.7, **{"simulate.collectives.allreduce": "ring"}).models_error(base)
    assert same == pytest.approx(math.expm1(math.hypot(0.1 * 0.1, 0.1 * 0.2) + 0.1 * 0.05))
    other = banded("b", 0.7, **{"network.link.bandwidth": "200 Gbit/s"}).models_error(base)
    assert other == pytest.approx(math.expm1(math.hypot(0.1 * 0.1, 0.2 * 0.2, 0.3 * 0.2) + 0.1 * 0.05))
    assert banded("b", 0.7, machine="xeon").models_error(base) > same
    assert banded("b", 0.7, half=None).models_error(base) is None and answer("c", 1.0).models_error(base) is None


def test_answers_with_other_draws_are_not_paired() -> None:
    with pytest.raises(ValueError, match="no draws in common"):
        answer("a", 1.0).paired(replace(answer("b", 1.0), seed=2))


def test_a_link_of_a_file_has_the_wanted_time(tmp_path: Path) -> None:
    from phase3_sst.explore.store import link

    source = tmp_path / "source"
    source.write_text("x")
    link(source, tmp_path / "in" / "link")
    assert (tmp_path / "in/link").samefile(source)
    link(source, tmp_path / "copy", new_time=10**18)
    assert not (tmp_path / "copy").samefile(source) and (tmp_path / "copy").stat().st_mtime_ns == 10**18
    assert source.stat().st_mtime_ns != 10**18 and (tmp_path / "copy").read_text() == "x"
