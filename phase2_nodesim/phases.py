"""Executions of one compute phase -> clusters, pattern, distributions, split of the variance, persistent differences.

In: the segments of a phase of one class. Out: the phase of a timing profile. Clusters are those of all ranks of a class
together. If the class follows a pattern, an execution counts for the cluster given by the pattern (an outlier is then
part of that cluster's tail). A replay of the pattern thereby keeps the phase's mean. Clusters and pattern, found once,
are separate from the estimates (distributions, shares), which can be repeated for resamples.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from manynode.timing_profile import (
    Cdf,
    ClusterTimes,
    PhaseTimes,
    SequencePattern,
    Variance,
    WeightsPattern,
)
from phase2_nodesim.distributions import Cluster, Labels, Times, cluster_labels, sample_mean, summarise
from phase2_nodesim.levels import by_level, common_levels, common_variance
from phase2_nodesim.order import order_of_ranks
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.patterns import Pattern, common_pattern, common_series
from phase2_nodesim.persistence import common_share, covariance_powers, persistence, variance_shares
from phase2_nodesim.tail import fit_tail
from phase2_nodesim.waits import mean_waited_s, of_host


@dataclass(frozen=True)
class PhaseSeries:
    """All executions of a phase, sorted by rank and then in order: time [s], cluster, rank, node; their pattern."""

    name: str
    times: Times
    labels: Labels
    ranks: Labels
    nodes: Labels
    pattern: Pattern | None
    waited_s: float | None = None
    """Mean time [s] that a rank waited for a core in an execution; None where it is not known."""

    @property
    def units(self) -> Labels:
        """Return the units in which ranks differ: the cluster, or the whole phase if the cluster is drawn by weight."""
        return self.labels if self.pattern is not None else np.zeros_like(self.labels)


def variance_split(times: Times, labels: Labels, ranks: Labels) -> Variance:
    """Return the variance of ``times`` [s] around their cluster's mean, split between and within ranks.

    Law of total variance within each cluster, pooled by count: sum n_cr (m_cr - m_c)^2 / N + sum (t - m_cr)^2 / N.
    """
    _, group = np.unique(labels * (int(ranks.max()) + 1) + ranks, return_inverse=True)
    by_cluster = (np.bincount(labels, times) / np.maximum(np.bincount(labels), 1))[labels]
    by_rank = (np.bincount(group, times) / np.bincount(group))[group]
    between = float(((by_rank - by_cluster) ** 2).mean())
    within = float(((times - by_rank) ** 2).mean())
    return Variance(between_ranks_s2=between, within_rank_s2=within, total_s2=between + within)


def _pattern_labels(labels: Labels, starts: Labels, pattern: Pattern) -> Labels:
    """Return the pattern's cluster for each execution; within the prefix, the execution's own cluster."""
    expected = np.concatenate([pattern.expected(int(size)) for size in np.diff(np.append(starts, labels.size))])
    return np.where(expected >= 0, expected, labels)


def _with_pattern(
    times: Times, labels: Labels, starts: Labels, parameters: FitParameters, *, levels: bool
) -> tuple[Labels, Pattern | None]:
    """Return the finest clusters that follow a pattern, with it; or the given clusters and None.

    Noise may split what a pattern visits as one (a short phase with and without an interruption). So where the clusters
    have no pattern, the two with the nearest means are joined, and so on: times drawn at their place in the pattern say
    more than finer clusters drawn at random. A pattern that is repeated comes before what all ranks have in common at
    an execution (levels of time, or the same cluster): it also tells what more iterations do. Levels come first where
    it leaves much in common.
    """
    repeated = _coarsened(common_pattern, times, labels, starts, parameters)
    sizes = np.diff(np.append(starts, times.size))
    if levels and (sizes == sizes[0]).all():
        table = times.reshape(sizes.size, -1)
        level = common_levels(table, parameters)
        if level is not None and (repeated is None or _leaves_much(*repeated, table, starts, parameters)):
            return np.tile(level, sizes.size), Pattern(tuple(level.tolist()), 1, 1.0)
    if repeated is not None:
        return repeated
    return _coarsened(common_series, times, labels, starts, parameters) or (labels, None)


def _leaves_much(labels: Labels, pattern: Pattern, table: Times, starts: Labels, parameters: FitParameters) -> bool:
    """Return whether ranks (rows) have much in common at an execution (columns) that the pattern does not tell."""
    told = _pattern_labels(labels, starts, pattern)
    left = table - by_level(table.ravel(), told).reshape(table.shape)
    whole = common_variance(table)
    return common_variance(left).common_s2 >= parameters.least_common * (whole.common_s2 + whole.rest_s2)


def _coarsened(
    search: Callable[[Sequence[Labels], int, FitParameters], Pattern | None],
    times: Times,
    labels: Labels,
    starts: Labels,
    parameters: FitParameters,
) -> tuple[Labels, Pattern] | None:
    """Return the finest clusters in which ``search`` finds a pattern, the two nearest joined again and again."""
    while (count := int(labels.max()) + 1) >= 2:
        pattern = search(np.split(labels, starts[1:]), count, parameters)
        if pattern is not None:
            return labels, pattern
        means = np.array([times[labels == label].mean() for label in range(count)])
        nearest = int(np.argmax(means[1:] / means[:-1]))
        labels = np.where(labels > nearest, labels - 1, labels)
    return None


def labelled(name: str, segments: pd.DataFrame, parameters: FitParameters) -> PhaseSeries:
    """Return the phase of one class with its clusters; ``segments`` are sorted by rank and sequence.

    Times of a host have no levels: what its ranks have in common is the host's noise, which other hosts do not share.
    """
    times = segments["compute_s"].to_numpy(dtype=np.float64)
    ranks = segments["rank"].to_numpy(dtype=np.int64)
    nodes = segments["node"].to_numpy(dtype=np.int64)
    starts = np.flatnonzero(np.concatenate([[True], ranks[1:] != ranks[:-1]]))
    fine = cluster_labels(times, parameters)
    labels, pattern = _with_pattern(times, fine, starts, parameters, levels=not of_host(segments))
    if pattern is not None:
        told = _pattern_labels(labels, starts, pattern)
        means = [sample_mean(times[told == label]) for label in range(int(labels.max()) + 1)]
        if all(a > b for a, b in itertools.pairwise(means)):
            labels = told
    return PhaseSeries(name, times, labels, ranks, nodes, pattern, mean_waited_s(segments))


def described(series: PhaseSeries, parameters: FitParameters) -> PhaseTimes:
    """Return the phase as distributions, with its persistent differences."""
    clusters = summarise(series.times, series.labels, parameters)
    pattern = series.pattern
    words = (
        WeightsPattern(kind="weights")
        if pattern is None
        else SequencePattern(
            kind="sequence",
            sequence=list(pattern.sequence),
            repeat=pattern.repeat,
            agreement=pattern.agreement,
            prefix=pattern.prefix,
            percentiles=_order(series, pattern, parameters),
        )
    )
    shares = variance_shares(series.times, series.units, series.ranks, series.nodes)
    powers = covariance_powers(
        [cluster.distribution for cluster in clusters], [cluster.weight for cluster in clusters], pattern is None
    )
    return PhaseTimes(
        name=series.name,
        count=series.times.size,
        mean_s=sample_mean(series.times),
        clusters=[
            _cluster(cluster, series.times[series.labels == label], parameters)
            for label, cluster in enumerate(clusters)
        ],
        pattern=words,
        variance=variance_split(series.times, series.labels, series.ranks),
        persistence=persistence(shares, powers),
        waited_s=series.waited_s,
    )


def _order(series: PhaseSeries, pattern: Pattern, parameters: FitParameters) -> list[list[int]] | None:
    """Return the order of the ranks' own times within a series that all have in common, where it tells something."""
    executions = len(pattern.sequence)
    _, counts = np.unique(series.ranks, return_counts=True)
    if pattern.repeat > 1 or pattern.prefix or (counts != executions).any():
        return None
    sequence = np.array(pattern.sequence, dtype=np.int64)
    return order_of_ranks(series.times.reshape(-1, executions), sequence, parameters)


