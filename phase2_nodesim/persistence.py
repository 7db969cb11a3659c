"""Executions of ranks on nodes -> the persistent share of their variance, and the correlation that replays it.

A rank that is slow in one execution of a phase may be slow in the next one too (its core, its share of the problem).
The same holds for the ranks of a node (its memory, its clock). The model is nested: time = mean of cluster + node +
rank + execution.

1. *Shares* of the variance: by analysis of variance for unequal group sizes (Searle, Casella, McCulloch, *Variance
   Components*, 1992, section 5.3: Henderson's method 1), on times centred and scaled by cluster, pooled over the
   clusters of a phase. With few ranks the usual estimate is mostly too low. Therefore the ratio of mean squares is
   divided by the median of its F distribution, which makes the share too high as often as too low. Quantiles of the
   same distribution give the interval.
2. *Correlations*: a Gaussian copula keeps the distribution of every draw. Its correlation of normal scores is chosen
   to give the replayed times, not their scores, the measured shares. With the quantile function as g, expanded in
   Hermite polynomials with coefficients c_k, two draws with score correlation r have the covariance sum c_k^2 r^k.
3. *Common part of phases*: the part of a rank's score that all its phases share. It follows from the variance over
   ranks of the sum of their persistent differences, which is large if a rank is slow in all phases.

One simulated rank gives no such information.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manynode.timing_profile import Part, Persistence
from phase2_nodesim.distributions import Distribution, Labels, Times

CONFIDENCE = 0.9
_DEGREES = 200  # of Hermite polynomials: a step, such as between two clusters, needs many


@dataclass(frozen=True)
class Shares:
    """Shares of the variance between nodes and between the ranks of a node, each with its interval; of how many."""

    ranks: int
    nodes: int
    rank: tuple[float, float, float]
    node: tuple[float, float, float] | None


@dataclass(frozen=True)
class _Squares:
    """Sums of squares within groups, between groups, their degrees of freedom, and the effective size of a group."""

    within: float
    within_dof: int
    between: float
    between_dof: int
    size: float

    def odds(self, quantile: float) -> float:
        """Return the variance between groups over that within them, at a quantile of the F distribution.

        0.5 gives the estimate that is as often too high as too low.
        """
        from scipy.stats import f

        if self.between_dof < 1 or self.within_dof < 1:
            return 0.0
        if self.within <= 0:
            return math.inf if self.between > 0 else 0.0
        ratio = (self.between / self.between_dof) / (self.within / self.within_dof)
        return max(0.0, (ratio / float(f.ppf(quantile, self.between_dof, self.within_dof)) - 1) / self.size)


def scaled(times: Times, units: Labels) -> Times:
    """Return ``times`` less the mean of their unit, over its standard deviation; 0 where a unit does not vary."""
    counts = np.maximum(np.bincount(units), 1)
    means = np.bincount(units, times) / counts
    centred = times - means[units]
    deviation = np.sqrt(np.bincount(units, centred**2) / counts)
    # Below, only the rounding of equal times is left.
    flat = deviation <= 1e-12 * np.abs(means)
    return np.asarray(np.where(flat[units], 0.0, centred / np.where(flat, 1.0, deviation)[units]))


def variance_shares(times: Times, units: Labels, ranks: Labels, nodes: Labels) -> Shares | None:
    """Return the persistent shares of ``times`` of a phase; None where they are of one rank, or
    each rank has one execution.

    ``units`` are the clusters, or all 0 where ranks may differ by their clusters; ``ranks`` and ``nodes`` say where
    each execution was.
    """
    number = np.unique(ranks).size
    if number < 2 or times.size == 0:
        return None
    values = scaled(times, units)
    nested = 1 < np.unique(nodes).size < number
    groups = _nested(values, units, ranks, nodes if nested else np.zeros_like(nodes))
    if groups[0].within_dof < 1:
        return None
    return Shares(number, np.unique(nodes).size, *_parts(*groups, nested))


def _nested(values: Times, units: Labels, ranks: Labels, nodes: Labels) -> tuple[_Squares, _Squares]:
    """Return the squares of ranks within nodes, and of nodes, both summed over the units."""
    of_rank = _means(values, _numbered(units, ranks))
    first = of_rank.first
    node_of_group = _numbered(units[first], nodes[first])
    of_node = _means(of_rank.means, node_of_group, of_rank.counts)
    unit_of_node = units[first][of_node.first]
    of_unit = _means(of_node.means, unit_of_node, of_node.counts)
    within = float(((values - of_rank.means[of_rank.group]) ** 2).sum())
    within_dof = values.size - of_rank.counts.size
    between = float((of_rank.counts * (of_rank.means - of_node.means[of_node.group]) ** 2).sum())
    between_dof = of_rank.counts.size - of_node.counts.size
    squares = np.bincount(of_node.group, of_rank.counts**2)
    rank_size = float((of_node.counts - squares / of_node.counts).sum()) / max(1, between_dof)
    ranks_part = _Squares(within, within_dof, between, between_dof, max(rank_size, 1e-300))
    # Nodes against the ranks within them; the effective number of ranks on a node stands for the size of a group.
    node_dof = of_node.counts.size - of_unit.counts.size
    node_between = float((of_node.counts * (of_node.means - of_unit.means[of_unit.group]) ** 2).sum())
    node_squares = np.bincount(of_unit.group, of_node.counts**2)
    node_size = float((of_unit.counts - node_squares / of_unit.counts).sum()) / max(1, node_dof)
    nodes_part = _Squares(between, between_dof, node_between, node_dof, max(node_size / max(rank_size, 1e-300), 1e-300))
    return ranks_part, nodes_part


@dataclass(frozen=True)
class _Groups:
    group: Labels
    first: Labels
    counts: Times
    means: Times


def _means(values: Times, keys: Labels, weights: Times | None = None) -> _Groups:
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.ones(values.size) if weights is None else weights
    counts = np.bincount(group, weights).astype(np.float64)
    return _Groups(group, first, counts, np.bincount(group, weights * values) / counts)


def _numbered(a: Labels, b: Labels) -> Labels:
    return np.asarray(a * (int(b.max(initial=0)) + 1) + b, dtype=np.int64)


def _parts(
    of_ranks: _Squares, of_nodes: _Squares, nested: bool
) -> tuple[tuple[float, float, float], tuple[float, float, float] | None]:
    """Return the shares of ranks and nodes with their intervals.

    Nodes are judged by the means of their ranks, whose variance is that of ranks and a share of that of executions:
    the latter is taken as if ranks were simulated without end, which needs only many executions of each rank.
    """
    quantiles = (0.5, (1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2)
    rank = [of_ranks.odds(q) for q in quantiles]
    if not nested:
        low_middle_high = [_share(odds) for odds in rank]
        return (low_middle_high[0], low_middle_high[1], low_middle_high[2]), None
    # What ranks' mean squares show holds their executions' noise too; in units of the variance of an execution:
    per_rank_mean = rank[0] + 1 / of_ranks.size if math.isfinite(rank[0]) else math.inf
    found_rank, found_node = [], []
    for odds_rank, quantile in zip(rank, quantiles, strict=True):
        node = of_nodes.odds(quantile)
        if math.isinf(per_rank_mean):
            # Executions do not vary at all.
            share_node = _share(node)
            found_node.append(share_node)
            found_rank.append(1 - share_node)
            continue
        of_node = node * per_rank_mean
        middle_node = of_nodes.odds(0.5) * per_rank_mean
        found_rank.append(odds_rank / (1 + odds_rank + middle_node) if math.isfinite(odds_rank) else 1.0)
        found_node.append(of_node / (1 + rank[0] + of_node) if math.isfinite(of_node) else 1.0)
    return (found_rank[0], found_rank[1], found_rank[2]), (found_node[0], found_node[1], found_node[2])


def _share(odds: float) -> float:
    return 1.0 if math.isinf(odds) else odds / (1 + odds)


def quantiles(distribution: Distribution, probability: Times) -> Times:
    """Return the times [s] that a share ``probability`` of a cluster's times does not exceed, as phase 3 draws them."""
    return np.asarray(np.interp(probability, distribution.probability, distribution.time_s))


