"""Delay sensitivity from runs whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from manynode.errors import InputError
from manynode.seeds import generator
from phase3_sst.studies.congestion.delay.run_time_model import (
    convergence,
    correlation,
    extremes_first,
    fit_sensitivity,
    relative,
)

DELAYS = generator(1, "delays").uniform(2e-6, 40e-6, size=40)
# 500 round trips, each of two messages.
PING_PONG = fit_sensitivity(DELAYS, 1000 * DELAYS, 1, 0.95)


def noisy(gradient: float, offset_s: float, noise_s: float) -> np.ndarray:
    return gradient * DELAYS + offset_s + noise_s * generator(2, "noise").standard_normal(len(DELAYS))


def test_the_gradient_is_found_and_lies_in_its_interval() -> None:
    found = fit_sensitivity(DELAYS, noisy(3000, 0.2, 0.01), 1, 0.95)
    assert found.low < 3000 < found.high
    assert found.gradient == pytest.approx(3000, rel=0.1)
    assert found.correlation is not None and found.left_out is not None
    assert found.correlation > found.left_out > 0.9


def test_the_ping_pong_has_one_however_long_it_runs() -> None:
    longer = fit_sensitivity(DELAYS, 7000 * DELAYS, 1, 0.95)
    assert relative(PING_PONG, PING_PONG) == pytest.approx(1)
    assert relative(longer, PING_PONG) == pytest.approx(1)


def test_an_application_that_also_computes_is_less_sensitive() -> None:
    # Half of the time at the least delay is spent on computing.
    least = float(DELAYS.min())
    found = fit_sensitivity(DELAYS, 1000 * DELAYS + 1000 * least, 1, 0.95)
    assert relative(found, PING_PONG) == pytest.approx(0.5)


def test_an_application_that_does_not_vary_has_none() -> None:
    found = fit_sensitivity(DELAYS, noisy(0, 0.2, 1e-5), 1, 0.95)
    assert not found.varies and found.correlation is None and relative(found, PING_PONG) == 0
    assert found.estimate_s(DELAYS) == pytest.approx(np.full(len(DELAYS), 0.2), rel=1e-3)


def test_too_few_runs_are_refused_with_the_number_needed() -> None:
    with pytest.raises(InputError, match="at least 5"):
        fit_sensitivity(DELAYS[:4], DELAYS[:4], 1, 0.95)


def test_a_ping_pong_that_does_not_feel_congestion_gives_no_scale() -> None:
    flat = fit_sensitivity(DELAYS, noisy(0, 0.2, 1e-5), 1, 0.95)
    with pytest.raises(InputError, match="no scale"):
        relative(PING_PONG, flat)


def test_the_extremes_come_first() -> None:
    assert extremes_first(np.array([3.0, 1.0, 5.0, 2.0, 4.0])) == [1, 2, 3, 4, 0]


def test_extremes_first_converges_with_fewer_runs() -> None:
    times = noisy(3000, 0.2, 0.02)
    first = convergence(DELAYS, times, extremes_first(DELAYS))
    rng = generator(3, "orders")
    random = np.median([convergence(DELAYS, times, rng.permutation(40).tolist()) for _ in range(100)], axis=0)
    assert max(first[-1], random[-1]) < 1e-12
    assert first[:5].mean() < random[:5].mean() / 2


def test_what_does_not_vary_does_not_correlate() -> None:
    assert correlation(np.ones(5), np.arange(5.0)) is None
    assert correlation(np.arange(5.0), np.arange(5.0)) == pytest.approx(1)
