"""What persists: shares of the variance and correlations, from synthetic ranks whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phase2_cases import segments

from phase2_nodesim.distributions import Distribution, distribution
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.persistence import (
    common_share,
    correlation_of,
    covariance_powers,
    mixture_quantiles,
    variance_shares,
)
from phase2_nodesim.phases import fit_phase
from phase2_nodesim.profile import class_series, fit_class

PROFILES = 200
DEFAULT = FitParameters()


def nested(rng: np.random.Generator, nodes: int, ranks: int, executions: int, node: float, rank: float) -> np.ndarray:
    """Times of ranks on nodes, normally distributed around 1 with a total variance of 0.01."""
    z = (
        math.sqrt(node) * rng.standard_normal((nodes, 1, 1))
        + math.sqrt(rank) * rng.standard_normal((nodes, ranks, 1))
        + math.sqrt(1 - node - rank) * rng.standard_normal((nodes, ranks, executions))
    )
    return np.asarray(1 + 0.1 * z)


def shares_of(times: np.ndarray) -> tuple[float, float]:
    """Return the estimated shares of nodes and ranks."""
    nodes, ranks, executions = times.shape
    number = np.repeat(np.arange(nodes * ranks), executions)
    found = variance_shares(times.ravel(), np.zeros(times.size, dtype=np.int64), number, number // ranks)
    assert found is not None
    return (found.node[0] if found.node else 0.0), found.rank[0]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("ranks", [4, 8, 16, 32])
def test_the_split_is_recovered_within_a_tenth(share: float, ranks: int) -> None:
    rng = np.random.default_rng(ranks)
    found = np.array([shares_of(nested(rng, 1, ranks, 60, 0, share))[1] for _ in range(2 * PROFILES)])
    assert np.median(found) == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize(("node", "rank"), [(0.3, 0.3), (0.5, 0.1), (0.1, 0.6)])
def test_nodes_are_told_from_their_ranks(node: float, rank: float) -> None:
    rng = np.random.default_rng(3)
    found = np.array([shares_of(nested(rng, 16, 8, 40, node, rank)) for _ in range(3 * PROFILES)])
    assert np.median(found, axis=0) == pytest.approx([node, rank], rel=0.1)


def test_the_interval_of_the_share_covers_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(2 * PROFILES):
        times = nested(rng, 1, 8, 50, 0, 0.4)
        number = np.repeat(np.arange(8), 50)
        found = variance_shares(times.ravel(), np.zeros(400, dtype=np.int64), number, 0 * number)
        assert found is not None
        covered += found.rank[1] <= 0.4 <= found.rank[2]
    assert 0.85 <= covered / (2 * PROFILES) <= 0.95


def test_groups_of_unequal_size_do_not_mislead() -> None:
    rng = np.random.default_rng(5)
    found = []
    for _ in range(PROFILES):
        sizes = rng.integers(5, 120, 16)
        ranks = np.repeat(np.arange(16), sizes)
        times = 1 + 0.1 * (0.7 * rng.standard_normal(16)[ranks] + math.sqrt(0.51) * rng.standard_normal(ranks.size))
        shares = variance_shares(times, 0 * ranks, ranks, 0 * ranks)
        assert shares is not None
        found.append(shares.rank[0])
    assert np.median(found) == pytest.approx(0.49, rel=0.1)


def test_nothing_is_known_from_one_rank_or_one_execution_of_each() -> None:
    times, zero = np.arange(8.0), np.zeros(8, dtype=np.int64)
    assert variance_shares(times, zero, zero, zero) is None
    assert variance_shares(times, zero, np.arange(8), zero) is None


def test_ranks_that_never_vary_differ_wholly() -> None:
    ranks = np.repeat([0, 1], 10)
    shares = variance_shares(1.0 + 0.2 * ranks, 0 * ranks, ranks, 0 * ranks)
    assert shares is not None and shares.rank == (1.0, 1.0, 1.0) and shares.node is None
    equal = variance_shares(np.full(20, 0.3), 0 * ranks, ranks, 0 * ranks)
    assert equal is not None and equal.rank[0] == 0


def test_one_rank_on_each_node_stands_for_both() -> None:
    ranks = np.repeat([0, 1, 2], 10)
    shares = variance_shares(1.0 + 0.2 * ranks, 0 * ranks, ranks, ranks)
    assert shares is not None and shares.node is None and shares.nodes == 3


def replayed_share(clusters: list[Distribution], weights: list[float], correlation: float) -> float:
    """Draw by the copula from a phase whose clusters have no pattern; return the covariance of a rank's draws."""
    from scipy.stats import norm

    rng = np.random.default_rng(1)
    own, first, second = rng.standard_normal((3, 400_000))
    a, b = (
        mixture_quantiles(clusters, weights, norm.cdf(math.sqrt(correlation) * own + math.sqrt(1 - correlation) * z))
        for z in (first, second)
    )
    return float(np.cov(a, b)[0, 1] / np.concatenate([a, b]).var())


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("shape", ["normal", "log-normal", "two clusters", "heavy tail"])
def test_a_replay_has_the_share_that_was_measured(share: float, shape: str) -> None:
    rng = np.random.default_rng(2)
    z = rng.standard_normal(4000)
    samples = {
        "normal": [1 + 0.1 * z],
        "log-normal": [np.exp(0.5 * z)],
        "two clusters": [2 + 0.02 * z[:1000], 1 + 0.02 * z[1000:]],
        "heavy tail": [1 + 0.05 * rng.pareto(3.5, 4000)],
    }[shape]
    clusters = [distribution(times) for times in samples]
    weights = [times.size / 4000 for times in samples]
    correlation = correlation_of(share, covariance_powers(clusters, weights, by_weight=True))
    assert replayed_share(clusters, weights, correlation) == pytest.approx(share, abs=0.03)


