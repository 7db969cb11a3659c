"""Iteration times with known truth -> converged or not: noise, correlation, drift, a slow start, patterns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from phase3_sst.point.convergence.series import Array, judge

MEAN_S = 0.01


def ends(times: Array, setup_s: float = 1.0) -> Array:
    """Return the ends of iterations of these lengths [replica, iteration]; the last includes the end of the run."""
    times = times.copy()
    times[:, -1] += setup_s
    return setup_s + np.cumsum(times, axis=1)


def noise(seed: int, iterations: int, *, replicas: int = 3, spread: float = 0.05, memory: float = 0.0) -> Array:
    """Iteration times around ``MEAN_S``; ``memory`` is the correlation of neighbours (autoregressive)."""
    steps = np.random.default_rng(seed).normal(size=(replicas, iterations + 200)) * np.sqrt(1 - memory**2)
    series = lfilter([1.0], [1.0, -memory], steps, axis=1)
    return MEAN_S * (1 + spread * series[:, 200:])


def coverage(iterations: int, **how: float) -> float:
    """Return the share of 400 seeds in which the 95 % interval covers the true mean."""
    found = [judge(ends(noise(seed, iterations, **how)), 10_000, 0.95) for seed in range(400)]
    return float(
        np.mean([abs(entry.mean_s / MEAN_S - 1) <= entry.half_width * entry.mean_s / MEAN_S for entry in found])
    )


@pytest.mark.parametrize("replicas", [1, 3, 10])
def test_the_interval_of_independent_times_holds_the_mean_as_often_as_it_says(replicas: int) -> None:
    assert 0.93 <= coverage(128, replicas=replicas) <= 0.995


def test_the_interval_of_correlated_times_is_as_honest() -> None:
    assert 0.92 <= coverage(512, memory=0.6) <= 0.995
    assert 0.90 <= coverage(2048, memory=0.9) <= 0.995


def test_an_interval_that_took_correlated_times_for_independent_would_be_too_narrow() -> None:
    """Why batches are needed: the naive interval covers the mean in less than two thirds of the cases."""
    inside = []
    for seed in range(400):
        window = noise(seed, 256, memory=0.8)
        half = 1.96 * window.std(ddof=1) / np.sqrt(window.size)
        inside.append(abs(window.mean() - MEAN_S) <= half)
    assert np.mean(inside) < 0.66


def test_times_that_are_all_the_same_need_no_more_iterations() -> None:
    found = judge(ends(np.full((2, 16), MEAN_S)), 100_000, 0.95)
    assert found.mean_s == pytest.approx(MEAN_S)
    assert found.objections(1e-6) == []


def test_set_up_and_end_are_no_iterations() -> None:
    times = np.full((1, 16), MEAN_S)
    assert judge(ends(times, setup_s=50.0), 1000, 0.95).mean_s == pytest.approx(MEAN_S)


def test_what_passes_is_within_the_width_in_nearly_all_cases() -> None:
    errors = []
    for seed in range(200):
        times = noise(seed, 4096)
        for count in (16, 32, 64, 128, 256, 512, 1024):
            found = judge(ends(times[:, :count]), 4096, 0.95)
            if not found.objections(0.005):
                errors.append(abs(found.mean_s / times.mean() - 1))
                break
    assert len(errors) >= 198
    assert np.mean(np.array(errors) <= 0.005) >= 0.9
    assert max(errors) <= 0.01


@pytest.mark.parametrize("per_iteration", [2e-4, -2e-4])
def test_a_drift_is_never_taken_for_converged(per_iteration: float) -> None:
    """Iterations that get 0.02 % longer or shorter with each: 5 % of noise hides it at first, the width does not."""
    ramp = 1 + per_iteration * np.arange(2048)
    for seed in range(50):
        times = noise(seed, 2048, spread=0.01) * ramp
        verdicts = [judge(ends(times[:, :count]), 4096, 0.95).objections(0.005) for count in (256, 512, 1024, 2048)]
        assert all(verdicts)
        assert any("if that went on" in text for text in verdicts[-1])


def test_steady_times_are_seldom_taken_for_a_drift() -> None:
    found = [judge(ends(noise(seed, 256)), 100_000, 0.95).drift != 0 for seed in range(400)]
    assert np.mean(found) <= 0.03


def test_a_slow_start_delays_and_is_left_out() -> None:
    start = 1 + 0.5 * np.exp(-np.arange(1024) / 20)
    times = noise(3, 1024, spread=0.002) * start
    early, late = (judge(ends(times[:, :count]), 10_000, 0.95) for count in (32, 1024))
    assert any("if that went on" in text or "predicts" in text for text in early.objections(0.005))
    assert late.objections(0.005) == []
    assert late.mean_s == pytest.approx(MEAN_S, rel=1e-3)


def test_a_known_pattern_is_averaged_over_whole_periods() -> None:
    """One of 12 iterations takes ten times as long."""
    pattern = np.where(np.arange(960) % 12 == 5, 10.0, 1.0) * MEAN_S
    truth = pattern.mean()
    times = np.tile(pattern, (2, 1))
    found = judge(ends(times[:, :96]), 960, 0.95, period=12)
    assert found.mean_s == pytest.approx(truth, rel=1e-12)
    assert found.objections(1e-6) == []
    blind = judge(ends(times[:, :96]), 960, 0.95)
    assert blind.objections(0.005)


def test_the_number_of_iterations_must_hold_four_periods() -> None:
    with pytest.raises(ValueError, match="no multiple of four periods of 5"):
        judge(ends(noise(1, 24)), 100, 0.95, period=5)
