"""Measures congestion with a canary: average and 99th percentile of its iterations, alone and beside congestors.

In: results of a job that repeats one operation (a pattern ``random-ring`` or ``collective``;
skeletons/patterns/README.md). Out: seconds of an iteration, latency, bandwidth, and impact factors as GPCNeT defines
them (network_load_test.c, ``print_comparison_results``; Chunduri et al., SC '19): how many times longer the congested
canary takes.

GPCNeT keeps the time of every iteration on every rank. A result holds the seconds of every rank in the whole run, and
for every iteration when its last rank ended it. The average is therefore over all ranks and iterations, like GPCNeT's,
including the first ones. The 99th percentile is over iterations, each measured between the ends of consecutive
iterations on the slowest rank. For allreduces, which end almost together on all ranks, it equals GPCNeT's up to the
skew. For rings, it is more pessimistic the more ranks differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from manynode.errors import InputError
from phase3_sst.point.point_result import PointResult

PERCENTILE = 99
# Both neighbours of a ring: two messages of a rank in each iteration.
RING_MESSAGES = 2


@dataclass(frozen=True)
class CanaryTimes:
    """Seconds of an iteration: by rank the mean over the run, by iteration the time of the slowest rank."""

    by_rank_s: np.ndarray
    by_iteration_s: np.ndarray


@dataclass(frozen=True)
class CanarySummary:
    """Seconds of an iteration."""

    average_s: float
    percentile_99_s: float


@dataclass(frozen=True)
class Impact:
    """How many times longer an iteration takes under congestion; 1 is no impact."""

    average: float
    percentile_99: float


def canary_times(document: Mapping[str, Any], ranks: pd.DataFrame, job: int = 0, warm_up: int = 1) -> CanaryTimes:
    """Return the times of job number ``job`` in a ``network-result/2`` and its table of ranks, of all replicas.

    The first ``warm_up`` iterations (at least 1, which holds the start) are left out by iteration.
    """
    by_rank, by_iteration = [], []
    for replica in document["replicas"]:
        ends = np.asarray(replica["jobs"][job]["iteration_end_s"], dtype=float)
        if len(ends) <= max(warm_up, 1):
            raise InputError(
                "a canary has too few iterations",
                where=f"job {replica['jobs'][job]['name']}",
                found=str(len(ends)),
                allowed=f"more than {max(warm_up, 1)}, which are left out, and some hundred for a 99th percentile",
                remedy="give the canary's pattern more iterations, and do not run it in the background",
            )
        rows = ranks[(ranks["replica"] == replica["replica"]) & (ranks["job"] == job)]
        by_rank.append(rows.groupby("rank")["seconds"].sum().to_numpy(dtype=float) / len(ends))
        by_iteration.append(np.diff(ends)[max(warm_up, 1) - 1 :])
    return CanaryTimes(np.concatenate(by_rank), np.concatenate(by_iteration))


def read_canary(result: PointResult, job: int = 0, warm_up: int = 1) -> CanaryTimes:
    """Return the times of a simulated canary (:func:`canary_times`)."""
    return canary_times(result.document, result.ranks(), job, warm_up)


def summary(times: CanaryTimes) -> CanarySummary:
    """Return average and 99th percentile; the percentile is an observed value, as in GPCNeT's histogram."""
    percentile = np.percentile(times.by_iteration_s, PERCENTILE, method="inverted_cdf")
    return CanarySummary(float(times.by_rank_s.mean()), float(percentile))


def impact(congested: CanarySummary, isolated: CanarySummary) -> Impact:
    """Return congested over isolated latency; the ratio of bandwidths (bytes over these times) is the same."""
    return Impact(
        congested.average_s / isolated.average_s,
        congested.percentile_99_s / isolated.percentile_99_s,
    )


def latency_s(seconds: float) -> float:
    """Return GPCNeT's latency of a ring: the time of an iteration over the messages that a rank sends in it."""
    return seconds / RING_MESSAGES


def bandwidth_Bps(seconds: float, message_bytes: int) -> float:
    """Return GPCNeT's bandwidth of a ring: bytes that a rank sends in an iteration over its time [B/s]."""
    return RING_MESSAGES * message_bytes / seconds