@functools.cache
def _hermite() -> tuple[Times, Times, Times]:
    """Return probabilities at equal steps of a normal score, their weights, and normalised Hermite polynomials 1, 2 ...

    The score goes far enough, in steps that are small enough, for a polynomial of the highest degree.
    """
    from scipy.stats import norm

    z = np.linspace(-8, 8, 801)
    rows = [np.ones_like(z), z]
    for k in range(1, _DEGREES):
        rows.append((z * rows[k] - math.sqrt(k) * rows[k - 1]) / math.sqrt(k + 1))
    weights = norm.pdf(z)
    return norm.cdf(z), weights / weights.sum(), np.array(rows[1:])


def _powers(values: Times) -> Times:
    """Return the squared Hermite coefficients of a quantile function over its variance, and last what is left of it."""
    _, weights, polynomials = _hermite()
    centred = values - weights @ values
    variance = float(weights @ centred**2)
    if variance <= 0:
        return np.zeros(_DEGREES + 1)
    squares = (polynomials @ (weights * centred)) ** 2 / variance
    return np.asarray(np.append(squares, max(0.0, 1 - float(squares.sum()))))


def covariance_powers(clusters: Sequence[Distribution], weights: Sequence[float], by_weight: bool) -> Times:
    """Return p_k such that draws whose scores have the correlation r share sum p_k r^k of their variance, from k = 1.

    Of the whole phase where the cluster is drawn ``by_weight``, else the mean over the clusters by ``weights``.
    """
    u = _hermite()[0]
    if by_weight:
        return _powers(mixture_quantiles(clusters, weights, u))
    total = np.zeros(_DEGREES + 1)
    for cluster, weight in zip(clusters, weights, strict=True):
        total += weight * _powers(quantiles(cluster, u))
    return np.asarray(total / total.sum()) if total.sum() > 0 else total


