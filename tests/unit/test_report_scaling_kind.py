"""Weak or strong scaling, as the report says it."""

from __future__ import annotations

import pandas as pd
import pytest

from manynode.report.scaling_kind import scaling_kind, work_per_rank


@pytest.mark.parametrize(
    ("work", "said"), [(1.05, "Weak scaling"), (0.52, "Strong scaling"), (2.0, "Neither weak nor strong scaling")]
)
def test_the_work_of_a_rank_says_which_scaling_it_is(work: float, said: str) -> None:
    rows = [(1, 0, "", 90.0), (1, 1, "", 110.0), (2, 0, "", 100 * work), (2, 0, "x", 7.0), (2, 1, "", 100 * work)]
    counters = pd.DataFrame(rows, columns=["nodes", "rank", "phase", "instructions"])
    found = work_per_rank(counters)
    assert found == {1: 100.0, 2: 100 * work}
    kind = scaling_kind(found, {1, 2, 8}, 2)
    assert kind.words.startswith(f"{said}: a rank on 2 nodes has {work:.2f} times the work of")
    assert kind.holds == ("measured on 2 nodes, which are wrong for others" not in kind.words) == (said[0] == "W")
    assert scaling_kind(found, {2}, 2).holds, "the projected job itself was measured"


def test_seconds_stand_for_instructions_that_were_not_counted() -> None:
    counters = pd.DataFrame({"nodes": [1, 2], "phase": ["", ""], "instructions": [0, 0], "seconds": [1.0, 2.0]})
    assert work_per_rank(counters) == {1: 1.0, 2: 2.0}


def test_one_size_says_nothing() -> None:
    assert scaling_kind({2: 1.0}, {1, 2}, 2).words == ""
