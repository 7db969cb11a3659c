"""Canaries: averages over ranks, percentiles over iterations, and how many times longer congestion makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from manynode.errors import InputError
from phase3_sst.studies.congestion.canary import bandwidth_Bps, canary_times, impact, latency_s, summary


def result(lengths_s: list[float], shares: tuple[float, ...] = (1.0, 0.5), replicas: int = 1) -> dict[str, Any]:
    """A result with a background job before the canary, whose rank r is busy for its share of each iteration."""
    ends = np.cumsum(lengths_s).tolist()
    jobs = [{"name": "noise", "iteration_end_s": []}, {"name": "canary", "iteration_end_s": ends}]
    rows = [
        {"replica": replica, "job": job, "rank": rank, "operation": operation, "seconds": seconds}
        for replica in range(replicas)
        for rank, share in enumerate(shares)
        for job, operation, seconds in (
            (0, "MPI_Send", 1e9),
            (1, "MPI_Waitall", 0.75 * share * ends[-1]),
            (1, "MPI_Isend", 0.25 * share * ends[-1]),
        )
    ]
    document = {"replicas": [{"replica": replica, "jobs": jobs} for replica in range(replicas)]}
    return {"document": document, "ranks": pd.DataFrame(rows), "job": 1}


def test_the_average_is_over_ranks_and_the_percentile_over_iterations_of_the_slowest_rank() -> None:
    lengths = [50.0, *np.arange(1.0, 201.0)]  # the first includes the start
    found = summary(canary_times(**result(lengths)))
    assert found.average_s == pytest.approx(0.75 * np.mean(lengths))
    assert found.percentile_99_s == pytest.approx(198.0)


def test_replicas_are_taken_together_and_more_of_the_beginning_can_be_left_out() -> None:
    times = canary_times(**result([9.0, 8.0, 1.0, 2.0], replicas=2), warm_up=2)
    assert sorted(times.by_iteration_s) == pytest.approx([1.0, 1.0, 2.0, 2.0])
    assert times.by_rank_s == pytest.approx([5.0, 2.5, 5.0, 2.5])


def test_impact_is_congested_over_isolated() -> None:
    isolated = summary(canary_times(**result([1.0] * 101)))
    congested = summary(canary_times(**result([1.0] * 51 + [3.0] * 50)))
    found = impact(congested, isolated)
    assert found.average == pytest.approx(201 / 101)
    assert found.percentile_99 == pytest.approx(3.0)
    assert impact(isolated, isolated).average == 1.0


def test_a_ring_has_two_messages_in_each_iteration() -> None:
    assert latency_s(4e-6) == 2e-6
    assert bandwidth_Bps(1e-3, 131072) == pytest.approx(262144e3)


@pytest.mark.parametrize("lengths", [[], [1.0]])
def test_too_few_iterations_are_refused(lengths: list[float]) -> None:
    document = {"replicas": [{"replica": 0, "jobs": [{"name": "ring", "iteration_end_s": lengths}]}]}
    ranks = pd.DataFrame(columns=["replica", "job", "rank", "operation", "seconds"])
    with pytest.raises(InputError, match="too few iterations"):
        canary_times(document, ranks)
