"""The tail model: its parameters, its goodness of fit, the expected slowest of many ranks, from known distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from manynode.slowest import expected_slowest
from manynode.timing_profile import PhaseTimes
from phase2_nodesim.distributions import distribution
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.patterns import Pattern
from phase2_nodesim.phases import PhaseSeries, described
from phase2_nodesim.tail import fit_excesses, fit_tail

RANKS = 65_536
WITH_TAIL = FitParameters(tail=0.95, goodness_resamples=0)

# Compute times as they occur: a shortest time, and what varies above it; light and heavy tails.
KNOWN: dict[str, tuple[Any, float]] = {
    "normal, 5 %": (stats.norm(0, 0.05), 1.0),
    "log-normal, 5 %": (stats.lognorm(0.05), 0.0),
    "log-normal, 20 %": (stats.lognorm(0.2), 0.0),
    "log-normal, 50 %": (stats.lognorm(0.5), 0.0),
    "exponential": (stats.expon(), 0.0),
    "1 + exponential of 5 %": (stats.expon(0, 0.05), 1.0),
    "gamma, 10 %": (stats.gamma(100, scale=0.01), 0.0),
    "1 + Weibull": (stats.weibull_min(2, scale=0.1), 1.0),
    "1 + Pareto, shape 0.2": (stats.genpareto(0.2, 0, 0.05), 1.0),
    "uniform": (stats.uniform(0, 0.1), 1.0),
}


def phase_of(times: np.ndarray, parameters: FitParameters = WITH_TAIL) -> PhaseTimes:
    zero = np.zeros(times.size, dtype=np.int64)
    return described(PhaseSeries("p", times, zero, zero, zero, None), parameters)


def true_slowest(shape: Any, offset: float, ranks: int) -> float:
    v = (np.arange(200_000) + 0.5) / 200_000
    return offset + float(shape.isf(-np.expm1(np.log(v) / ranks)).mean())


@pytest.mark.parametrize("name", KNOWN)
def test_the_expected_slowest_of_65536_ranks_is_known_within_a_twentieth(name: str) -> None:
    shape, offset = KNOWN[name]
    truth = true_slowest(shape, offset, RANKS)
    rng = np.random.default_rng(1)
    phases = [phase_of(offset + shape.rvs(size=5000, random_state=rng)) for _ in range(60)]
    with_tail = np.median([expected_slowest(phase, RANKS, tail=True) for phase in phases])
    alone = np.median([expected_slowest(phase, RANKS, tail=False) for phase in phases])
    assert with_tail == pytest.approx(truth, rel=0.05)
    assert abs(with_tail / truth - 1) <= abs(alone / truth - 1) + 0.005


@pytest.mark.parametrize("ranks", [1, 10, 500])
def test_within_the_samples_the_expected_slowest_needs_no_tail(ranks: int) -> None:
    times = np.random.default_rng(3).gamma(4, size=40_000)
    truth = true_slowest(stats.gamma(4), 0.0, ranks)
    for tail in (False, True):
        assert expected_slowest(phase_of(times), ranks, tail=tail) == pytest.approx(truth, rel=0.03)


def test_the_slowest_of_one_rank_is_the_mean() -> None:
    times = np.concatenate([np.random.default_rng(0).normal(m, 0.01, 400) for m in (1, 2, 4)])
    labels = np.repeat([2, 1, 0], 400)
    zero = np.zeros(1200, dtype=np.int64)
    for pattern in (None, Pattern((0, 1, 2), 400, 1.0)):
        phase = described(PhaseSeries("p", times, labels, zero, zero, pattern), FitParameters())
        assert expected_slowest(phase, 1, tail=False) == pytest.approx(times.mean(), rel=1e-3)
    drawn = described(PhaseSeries("p", times, labels, zero, zero, None), FitParameters())
    assert expected_slowest(drawn, 1000, tail=False) == pytest.approx(times.max(), rel=0.01)


@pytest.mark.parametrize("shape", [-0.3, 0.0, 0.2])
def test_shape_and_scale_are_recovered(shape: float) -> None:
    rng = np.random.default_rng(2)
    samples = np.sort(stats.genpareto(shape, 0, 3e-3).rvs(size=(200, 400), random_state=rng), axis=1)
    fitted = fit_excesses(samples)
    assert np.median(fitted.shape) == pytest.approx(shape, abs=0.03)
    assert np.median(fitted.scale_s) == pytest.approx(3e-3, rel=0.03)


def test_the_goodness_of_fit_tells_a_tail_from_what_is_none() -> None:
    rng = np.random.default_rng(6)
    fine = rng.exponential(size=2000)
    # Two modes above the threshold.
    poor = np.concatenate([rng.uniform(0, 1, 1900), rng.normal(2, 0.01, 50), rng.normal(3, 0.01, 50)])
    good, bad = (fit_tail(times, distribution(times), 0.95, 30) for times in (fine, poor))
    assert good is not None and good.p_value > 0.05
    assert bad is not None and bad.p_value < 0.02


def test_a_tail_that_fits_is_rejected_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(7)
    p = []
    for _ in range(100):
        times = rng.exponential(size=600)
        fitted = fit_tail(times, distribution(times), 0.8, 30, resamples=99)
        assert fitted is not None
        p.append(fitted.p_value)
    assert np.mean(np.array(p) < 0.1) < 0.2


def test_the_shape_at_other_thresholds_is_kept_beside_it() -> None:
    times = np.random.default_rng(1).exponential(size=4000)
    fitted = fit_tail(times, distribution(times), 0.9, 30)
    assert fitted is not None and [fit.probability for fit in fitted.others] == pytest.approx([0.8, 0.95])
    assert fitted.exceedances == pytest.approx(400, abs=40) and fitted.others[0].exceedances > fitted.exceedances


def test_too_few_or_equal_times_have_no_tail() -> None:
    few = np.random.default_rng(1).exponential(size=500)
    assert fit_tail(few, distribution(few), 0.95, 30) is None
    equal = np.full(5000, 0.3)
    assert fit_tail(equal, distribution(equal), 0.95, 30) is None


@given(st.lists(st.floats(1e-9, 10), min_size=60, max_size=200), st.floats(0.5, 0.8))
@settings(deadline=None, max_examples=60)
def test_any_times_have_a_tail_in_which_the_longest_is_possible(values: list[float], threshold: float) -> None:
    times = np.array(values)
    tail = fit_tail(times, distribution(times), threshold, 10, resamples=3)
    if tail is not None:
        assert -1 < tail.shape < 1 and tail.scale_s > 0 and 0 < tail.p_value <= 1
        if tail.shape < 0:
            assert tail.threshold_s - tail.scale_s / tail.shape >= times.max() * (1 - 1e-9)
