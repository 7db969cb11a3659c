from __future__ import annotations

import numpy as np

from phase1_profile.stability import ScaleClasses, assignment_rule, judge, matched, positions


def scale(nodes: int, classes: str, **centroids: float) -> ScaleClasses:
    """Classes by one letter a rank; centroids are given in one feature and used in two."""
    known = centroids or {name: 10.0 * ord(name) for name in set(classes)}
    return ScaleClasses(nodes, tuple(classes), {name: np.array([value, value / 2]) for name, value in known.items()})


def test_a_root_at_every_size_is_stable_and_fixed() -> None:
    scales = [scale(1, "baaa"), scale(2, "b" + "a" * 7), scale(4, "b" + "a" * 15)]
    verdict = judge(scales, 0.1)
    assert verdict["stable"] is True
    assert "class b is held by rank 0 at every node count" in verdict["reasons"]
    assert assignment_rule(scales, scales[-1]) == {"fixed": {"0": "b"}, "shares": {"a": 1.0}}


def test_the_last_rank_is_counted_from_the_end() -> None:
    scales = [scale(1, "aaab"), scale(2, "aaaaaaab")]
    assert positions(scales, "b") == [-1]
    # The last rank is taken out of the shares of the others.
    assert assignment_rule(scales, scales[-1]) == {"fixed": {"-1": "b"}, "shares": {"a": 1.0}}


def test_both_ends_are_one_class() -> None:
    scales = [scale(1, "baab"), scale(2, "baaaaaab")]
    assert positions(scales, "b") == [0, -1]
    assert judge(scales, 0.1)["stable"] is True


def test_a_constant_share_is_stable_and_drawn() -> None:
    scales = [scale(2, "aabaab"), scale(4, "abaabaaababa")]
    assert positions(scales, "b") is None
    assert judge(scales, 0.1)["stable"] is True
    assert assignment_rule(scales, scales[0]) == {"fixed": {}, "shares": {"a": 4 / 6, "b": 2 / 6}}


def test_a_share_that_shrinks_with_the_job_is_unstable_in_words() -> None:
    verdict = judge([scale(1, "abba"), scale(8, "ab" * 3 + "a" * 10)], 0.1)
    assert verdict["stable"] is False
    assert any("share of class b changes: 50.0% of the ranks at 1 node, 18.8%" in r for r in verdict["reasons"])


def test_another_number_of_classes_is_unstable_in_words() -> None:
    verdict = judge([scale(1, "aaaa"), scale(2, "baaaaaaa")], 0.1)
    assert verdict["stable"] is False
    assert "the number of classes changes: 1 classes at 1 node, 2 classes at 2 nodes" in verdict["reasons"]


def test_one_size_alone_says_nothing_about_others_but_knows_rank_0() -> None:
    scales = [scale(2, "baaaaaaa")]
    verdict = judge(scales, 0.1)
    assert verdict["stable"] is None
    assert "only one node count" in str(verdict["reasons"])
    assert assignment_rule(scales, scales[0])["fixed"] == {"0": "b"}
    middle = [scale(2, "aaabaaaa")]
    assert assignment_rule(middle, middle[0]) == {"fixed": {}, "shares": {"a": 7 / 8, "b": 1 / 8}}


def test_rank_0_in_a_larger_minority_class_is_fixed_too() -> None:
    scales = [scale(2, "baabaaba"), scale(4, "baababaaaabaabaa")]
    assert assignment_rule(scales, scales[0])["fixed"] == {"0": "b"}


def test_classes_are_matched_by_their_differences_when_the_majority_changes() -> None:
    # At the small size most ranks lie on the boundary (5 more); at the large one most are inside.
    reference = scale(8, "0" * 12 + "1" * 4, **{"0": 100.0, "1": 105.0})
    small = scale(1, "0001", **{"0": 55.0, "1": 50.0})
    renamed = matched(small, reference)
    assert renamed.rank_class == ("1", "1", "1", "0")


def test_a_class_without_a_counterpart_gets_a_name_of_its_own() -> None:
    reference = scale(8, "00000001", **{"0": 100.0, "1": 120.0})
    renamed = matched(scale(1, "0012", **{"0": 100.0, "1": 120.0, "2": 500.0}), reference)
    assert renamed.rank_class == ("0", "0", "1", "x0")


def test_a_job_whose_ranks_are_all_fixed_still_has_shares() -> None:
    scales = [scale(1, "ba"), scale(2, "bcca")]
    rule = assignment_rule(scales, scales[0])
    assert sum(rule["shares"].values()) == 1.0  # type: ignore[arg-type]