def fit_phase(name: str, segments: pd.DataFrame, parameters: FitParameters) -> PhaseTimes:
    """Return one phase of one class; ``segments`` are its executions, sorted by rank and sequence."""
    return described(labelled(name, segments, parameters), parameters)


def common_of(series: Sequence[PhaseSeries], phases: Sequence[PhaseTimes]) -> float:
    """Return the share of a rank's persistent differences that all phases and clusters of a class have in common."""
    numbers = np.unique(np.concatenate([one.ranks for one in series]))
    differences, variances = [], []
    for one, phase in zip(series, phases, strict=True):
        if phase.persistence is None:
            continue
        nodes = phase.persistence.between_nodes
        share = phase.persistence.between_ranks.share + (nodes.share if nodes else 0.0)
        for unit in np.unique(one.units):
            own = one.units == unit
            excess = one.times[own] - one.times[own].mean()
            ranks = np.searchsorted(numbers, one.ranks[own])
            differences.append(np.bincount(ranks, excess, minlength=numbers.size).astype(np.float64))
            executions = own.sum() / np.unique(ranks).size
            variances.append(executions**2 * share * float(one.times[own].var()))
    if not differences:
        return 0.0
    return common_share(np.array(differences, dtype=np.float64).T, np.array(variances, dtype=np.float64))


def _cluster(cluster: Cluster, times: Times, parameters: FitParameters) -> ClusterTimes:
    shape = cluster.distribution
    tail = (
        None
        if parameters.tail is None
        else fit_tail(times, shape, parameters.tail, parameters.min_exceedances, parameters.goodness_resamples)
    )
    return ClusterTimes(
        mean_s=cluster.mean_s,
        count=cluster.count,
        weight=cluster.weight,
        cdf=Cdf(time_s=shape.time_s.tolist(), probability=shape.probability.tolist()),
        tail=tail,
    )
