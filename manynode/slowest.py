"""The expected slowest of many ranks in one execution of a compute phase, from the phase's distributions.

In: a phase of a timing profile. Out: seconds. The longest of N independent draws with quantile function Q is expected
to take the integral of Q(v^(1/N)) over v from 0 to 1. Persistent differences between ranks do not affect a single
execution.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manynode.timing_profile import ClusterTimes, PhaseTimes, SequencePattern

Array = npt.NDArray[np.float64]

_STEPS = 20_000


def quantile(cluster: ClusterTimes, probability: Array, exceeding: Array, *, tail: bool) -> Array:
    """Return the times [s] of a cluster at ``probability``; ``exceeding`` is 1 - probability without rounding error.

    With ``tail``, times above the threshold of a fitted tail follow it (skeletons/source/timing.cpp draws the same).
    """
    times = np.interp(probability, cluster.cdf.probability, cluster.cdf.time_s)
    fitted = cluster.tail
    if not tail or fitted is None:
        return np.asarray(times)
    above = exceeding < 1 - fitted.probability
    steps = -np.log(exceeding[above] / (1 - fitted.probability))
    curved = np.expm1(fitted.shape * steps) / fitted.shape if abs(fitted.shape) > 1e-9 else steps
    times[above] = fitted.threshold_s + fitted.scale_s * curved
    return np.asarray(times)


def expected_slowest(phase: PhaseTimes, ranks: int, *, tail: bool) -> float:
    """Return the time [s] that the slowest of ``ranks`` is expected to take in an execution of ``phase``.

    For clusters in a pattern, this is the mean over its executions. Without ``tail`` no time exceeds the longest
    sample, however many ranks there are.
    """
    if isinstance(phase.pattern, SequencePattern):
        sequence = phase.pattern.sequence
        shares = [sequence.count(index) / len(sequence) for index in range(len(phase.clusters))]
        return sum(
            share * _of_cluster(cluster, ranks, tail=tail)
            for share, cluster in zip(shares, phase.clusters, strict=True)
            if share > 0
        )
    return float(mixed_quantile(phase, _levels(ranks), tail=tail).mean())


def mixed_quantile(phase: PhaseTimes, exceeding: Array, *, tail: bool) -> Array:
    """Return the times [s] of a phase, clusters drawn by weight, that a draw exceeds with chance ``exceeding``."""
    # Clusters do not overlap.
    clusters = sorted(phase.clusters, key=lambda cluster: -cluster.mean_s)
    edges = np.cumsum([cluster.weight for cluster in clusters])
    places = np.minimum(np.searchsorted(edges, exceeding, side="right"), len(edges) - 1)
    times = np.empty_like(exceeding)
    for place, cluster in enumerate(clusters):
        here = places == place
        if here.any():
            within = np.clip((exceeding[here] - (edges[place] - cluster.weight)) / cluster.weight, 1e-300, 1.0)
            times[here] = quantile(cluster, 1 - within, within, tail=tail)
    return times


def _levels(ranks: int) -> Array:
    """Return the probabilities of exceeding the longest of ``ranks`` draws, at equal steps of its distribution."""
    v = (np.arange(_STEPS) + 0.5) / _STEPS
    return np.asarray(-np.expm1(np.log(v) / ranks))


def _of_cluster(cluster: ClusterTimes, ranks: int, *, tail: bool) -> float:
    exceeding = _levels(ranks)
    return float(quantile(cluster, 1 - exceeding, exceeding, tail=tail).mean())
