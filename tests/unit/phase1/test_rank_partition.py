"""The choice of classes against synthetic ranks whose truth is known; points are in units of the noise.

``MANYNODE_FUZZ=all`` draws five times as many sets of ranks.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manynode.errors import UsageError
from phase1_profile.classes import RankClassifier
from phase1_profile.partition import partition, score

SEEDS = 250 if os.environ.get("MANYNODE_FUZZ") == "all" else 50
Truth = tuple[np.ndarray, np.ndarray]


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


def wrong_share(make: Callable[[np.random.Generator], Truth]) -> float:
    wrong = 0
    for seed in range(SEEDS):
        points, truth = make(np.random.default_rng(seed))
        wrong += not same_partition(RankClassifier().fit(points).labels_, truth)
    return wrong / SEEDS


@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 16, 64, 256])
def test_ranks_that_differ_by_noise_alone_are_one_class(ranks: int) -> None:
    assert wrong_share(lambda random: (random.normal(size=(ranks, 4)), np.zeros(ranks, int))) <= 0.02


@pytest.mark.parametrize("ranks", [64, 256])
@pytest.mark.parametrize("correlation", [0.0, 0.95])
def test_a_broad_spread_without_gaps_is_one_class(ranks: int, correlation: float) -> None:
    mixing = np.linalg.cholesky(np.full((4, 4), correlation) + (1 - correlation) * np.eye(4))

    def make(random: np.random.Generator) -> Truth:
        return 10 * random.normal(size=(ranks, 4)) @ mixing.T, np.zeros(ranks, int)

    assert wrong_share(make) <= 0.02


@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 64, 256])
def test_rank_0_alone_is_found_as_a_class_of_its_own(ranks: int) -> None:
    def make(random: np.random.Generator) -> Truth:
        points = random.normal(size=(ranks, 4))
        points[0] += [8, 0, 8, 8]
        return points, (np.arange(ranks) == 0).astype(int)

    assert wrong_share(make) <= 0.02


def test_one_rank_among_ten_thousand_is_found() -> None:
    points = np.random.default_rng(1).normal(size=(10_000, 4))
    points[0, :2] += 14
    fit = RankClassifier().fit(points)
    assert fit.n_classes_ == 2
    assert np.flatnonzero(fit.labels_ == 1).tolist() == [0]


@pytest.mark.parametrize("ranks", [8, 16, 64, 256])
def test_three_classes_by_boundary_position_are_found(ranks: int) -> None:
    truth = np.where(np.arange(ranks) % 4 == 0, 2, np.where(np.arange(ranks) % 4 == 3, 1, 0))

    def make(random: np.random.Generator) -> Truth:
        return random.normal(size=(ranks, 4)) + truth[:, None] * np.array([10, 0, 10, 10]), truth

    assert wrong_share(make) <= 0.02


def test_three_equal_classes_at_equal_distances_are_found_although_their_first_split_gains_nothing() -> None:
    truth = np.repeat([0, 1, 2], 9)
    points = 12.0 * truth[:, None] + 0.3 * np.random.default_rng(3).normal(size=(27, 3))
    two = score(points, (truth > 0).astype(np.int64))
    assert two < score(points, np.zeros(27, dtype=np.int64)) < score(points, truth)
    assert same_partition(RankClassifier().fit(points).labels_, truth)


@pytest.mark.parametrize("ranks", [64, 1000])
def test_a_smooth_drift_does_not_explode_into_classes(ranks: int) -> None:
    drift = np.linspace(0, 200, ranks)[:, None] * np.ones(4)
    assert RankClassifier().fit(drift).n_classes_ == 1
    assert RankClassifier(criterion="bic", max_classes=5).fit(drift).n_classes_ <= 5


def test_bic_describes_a_drift_by_more_classes_than_icl_and_agrees_on_noise() -> None:
    random = np.random.default_rng(0)
    drift = np.linspace(0, 200, 500)[:, None] + random.normal(size=(500, 2))
    assert RankClassifier(criterion="bic").fit(drift).n_classes_ > RankClassifier().fit(drift).n_classes_
    assert RankClassifier(criterion="bic").fit(random.normal(size=(500, 2))).n_classes_ == 1


def test_identical_ranks_and_a_single_rank_are_one_class() -> None:
    for ranks in (1, 2, 7, 1000):
        fit = RankClassifier().fit(np.full((ranks, 3), 5.0))
        assert fit.n_classes_ == 1
        assert fit.shares_.tolist() == [1.0]


def test_classes_closer_than_the_separation_are_one() -> None:
    points = np.repeat([[0.0, 0.0], [9.0, 0.0]], 50, axis=0)
    assert RankClassifier(separation=8.0).fit(points).n_classes_ == 2
    assert RankClassifier(separation=9.0).fit(points).n_classes_ == 1


def test_class_0_is_the_largest_and_max_classes_holds() -> None:
    points = np.repeat(np.arange(6) * 50.0, [1, 2, 30, 4, 5, 6])[:, None]
    fit = RankClassifier().fit(points)
    assert fit.shares_.tolist() == sorted(fit.shares_, reverse=True)
    assert fit.n_classes_ == 6
    assert RankClassifier(max_classes=3).fit(points).n_classes_ <= 3


def test_a_fitted_classifier_puts_new_ranks_into_the_nearest_class() -> None:
    points = np.repeat([[0.0, 0.0], [50.0, 50.0]], [30, 3], axis=0)
    fit = RankClassifier().fit(points)
    assert fit.predict([[1.0, -1.0], [48.0, 51.0]]).tolist() == [0, 1]
    assert fit.get_params() == {"criterion": "icl", "max_classes": 8, "separation": 4.0}


def test_a_wrong_criterion_is_named_with_what_is_allowed() -> None:
    with pytest.raises(UsageError, match="icl or bic"):
        RankClassifier(criterion="aic").fit([[0.0], [1.0]])


POINTS = arrays(
    np.float64,
    st.tuples(st.integers(1, 24), st.integers(1, 4)),
    elements=st.one_of(st.sampled_from([0.0, 10.0, 37.5, -80.0, 1e4]), st.floats(-100, 100)),
)


@settings(max_examples=60, deadline=None)
@given(POINTS, st.randoms(use_true_random=False))
def test_the_order_of_the_ranks_does_not_change_the_partition(points: np.ndarray, random: object) -> None:
    order = list(range(len(points)))
    random.shuffle(order)  # type: ignore[attr-defined]
    labels, _ = partition(points, limit=8, separation=4.0, criterion="icl")
    shuffled, _ = partition(points[order], limit=8, separation=4.0, criterion="icl")
    assert same_partition(labels[order], shuffled)


@settings(max_examples=60, deadline=None)
@given(POINTS, st.integers(1, 6))
def test_every_rank_has_a_class_and_equal_ranks_share_it(points: np.ndarray, limit: int) -> None:
    labels, scores = partition(points, limit=limit, separation=4.0, criterion="icl")
    assert sorted(set(labels.tolist())) == list(range(int(labels.max()) + 1))
    assert labels.max() < limit
    assert 1 in scores
    for row in np.unique(points, axis=0):
        assert len(set(labels[(points == row).all(axis=1)].tolist())) == 1
