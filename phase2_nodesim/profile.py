"""Segments -> timing profile: classes, phases, clusters, patterns, the split of the variance.

In: the segments of all simulated ranks and the class of each. Out: the ``classes`` of a timing profile. Clusters are
those of all ranks of a class together; where the class follows a pattern, an execution counts for the cluster that the
pattern says (an outlier is then part of that cluster's tail), so that a replay of the pattern keeps the phase's mean.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from manynode.errors import InputError
from manynode.timing_profile import (
    Cdf,
    ClassTimes,
    ClusterTimes,
    PhaseTimes,
    SequencePattern,
    Variance,
    WeightsPattern,
)
from phase2_nodesim.distributions import Cluster, Labels, Times, cluster_labels, sample_mean, summarise
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.patterns import Pattern, common_pattern


def without_warmup(segments: pd.DataFrame, warmup: int) -> pd.DataFrame:
    """Return the segments without warm-up.

    That is what the application marks (``MPI_Pcontrol(1, "warm-up")``), and of the rest the first ``warmup``
    executions of each phase on each rank. A phase that a rank executes no more often than that keeps all its
    executions there: it must not vanish.
    """
    segments = segments[~segments["warm_up"]]
    if warmup == 0 or segments.empty:
        return segments
    groups = segments.groupby(["rank", "phase"], sort=False)["sequence"]
    return segments[(groups.cumcount() >= warmup) | (groups.transform("size") <= warmup)]


def skipped_seconds(segments: pd.DataFrame, kept: pd.DataFrame) -> float:
    """Return the time [s] that no skeleton replays: warm-up, and unlabelled phases where phases are labelled."""
    skipped = segments["compute_s"].sum() - kept["compute_s"].sum()
    if kept["labelled"].any():
        skipped += kept.loc[~kept["labelled"], "compute_s"].sum()
    return max(0.0, float(skipped))


def class_of_ranks(rank_classes: Mapping[str, Any], simulated: Sequence[int], ranks: int) -> dict[int, str]:
    """Return the class of each simulated rank of a job with ``ranks`` ranks.

    A job of the profiled size has the profiled classes. In another one, a rank with a fixed place (the first, the last)
    has that place's class, and any other the class of the profiled rank of its number; one beyond the profiled ranks
    has a class only when all ranks without fixed place share one. Else it is an :class:`InputError`.
    """
    profiled: Mapping[str, str] = rank_classes["rank_class"]
    fixed: Mapping[str, str] = rank_classes.get("assignment", {}).get("fixed", {})
    shares: Mapping[str, float] = rank_classes.get("assignment", {}).get("shares", {})
    floating = [name for name, share in shares.items() if share > 0]
    found = {}
    for rank in simulated:
        if len(profiled) == ranks:
            name = profiled[str(rank)]
        else:
            name = (
                fixed.get(str(rank))
                or fixed.get(str(rank - ranks))
                or profiled.get(str(rank))
                or (floating[0] if len(floating) == 1 else "")
            )
        if not name:
            raise InputError(
                "a simulated rank has no class",
                where=f"rank {rank} of {ranks}",
                found=f"{len(profiled)} ranks were profiled, in more than one class",
                remedy="profile a job of at least the size that phase 2 runs (profile: nodes)",
            )
        found[rank] = name
    return found


def missing_class_error(name: str, rank_classes: Mapping[str, Any], ranks_per_node: int) -> InputError:
    """Return the error for a class of which no rank was simulated; it names the nodes that have such ranks."""
    ranks = sorted(int(rank) for rank, entry in rank_classes["rank_class"].items() if entry == name)
    nodes = sorted({rank // ranks_per_node for rank in ranks})
    return InputError(
        f"no rank of class {name!r} was simulated",
        where="rank classes against segments",
        found=f"the class has {len(ranks)} profiled ranks, such as {', '.join(map(str, ranks[:5]))}",
        remedy=f"simulate one of the nodes {', '.join(map(str, nodes[:10]))} as well",
    )


def variance_split(times: Times, labels: Labels, ranks: Labels) -> Variance:
    """Return the variance of ``times`` [s] around their cluster's mean, split between and within ranks.

    Law of total variance within each cluster, pooled by count: sum n_cr (m_cr - m_c)^2 / N + sum (t - m_cr)^2 / N.
    """
    frame = pd.DataFrame({"time": times, "cluster": labels, "rank": ranks})
    by_cluster = frame.groupby("cluster")["time"].transform("mean")
    by_rank = frame.groupby(["cluster", "rank"])["time"].transform("mean")
    between = float(((by_rank - by_cluster) ** 2).mean())
    within = float(((frame["time"] - by_rank) ** 2).mean())
    return Variance(between_ranks_s2=between, within_rank_s2=within, total_s2=between + within)


def _pattern_labels(labels: Labels, starts: Labels, pattern: Pattern) -> Labels:
    """Return the cluster that the pattern says for each execution; within its prefix, the cluster it has."""
    expected = np.concatenate([pattern.expected(int(size)) for size in np.diff(np.append(starts, labels.size))])
    return np.where(expected >= 0, expected, labels)


def _with_pattern(
    times: Times, labels: Labels, starts: Labels, parameters: FitParameters
) -> tuple[Labels, Pattern | None]:
    """Return the finest clusters that follow a pattern, with it; or the given clusters and None.

    Noise may split what a pattern visits as one (a short phase with and without an interruption). So where the clusters
    have no pattern, the two with the nearest means are joined, and so on: times drawn at their place in the pattern say
    more than finer clusters drawn at random.
    """
    coarser = labels
    while (count := int(coarser.max()) + 1) >= 2:
        pattern = common_pattern(np.split(coarser, starts[1:]), count, parameters)
        if pattern is not None:
            return coarser, pattern
        means = np.array([times[coarser == label].mean() for label in range(count)])
        nearest = int(np.argmax(means[1:] / means[:-1]))
        coarser = np.where(coarser > nearest, coarser - 1, coarser)
    return labels, None


def fit_phase(name: str, segments: pd.DataFrame, parameters: FitParameters) -> PhaseTimes:
    """Return one phase of one class; ``segments`` are its executions, sorted by rank and sequence."""
    times = segments["compute_s"].to_numpy(dtype=np.float64)
    ranks = segments["rank"].to_numpy(dtype=np.int64)
    starts = np.flatnonzero(np.concatenate([[True], ranks[1:] != ranks[:-1]]))
    labels, pattern = _with_pattern(times, cluster_labels(times, parameters), starts, parameters)
    if pattern is not None:
        told = _pattern_labels(labels, starts, pattern)
        means = [sample_mean(times[told == label]) for label in range(int(labels.max()) + 1)]
        if all(a > b for a, b in itertools.pairwise(means)):
            labels = told
    clusters = summarise(times, labels, parameters)
    described = (
        WeightsPattern(kind="weights")
        if pattern is None
        else SequencePattern(
            kind="sequence",
            sequence=list(pattern.sequence),
            repeat=pattern.repeat,
            agreement=pattern.agreement,
            prefix=pattern.prefix,
        )
    )
    return PhaseTimes(
        name=name,
        count=times.size,
        mean_s=sample_mean(times),
        clusters=[_cluster(cluster) for cluster in clusters],
        pattern=described,
        variance=variance_split(times, labels, ranks),
    )


def _cluster(cluster: Cluster) -> ClusterTimes:
    return ClusterTimes(
        mean_s=cluster.mean_s,
        count=cluster.count,
        weight=cluster.weight,
        cdf=Cdf(time_s=cluster.distribution.time_s.tolist(), probability=cluster.distribution.probability.tolist()),
    )


def fit_class(
    name: str, share: float, segments: pd.DataFrame, parameters: FitParameters, *, borrowed: bool = False
) -> ClassTimes:
    """Return one class; ``segments`` are those of its simulated ranks, sorted by rank and sequence."""
    return ClassTimes(
        name=name,
        share=share,
        simulated_ranks=sorted(int(rank) for rank in segments["rank"].unique()),
        borrowed=borrowed,
        phases=[fit_phase(str(phase), rows, parameters) for phase, rows in segments.groupby("phase", sort=True)],
    )


def fit_classes(
    segments: pd.DataFrame,
    rank_classes: Mapping[str, Any],
    parameters: FitParameters,
    *,
    ranks: int,
    ranks_per_node: int,
    borrow: bool = False,
) -> list[ClassTimes]:
    """Return all classes of ``rank_classes``; ``segments`` are without warm-up.

    A class without simulated rank is an :class:`InputError`, or, with ``borrow`` (a node that runs alone cannot hold
    every class), takes the times of all simulated ranks.
    """
    simulated = sorted(int(rank) for rank in segments["rank"].unique())
    classes = class_of_ranks(rank_classes, simulated, ranks)
    ordered = segments.sort_values(["rank", "sequence"], kind="stable")
    of_row = ordered["rank"].map(classes)
    fitted = []
    for entry in rank_classes["classes"]:
        name, share = str(entry["name"]), float(entry["share"])
        rows = ordered[of_row == name]
        if rows.empty and not borrow:
            raise missing_class_error(name, rank_classes, ranks_per_node)
        fitted.append(fit_class(name, share, ordered if rows.empty else rows, parameters, borrowed=rows.empty))
    return fitted
