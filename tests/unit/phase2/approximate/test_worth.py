"""What an approximate skeleton is worth."""

from __future__ import annotations

from typing import Any

import pytest

from manynode.derived import skeleton_file
from manynode.errors import InputError
from phase2_nodesim.derive.judging.verdict import verdict

CONSTANT = {"family": "constant"}


def skeleton(makespan: float = -0.04) -> dict[str, Any]:
    grown = dict.fromkeys(("messages", "peak", "bytes"), CONSTANT)
    runs = [{"ranks": ranks, "file": f"r{ranks}.json", "digest": "d", "reach": 1, **grown} for ranks in (8, 12, 32)]
    held_out = {"ranks": 32, "from": 16, "volume": 0.01, "messages": -0.02, "peers": 0.3, "makespan": makespan}
    section = {"why": "it follows the data", "runs": runs, "held_out": [held_out]}
    return {"schema": "derived-skeleton/1", "name": "toy", "program": {}, "approximate": section}


def test_errors_grow_with_each_doubling_beyond_the_run() -> None:
    assert verdict(skeleton(), 32).level == "proved"
    once, thrice, of_another = (verdict(skeleton(), ranks) for ranks in (64, 256, 24))
    assert [one.level for one in (once, thrice, of_another)] == ["approximate"] * 3
    assert once.error == pytest.approx(0.04) and thrice.error == pytest.approx(0.12)
    assert of_another.error == pytest.approx(0.04), "12 ranks stand for 24"
    assert "the run of 32 ranks stands for the job, because it follows the data" in thrice.reasons
    assert "volume within 3.0%, messages within 6.0%, time without computation within 12.0%" in thrice.reasons[0]


def test_what_no_run_stands_for_is_refused() -> None:
    assert verdict(skeleton(), 36).level == "approximate"
    assert verdict(skeleton(), 20).level == "refused" and "divides 20 ranks" in verdict(skeleton(), 20).reasons[0]
    assert verdict(skeleton(makespan=0.3), 64).level == "approximate"
    far = verdict(skeleton(makespan=0.3), 128)
    assert far.level == "approximate" and far.error == pytest.approx(0.6), "the band is as wide"
    assert far.reasons[0].endswith("within 60.0%, which larger recorded jobs would make less")
    unknown = skeleton()
    del unknown["approximate"]["held_out"]
    assert verdict(unknown, 64).level == "refused" and verdict(unknown, 32).level == "proved"


def test_runs_stand_for_the_jobs_that_are_named() -> None:
    exact = {"body": [{"call": "MPI_Barrier"}], "recorded": [{"ranks": 2, "parameters": {}, "equal": True}]}
    mixed = {**skeleton(), **exact, "parameters": {"nx": {"default": 8}}, "communicators": [], "doubts": []}
    mixed["approximate"]["only"] = [64]
    skeleton_file.checked(mixed, "toy.yaml")
    assert verdict(mixed, 64, {"nx": 8}).level == "approximate" and verdict(mixed, 128, {"nx": 9}).level == "agreed"
    other = verdict(mixed, 64, {"nx": 9})
    assert other.level == "refused" and other.reasons == ("nx was recorded as 8 only, not as 9",)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"body": []}, "'only' and 'body' go together"),
        ({"approximate": None}, "body: this key is missing"),
        ({"approximate": {"why": "x", "runs": []}}, "approximate/runs"),
    ],
)
def test_a_wrong_file_is_refused(change: dict[str, Any], found: str) -> None:
    with pytest.raises(InputError) as error:
        skeleton_file.checked({**skeleton(), **change}, "toy.yaml")
    assert found in str(error.value)
