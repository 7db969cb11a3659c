"""The order of ranks' own times within a common series: kept where an earlier execution tells of a later one."""

from __future__ import annotations

import numpy as np
import pytest
from phase2_cases import phase_segments

from manynode.timing_profile import PhaseTimes, SequencePattern
from phase2_nodesim.distributions import Labels, Times
from phase2_nodesim.order import explained_by_order, order_of_ranks, percentiles
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.phases import fit_phase

DEFAULT = FitParameters()


def sweeps(ranks: int, sweeps: int, parts: int, seed: int = 1, *, own: float = 0.1, rest: float = 0.03) -> Times:
    """Times [s] of parts of a problem, again in each sweep: those of all ranks, a rank's own part of it, and a rest."""
    rng = np.random.default_rng(seed)
    work = np.tile(rng.choice([1.0, 2.0, 4.0], parts), sweeps)
    of_rank = np.tile(np.exp(rng.normal(0, own, (ranks, parts))), sweeps)
    return np.asarray(1e-5 * work * of_rank * np.exp(rng.normal(0, rest, (ranks, sweeps * parts))), dtype=np.float64)


def labels_of(table: Times) -> Labels:
    return np.digitize(-table.mean(axis=0), [-2.8e-5, -1.4e-5]).astype(np.int64)


def test_percentiles_fill_each_cluster_and_rise_with_the_time() -> None:
    table = np.random.default_rng(1).random((10, 60))
    labels = np.arange(60) % 3
    found = percentiles(table, labels)
    for label in range(3):
        own = found[:, labels == label]
        assert np.bincount(own.ravel(), minlength=100).tolist() == [2] * 100
        in_order = own.ravel()[np.argsort(table[:, labels == label].ravel())]
        assert (np.diff(in_order) >= 0).all()
    few = percentiles(table[:1, :3], np.zeros(3, dtype=np.int64))
    assert sorted(few.ravel().tolist()) == [0, 33, 66]


def test_what_comes_back_on_a_rank_is_explained() -> None:
    table = sweeps(16, 10, 20)
    places = percentiles(table, labels_of(table))
    share, chance = explained_by_order(places)
    # Of the variance of a rank's logarithms, 0.1^2 of 0.1^2 + 0.03^2 come back.
    assert share == pytest.approx((0.01 / 0.0109) ** 2, abs=0.12) and chance < 1e-12
    left = places - places.mean(axis=1, keepdims=True)
    expected = (left[:, :-20] * left[:, 20:]).sum() / (left**2).sum() * 200 / 180
    assert share == pytest.approx(expected**2, rel=1e-6)


@pytest.mark.parametrize(("ranks", "executions"), [(2, 4), (2, 20), (4, 100), (32, 640)])
def test_times_in_a_random_order_have_none(ranks: int, executions: int) -> None:
    """Ranks that differ, and executions that take a hundred times as long, are no order."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        table = rng.lognormal(0, 1.5, (ranks, executions)) * rng.lognormal(0, 0.2, (ranks, 1))
        assert order_of_ranks(table, np.arange(executions) % 2, DEFAULT) is None


def test_one_rank_long_series_and_equal_times_have_none() -> None:
    table = sweeps(16, 10, 20)
    labels = labels_of(table)
    assert order_of_ranks(table, labels, DEFAULT) is not None
    assert order_of_ranks(table[:1], labels, DEFAULT) is None
    assert order_of_ranks(table, labels, DEFAULT.model_copy(update={"max_sequence": 199})) is None
    assert order_of_ranks(table, labels, DEFAULT.model_copy(update={"least_order": 0.99})) is None
    assert explained_by_order(np.zeros((3, 9), dtype=np.int64)) == (0.0, 1.0)
    assert explained_by_order(np.zeros((3, 1), dtype=np.int64)) == (0.0, 1.0)


def fitted(table: Times) -> PhaseTimes:
    return fit_phase("sweep", phase_segments(table), DEFAULT)


def test_a_phase_has_the_order_of_its_ranks_beside_its_levels() -> None:
    # Two sweeps: a pattern would have to come more often to be told from chance among so many clusters.
    table = sweeps(8, 2, 60) * np.random.default_rng(2).uniform(0.7, 1.3, 120)
    pattern = fitted(table).pattern
    assert isinstance(pattern, SequencePattern) and pattern.repeat == 1 and pattern.percentiles is not None
    rows = np.array(pattern.percentiles)
    assert rows.shape == (8, 120)
    left = table / table.mean(axis=0)
    for rank in range(8):
        assert np.corrcoef(rows[rank], left[rank])[0, 1] > 0.5


def test_ranks_whose_times_have_no_order_are_drawn_execution_by_execution() -> None:
    table = sweeps(8, 2, 60, own=0.0, rest=0.1) * np.random.default_rng(2).uniform(0.7, 1.3, 120)
    pattern = fitted(table).pattern
    assert isinstance(pattern, SequencePattern) and pattern.repeat == 1 and pattern.percentiles is None


def test_a_repeated_pattern_has_no_order() -> None:
    """It also stands for other numbers of executions than were simulated."""
    sequence = np.tile([1.0, 2.0, 4.0, 2.0], 50)
    own = np.tile(np.exp(np.random.default_rng(3).normal(0, 0.02, (8, 4))), 50)
    pattern = fitted(1e-5 * sequence * own).pattern
    assert isinstance(pattern, SequencePattern) and pattern.repeat == 50 and pattern.percentiles is None