@given(st.floats(0, 1))
@settings(deadline=None, max_examples=30)
def test_correlations_rise_with_shares(share: float) -> None:
    powers = covariance_powers([distribution(np.random.default_rng(0).exponential(size=500))], [1.0], by_weight=False)
    assert 0 <= correlation_of(share, powers) <= 1
    assert correlation_of(share, powers) <= correlation_of(min(1.0, share + 0.01), powers) + 1e-9


@pytest.mark.parametrize("common", [0.0, 0.5, 1.0])
def test_what_phases_have_in_common_is_recovered(common: float) -> None:
    rng = np.random.default_rng(4)
    variances = np.array([1.0, 0.5, 2.0, 1.0])
    found = []
    for _ in range(PROFILES):
        z = math.sqrt(common) * rng.standard_normal((32, 1)) + math.sqrt(1 - common) * rng.standard_normal((32, 4))
        differences = z * np.sqrt(variances)
        found.append(common_share(differences, differences.var(axis=0, ddof=1)))
    assert np.mean(found) == pytest.approx(common, abs=0.08)


def test_a_slow_rank_is_slow_in_all_phases_of_the_profile() -> None:
    frame = segments(range(6), 30, slower={rank: 1 + 0.02 * rank for rank in range(6)})
    fitted = fit_class("0", 1.0, class_series(frame, DEFAULT), DEFAULT)
    assert fitted.common == pytest.approx(1, abs=0.1)
    for phase in fitted.phases:
        assert phase.persistence is not None and phase.persistence.ranks == 6 and phase.persistence.nodes == 3
        nodes = phase.persistence.between_nodes
        assert nodes is not None and 0.7 < phase.persistence.between_ranks.share + nodes.share < 1


def test_one_simulated_rank_leaves_the_split_unknown() -> None:
    frame = segments([3], 20)
    assert fit_phase("dot", frame[frame["phase"] == "dot"], DEFAULT).persistence is None