def mixture_quantiles(clusters: Sequence[Distribution], weights: Sequence[float], probability: Times) -> Times:
    """Return quantiles [s] among the times of all clusters, of which the last has the shortest."""
    order = range(len(clusters) - 1, -1, -1)
    edges = np.cumsum([weights[i] for i in order])
    place = np.minimum(np.searchsorted(edges, probability, side="right"), len(clusters) - 1)
    found = np.empty_like(probability)
    for position, i in enumerate(order):
        here = place == position
        within = (probability[here] - (edges[position] - weights[i])) / max(weights[i], 1e-300)
        found[here] = quantiles(clusters[i], np.clip(within, 0, 1))
    return found


def correlation_of(share: float, powers: Times) -> float:
    """Return the correlation of scores at which draws share ``share`` of their variance."""
    if share <= 0 or powers.sum() <= 0:
        return 0.0
    if share >= 1:
        return 1.0
    low, high = 0.0, 1.0
    degrees = np.arange(1, powers.size + 1)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float(powers @ middle**degrees) < share else (low, middle)
    return (low + high) / 2


def persistence(shares: Shares | None, powers: Times) -> Persistence | None:
    """Return ``shares`` with the correlations that replay them."""
    if shares is None:
        return None
    node = correlation_of(shares.node[0], powers) if shares.node else 0.0
    both = correlation_of(min(1.0, shares.rank[0] + (shares.node[0] if shares.node else 0.0)), powers)
    return Persistence(
        ranks=shares.ranks,
        nodes=shares.nodes,
        between_ranks=_part(shares.rank, max(0.0, both - node)),
        between_nodes=_part(shares.node, node) if shares.node else None,
    )


def _part(share: tuple[float, float, float], correlation: float) -> Part:
    middle, low, high = (min(1.0, max(0.0, value)) for value in share)
    return Part(share=middle, low=min(low, middle), high=max(high, middle), correlation=correlation)


def common_share(differences: npt.NDArray[np.float64], variances: Times) -> float:
    """Return the share of a rank's persistent differences that all its units (phases, clusters) have in common.

    ``differences`` [rank, unit] are what a rank's executions of a unit take longer than the mean, summed up [s] (0
    where it has none); ``variances`` [unit] is the part of their variance over ranks that persists [s^2]. Solves
    Var(sum) = sum v_u + c sum_{u != w} sqrt(v_u v_w) for c.
    """
    ranks = differences.shape[0]
    if ranks < 2:
        return 0.0
    centred = differences - differences.mean(axis=0)
    covariances = centred.T @ centred / (ranks - 1)
    # Executions of different units have independent noise, so that their covariance is of what persists alone.
    between = float(covariances.sum() - np.trace(covariances))
    possible = float(np.sqrt(variances).sum() ** 2 - variances.sum())
    return min(1.0, max(0.0, between / possible)) if possible > 0 else 0.0
