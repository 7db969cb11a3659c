"""Delay sensitivity from runs whose truth is known."""

from __future__ import annotations

import delay_cases
import numpy as np
import pandas as pd
import pytest

from manynode.errors import InputError
from manynode.seeds import generator
from phase3_sst.studies.congestion.delay.latency import LatencyModel, Snapshots
from phase3_sst.studies.congestion.delay.run_time_model import (
    convergence,
    correlation,
    delivery_s,
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


def test_the_delay_of_a_run_is_the_mean_over_pairs_of_its_nodes_and_over_time() -> None:
    table = delay_cases.stalls(3)
    snapshots = Snapshots.of(delay_cases.RING, table)
    model = LatencyModel("ring", delay_cases.TRUTH)
    runs = pd.DataFrame({"run": ["run-2"], "nodes": [[0, 5, 9]], "start_s": [0.0], "end_s": [4e-3]})
    trips = pd.DataFrame(
        [("run-2", a, b, 0.0, 4e-3) for a, b in ((0, 5), (0, 9), (5, 9))],
        columns=["run", "source_node", "target_node", "start_s", "end_s"],
    )
    means = [sum(model.coefficients[term] * n for term, n in row.items()) for row in snapshots.of_round_trips(trips)]
    assert delivery_s(model, snapshots, runs)[0] == pytest.approx(np.mean(means))


def test_a_run_on_one_node_sends_nothing() -> None:
    snapshots = Snapshots.of(delay_cases.RING, delay_cases.stalls(1))
    runs = pd.DataFrame({"run": ["run-0"], "nodes": [[4]], "start_s": [0.0], "end_s": [1e-3]})
    with pytest.raises(InputError, match="one node"):
        delivery_s(LatencyModel("ring", delay_cases.TRUTH), snapshots, runs)


def test_what_does_not_vary_does_not_correlate() -> None:
    assert correlation(np.ones(5), np.arange(5.0)) is None
    assert correlation(np.arange(5.0), np.arange(5.0)) == pytest.approx(1)
