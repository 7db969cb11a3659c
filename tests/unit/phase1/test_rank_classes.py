"""The contract between phase 1 and the others: refused files, and classes for any number of ranks."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manynode import tables
from manynode.errors import InputError
from manynode.rank_classes import SCHEMA, assign_classes, check_rank_classes, read_rank_classes, single_class

SOUND: dict[str, Any] = {
    "classes": [{"name": "0", "share": 0.75}, {"name": "1", "share": 0.25}],
    "rank_class": {"0": "1", "1": "0", "2": "0", "3": "0"},
    "representative_nodes": [0],
    "assignment": {"fixed": {"0": "1", "-1": "0"}, "shares": {"0": 0.7, "1": 0.3}},
}


def put(*path: Any) -> Callable[[dict[str, Any]], None]:
    *keys, last, value = path

    def change(content: dict[str, Any]) -> None:
        for key in keys:
            content = content[key]
        content[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (put("classes", []), "classes"),
        (put("classes", 0, "share", 2), r"classes\[0\].share"),
        (put("classes", 1, "name", "0"), "classes"),
        (put("classes", 0, None), r"classes\[0\].name"),
        (put("rank_class", {}), "rank_class"),
        (put("rank_class", "7", "0"), "rank_class"),
        (put("rank_class", "2", "9"), "rank_class.2"),
        (put("representative_nodes", [-1]), "representative_nodes"),
        (put("representative_nodes", [True]), "representative_nodes"),
        (put("assignment", None), "assignment"),
        (put("assignment", "fixed", {"x": "0"}), "assignment.fixed.x"),
        (put("assignment", "fixed", {"-0": "0"}), "assignment.fixed.-0"),
        (put("assignment", "fixed", {"0": "5"}), "assignment.fixed.0"),
        (put("assignment", "shares", {"0": 0.5}), "assignment.shares"),
        (put("assignment", "shares", {"0": True}), "assignment.shares.0"),
        (put("assignment", "shares", {"5": 1.0}), "assignment.shares.5"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_at_its_key(
    change: Callable[[dict[str, Any]], None], key: str, tmp_path: Path
) -> None:
    content = copy.deepcopy(SOUND)
    change(content)
    tables.write_json(tmp_path / "r.json", SCHEMA, content)
    with pytest.raises(InputError, match=f"key '{key}'"):
        read_rank_classes(tmp_path / "r.json")


def test_another_version_of_the_schema_is_refused(tmp_path: Path) -> None:
    tables.write_json(tmp_path / "r.json", "rank-classes/2", SOUND)
    with pytest.raises(InputError, match="rank-classes/2"):
        read_rank_classes(tmp_path / "r.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SOUND, "fixed", "shares", "0"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([("classes",), ("rank_class",), ("assignment", "shares"), ("assignment", "fixed"), ("classes", 0)]),
    JSON,
)
def test_any_content_is_sound_or_an_error_of_ours(path: tuple[Any, ...], value: Any) -> None:
    content = copy.deepcopy(SOUND)
    put(*path, value)(content)
    try:
        check_rank_classes(content, "test")
    except InputError:
        return
    assert len(assign_classes(content, 10, 1)) == 10


def test_the_profiled_job_gets_the_profiled_classes() -> None:
    assert assign_classes(SOUND, 4, 1) == ["1", "0", "0", "0"]


def test_fixed_ranks_are_fixed_and_the_rest_follows_the_shares() -> None:
    classes = assign_classes(SOUND, 1002, 7)
    assert (classes[0], classes[-1]) == ("1", "0")
    assert Counter(classes[1:-1]) in (
        Counter({"0": 700, "1": 300}),
        Counter({"0": 699, "1": 301}),
        Counter({"0": 701, "1": 299}),
    )


def test_a_job_of_one_rank_is_counted_from_the_start() -> None:
    assert assign_classes(SOUND, 1, 1) == ["1"]
    with pytest.raises(InputError):
        assign_classes(SOUND, 0, 1)


def test_the_same_seed_gives_the_same_classes_and_another_seed_others() -> None:
    assert assign_classes(SOUND, 500, 3) == assign_classes(json.loads(json.dumps(SOUND)), 500, 3)
    assert assign_classes(SOUND, 500, 3) != assign_classes(SOUND, 500, 4)


def test_small_jobs_have_the_shares_on_average() -> None:
    rule = {**SOUND, "assignment": {"fixed": {}, "shares": {"0": 0.9, "1": 0.1}}}
    drawn = [assign_classes(rule, 3, seed).count("1") for seed in range(2000)]
    assert sum(drawn) / 2000 == pytest.approx(0.3, abs=0.04)
    assert max(drawn) == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(0, 2**63), st.lists(st.integers(0, 100), min_size=1, max_size=5))
def test_every_class_gets_its_share_rounded_up_or_down(ranks: int, seed: int, weights: list[int]) -> None:
    total = sum(weights) or 1
    shares = {str(i): w / total for i, w in enumerate(weights)} if sum(weights) else {"0": 1.0}
    counts = Counter(assign_classes({"rank_class": {}, "assignment": {"fixed": {}, "shares": shares}}, ranks, seed))
    for name, share in shares.items():
        assert abs(counts[name] - share * ranks) < 1 + 1e-6


def test_an_application_that_was_not_profiled_is_one_class() -> None:
    content = single_class(8, 2)
    check_rank_classes(content, "test")
    assert assign_classes(content, 100, 1) == ["0"] * 100
