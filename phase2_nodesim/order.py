"""The order of a rank's own times within a common series -> the percentile of each execution, or none.

In: times of ranks (rows) at the executions of a series that all of them have in common (columns), and its clusters.
Out: for each rank, the place of each time in the distribution of its cluster, where a rank's times have an order.

A part of a rank's problem may take longer than the same part on other ranks, in each sweep again. Draws for each
execution by itself would spread that evenly: what is long then seldom meets, and ranks that wait for each other in a
chain wait too little. So a replayed rank takes the order of a simulated one (a bootstrap with whole ranks as blocks:
Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, section 8.2.3). Distributions stay those of all
ranks.
"""

from __future__ import annotations

import numpy as np

from phase2_nodesim.distributions import Labels, Times
from phase2_nodesim.parameters import FitParameters

PARTS = 100  # of a distribution: the bins of a cluster


def percentiles(table: Times, labels: Labels) -> Labels:
    """Return for each time the hundredth of its cluster's times that it belongs to, 0 ... 99; ties in their order."""
    found = np.empty(table.shape, dtype=np.int64)
    for label in np.unique(labels):
        own = labels == label
        times = table[:, own].ravel()
        places = np.empty(times.size, dtype=np.int64)
        places[np.argsort(times, kind="stable")] = np.arange(times.size)
        found[:, own] = (places * PARTS // times.size).reshape(-1, int(own.sum()))
    return found


def explained_by_order(places: Labels) -> tuple[float, float]:
    """Return the largest share of the variance within ranks that an earlier execution explains, and its chance.

    The share is the square of the autocorrelation at a lag, over all rows. Its chance in a random order is that of the
    largest of all lags (Bonferroni): autocorrelations then have the variance 1 / number of pairs.
    """
    from scipy.stats import norm

    ranks, executions = places.shape
    left = places - places.mean(axis=1, keepdims=True)
    total = float((left**2).sum())
    lags = np.arange(1, executions // 2 + 1)
    if total == 0 or lags.size == 0:
        return 0.0, 1.0
    size = 1 << (2 * executions - 1).bit_length()
    power = np.abs(np.fft.rfft(left, size, axis=1)) ** 2
    products = np.fft.irfft(power.sum(axis=0), size)[lags]
    pairs = ranks * (executions - lags)
    found = np.clip(products / total * (executions / (executions - lags)), -1.0, 1.0)
    scores = found * np.sqrt(pairs)
    best = int(np.argmax(scores))
    return float(max(0.0, found[best])) ** 2, min(1.0, float(norm.sf(scores[best])) * lags.size)


def order_of_ranks(table: Times, labels: Labels, parameters: FitParameters) -> list[list[int]] | None:
    """Return the percentiles of each rank's executions, or None where the order of a rank's times tells too little."""
    if table.shape[0] < 2 or table.shape[1] > parameters.max_sequence:
        return None
    places = percentiles(table, labels)
    share, chance = explained_by_order(places)
    if share < parameters.least_order or chance >= parameters.significance:
        return None
    return [[int(place) for place in row] for row in places]
