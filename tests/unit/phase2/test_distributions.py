"""Clusters and distributions against mixtures whose truth is known."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phase2_nodesim.distributions import (
    Times,
    cluster_labels,
    dip_p_value,
    distribution,
    sample_mean,
    spread_ties,
    summarise,
)
from phase2_nodesim.parameters import FitParameters

DEFAULT = FitParameters()


def lognormal(mean_s: float, sigma: float, count: int, seed: int = 0) -> Times:
    return mean_s * np.exp(sigma * np.random.default_rng(seed).standard_normal(count))


def clusters_of(times: Times, parameters: FitParameters = DEFAULT) -> list[tuple[float, int]]:
    found = summarise(times, cluster_labels(times, parameters), parameters)
    return [(cluster.mean_s, cluster.count) for cluster in found]


def test_two_far_log_normals_are_two_clusters_the_longest_first() -> None:
    times = np.concatenate([lognormal(1e-3, 0.05, 400, 1), lognormal(2e-3, 0.05, 600, 2)])
    (long, count_long), (short, count_short) = clusters_of(times)
    assert (count_long, count_short) == (600, 400)
    assert long == pytest.approx(2e-3, rel=0.01)
    assert short == pytest.approx(1e-3, rel=0.01)


def test_two_near_log_normals_are_one_cluster() -> None:
    times = np.concatenate([lognormal(1e-3, 0.05, 5000, 1), lognormal(1.08e-3, 0.05, 5000, 2)])
    assert len(clusters_of(times)) == 1


def test_narrow_modes_nearer_than_the_separation_are_one_until_it_is_lowered() -> None:
    times = np.concatenate([lognormal(1e-3, 0.002, 500, 1), lognormal(1.1e-3, 0.002, 500, 2)])
    assert len(clusters_of(times)) == 1
    assert len(clusters_of(times, FitParameters(separation=0.05))) == 2


@pytest.mark.parametrize(
    "times",
    [
        lognormal(1e-3, 0.5, 20_000),
        np.random.default_rng(3).exponential(1e-3, 20_000),
        np.random.default_rng(3).uniform(1e-3, 2e-3, 3000),
        1e-3 * (1 + np.random.default_rng(3).pareto(2, 20_000)),
        np.round(lognormal(60e-9, 0.1, 20_000), 9),
        np.concatenate([lognormal(1e-3, 0.02, 50_000), lognormal(10e-3, 0.5, 50)]),
    ],
    ids=["wide log-normal", "exponential", "uniform", "heavy tail", "clock grid", "rare outliers"],
)
def test_one_mode_is_one_cluster(times: Times) -> None:
    assert len(clusters_of(times)) == 1


@pytest.mark.parametrize("value", [0.0, 1e-9, 3.25e-4])
def test_a_constant_is_one_cluster_with_its_own_value(value: float) -> None:
    times = np.full(500, value)
    labels = cluster_labels(times, DEFAULT)
    (cluster,) = summarise(times, labels, DEFAULT)
    assert cluster.mean_s == value
    assert cluster.distribution.time_s.tolist() == [value, value]


def test_few_exact_values_are_clusters_without_noise() -> None:
    times = np.repeat([8e-3, 1e-3, 0.13e-3, 0.12e-3], [100, 100, 100, 50])
    assert [count for _, count in clusters_of(times)] == [100, 100, 150]


def test_two_iterations_of_a_multigrid_are_enough_for_its_clusters() -> None:
    times = np.repeat([8e-3, 1e-3, 0.13e-3], [4, 4, 6])
    assert dip_p_value(np.sort(np.log(times))) >= 0 and len(clusters_of(times)) == 3


def test_few_times_are_one_cluster() -> None:
    assert len(clusters_of(np.array([1.0] * 4 + [9.0] * 4))) == 1


def test_small_samples_of_one_mode_are_hardly_ever_split() -> None:
    rng = np.random.default_rng(11)
    samples = [lognormal(1e-3, float(rng.uniform(0.05, 1)), int(rng.integers(10, 60)), i) for i in range(25)]
    assert sum(len(clusters_of(sample)) > 1 for sample in samples) <= 1


def test_a_hundred_thousand_times_take_about_a_second() -> None:
    times = np.concatenate([lognormal(1e-3, 0.05, 50_000, 1), lognormal(2e-3, 0.05, 50_000, 2)])
    clusters_of(times[::1000])  # imports
    start = time.process_time()
    assert len(clusters_of(times)) == 2
    assert time.process_time() - start < 4.0


def test_spread_ties_keeps_order_and_centres() -> None:
    spread = spread_ties(np.log(np.repeat([1.0, 2.0, 4.0], [3, 1, 5])), 0.1)
    assert np.all(np.diff(spread) > 0)
    assert spread[:3].mean() == pytest.approx(0.0, abs=1e-12)
    assert spread[3] == pytest.approx(np.log(2.0))


finite_times = st.lists(
    st.one_of(st.floats(0, 1e3), st.sampled_from([0.0, 1e-9, 1.0, 1.0000001, 5.0])), min_size=1, max_size=300
)


@given(finite_times, st.integers(1, 100))
@settings(deadline=None)
def test_a_distribution_rises_keeps_the_mean_and_stays_small(values: list[float], bins: int) -> None:
    times = np.array(values)
    got = distribution(times, bins)
    assert got.time_s.size == got.probability.size <= bins + 1
    assert np.all(np.diff(got.time_s) >= 0)
    assert np.all(np.diff(got.probability) > 0)
    assert (got.probability[0], got.probability[-1]) == (0.0, 1.0)
    mean = sample_mean(times)
    assert got.mean_s() == pytest.approx(mean, rel=1e-12, abs=1e-300)
    assert np.all(got.time_s >= 0)


@given(finite_times)
@settings(deadline=None, max_examples=50)
def test_labels_order_clusters_by_mean_and_do_not_overlap(values: list[float]) -> None:
    times = np.array(values)
    labels = cluster_labels(times, DEFAULT)
    assert sorted(set(labels.tolist())) == list(range(int(labels.max()) + 1))
    for label in range(int(labels.max())):
        assert times[labels == label].min() > times[labels == label + 1].max()


def test_a_tail_keeps_its_quantiles() -> None:
    times = 1e-3 * (1 + np.random.default_rng(5).pareto(3, 50_000))
    got = distribution(times)
    assert got.time_s[0] == times.min() and got.time_s[-1] == times.max()
    for probability in (0.1, 0.5, 0.9, 0.99, 0.999):
        want = float(np.quantile(times, probability))
        assert np.interp(probability, got.probability, got.time_s) == pytest.approx(want, rel=0.03)
