"""Interpolates timing profiles between a few sizes of a rank's part.

Over short ranges, compute times follow powers of the size. Every quantile is therefore interpolated linearly in the
logarithms of time and work, between the two neighbouring sizes. Clusters are matched by their places if both sizes have
patterns of the same length; otherwise the phase becomes one cluster. Rank classes are matched by their ranks
(:mod:`phase3_sst.studies.strong.common_classes`). The error at a held-out size is in :func:`errors`. Beyond the sizes,
the power between the two nearest ones holds on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from manynode.timing_profile import (
    Cdf,
    ClassTimes,
    ClusterTimes,
    PhaseTimes,
    SequencePattern,
    TimingProfile,
    Variance,
    WeightsPattern,
    neighbours,
)
from phase3_sst.studies.strong.common_classes import common_classes

ERRORS_SCHEMA = "strong-interpolation/1"

_GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True)
class Times:
    """The timing profile of a size, and its rank classes (``rank-classes/1``)."""

    profile: TimingProfile
    classes: Mapping[str, Any]


def at_work(sizes: Mapping[float, Times], work: float) -> Times:
    """Return the times at ``work``, from the two of ``sizes`` that are nearest to it on both sides, or else on one.

    A rank's times are interpolated between those of its class at one size and of its class at the other.
    """
    if work in sizes:
        return sizes[work]
    low, high = neighbours(sizes, work)
    part = math.log(work / low) / math.log(high / low)
    near = sizes[low if part < 0.5 else high].profile
    document, pairs = common_classes(sizes[low].classes, sizes[high].classes)
    lows, highs = ({entry.name: entry for entry in sizes[size].profile.classes} for size in (low, high))
    held = list(document["rank_class"].values())
    classes = [
        _class(lows[one], highs[other], part).model_copy(update={"name": name, "share": held.count(name) / len(held)})
        for name, (one, other) in pairs.items()
    ]
    return Times(near.model_copy(update={"classes": classes}), document)


def errors(predicted: Times, measured: Times) -> pd.DataFrame:
    """Return a row per class and phase of a held-out size.

    rank_class, phase, share (of the class's compute time), measured_s, interpolated_s (mean of an execution, over the
    profiled ranks of the class), error (interpolated over measured, less 1; NaN where the measured mean is 0).
    """
    rows = []
    means = {(entry.name, phase.name): phase.mean_s for entry in predicted.profile.classes for phase in entry.phases}
    for entry in measured.profile.classes:
        ranks = [rank for rank, name in measured.classes["rank_class"].items() if name == entry.name]
        total = sum(phase.count * phase.mean_s for phase in entry.phases)
        # A node that runs alone replays one class; it has no ranks of others.
        for phase in entry.phases if ranks else ():
            found = [means.get((predicted.classes["rank_class"][rank], phase.name), 0.0) for rank in ranks]
            mean = sum(found) / len(found)
            rows.append(
                {
                    "rank_class": entry.name,
                    "phase": phase.name,
                    "share": phase.count * phase.mean_s / total if total > 0 else 0.0,
                    "measured_s": phase.mean_s,
                    "interpolated_s": mean,
                    "error": mean / phase.mean_s - 1 if phase.mean_s > 0 else math.nan,
                }
            )
    return pd.DataFrame(rows)


def _class(low: ClassTimes, high: ClassTimes, part: float) -> ClassTimes:
    near = low if part < 0.5 else high
    others = {phase.name: phase for phase in high.phases}
    phases = [_phase(phase, others[phase.name], part) for phase in low.phases if phase.name in others]
    # A phase that only one of the sizes has is copied.
    shared = {phase.name for phase in phases}
    phases += [phase for phase in (*low.phases, *high.phases) if phase.name not in shared]
    return near.model_copy(update={"phases": phases})


def _phase(low: PhaseTimes, high: PhaseTimes, part: float) -> PhaseTimes:
    near = low if part < 0.5 else high
    pairs, pattern = _matched(low, high, near)
    clusters = [_cluster(a, b, part) for a, b in pairs]
    total = sum(cluster.weight for cluster in clusters)
    clusters = [cluster.model_copy(update={"weight": cluster.weight / total}) for cluster in clusters]
    variance = {
        name: float(_between(np.array(getattr(low.variance, name)), np.array(getattr(high.variance, name)), part))
        for name in Variance.model_fields
    }
    return near.model_copy(
        update={
            "mean_s": sum(cluster.weight * cluster.mean_s for cluster in clusters),
            "clusters": clusters,
            "pattern": pattern,
            "variance": Variance(**variance),
        }
    )


def _matched(
    low: PhaseTimes, high: PhaseTimes, near: PhaseTimes
) -> tuple[list[tuple[ClusterTimes, ClusterTimes]], SequencePattern | WeightsPattern]:
    """Return the pairs of clusters that belong together and their pattern, with the agreement of the size ``near``.

    Where both sizes have a pattern of one length, two clusters belong together if they have a place in common. How
    often it came and how well it fits may differ.
    """
    if len(low.clusters) == len(high.clusters) == 1:
        return [(low.clusters[0], high.clusters[0])], near.pattern
    if (
        isinstance(low.pattern, SequencePattern)
        and isinstance(high.pattern, SequencePattern)
        and isinstance(near.pattern, SequencePattern)
        and (len(low.pattern.sequence), low.pattern.prefix) == (len(high.pattern.sequence), high.pattern.prefix)
    ):
        places = list(zip(low.pattern.sequence, high.pattern.sequence, strict=True))
        distinct = sorted(set(places))
        pairs = [_at_places(low, high, pair, places) for pair in distinct]
        sequence = [distinct.index(pair) for pair in places]
        return pairs, near.pattern.model_copy(update={"sequence": sequence})
    return [(_one(low), _one(high))], WeightsPattern(kind="weights")


def _at_places(
    low: PhaseTimes, high: PhaseTimes, pair: tuple[int, int], places: Sequence[tuple[int, int]]
) -> tuple[ClusterTimes, ClusterTimes]:
    """Return a pair of clusters; each has the part of its weight that its places with the other have."""
    shared = places.count(pair)
    found = []
    for side, phase in enumerate((low, high)):
        cluster = phase.clusters[pair[side]]
        part = shared / sum(place[side] == pair[side] for place in places)
        found.append(
            cluster.model_copy(update={"weight": cluster.weight * part, "count": max(1, round(cluster.count * part))})
        )
    return found[0], found[1]


def _cluster(low: ClusterTimes, high: ClusterTimes, part: float) -> ClusterTimes:
    times = _between(_quantiles(low.cdf), _quantiles(high.cdf), part)
    # Rounding must not make a quantile smaller than the previous one.
    times = np.maximum.accumulate(times)
    return ClusterTimes(
        mean_s=float(_between(np.array(low.mean_s), np.array(high.mean_s), part)),
        count=min(low.count, high.count),
        weight=_shared(low.weight, high.weight, part),
        cdf=Cdf(time_s=times.tolist(), probability=_GRID.tolist()),
    )


def _shared(low: float, high: float, part: float) -> float:
    """Return a weight between two; beyond them, the nearer one."""
    inside = min(max(part, 0.0), 1.0)
    return (1 - inside) * low + inside * high


def _one(phase: PhaseTimes) -> ClusterTimes:
    """Return all clusters of a phase as one."""
    if len(phase.clusters) == 1:
        return phase.clusters[0]
    times = np.concatenate([_quantiles(cluster.cdf) for cluster in phase.clusters])
    weights = np.concatenate([np.full(len(_GRID), cluster.weight / len(_GRID)) for cluster in phase.clusters])
    order = np.argsort(times, kind="stable")
    shares = np.cumsum(weights[order]) - weights[order] / 2
    mixed = np.interp(_GRID, shares / weights.sum(), times[order])
    return ClusterTimes(
        mean_s=sum(cluster.weight * cluster.mean_s for cluster in phase.clusters),
        count=sum(cluster.count for cluster in phase.clusters),
        weight=1.0,
        cdf=Cdf(time_s=mixed.tolist(), probability=_GRID.tolist()),
    )


def _quantiles(cdf: Cdf) -> np.ndarray:
    """Return the times [s] at the probabilities of the grid."""
    return np.interp(_GRID, _rising(cdf.probability), cdf.time_s)


def _rising(probability: Sequence[float]) -> np.ndarray:
    """Return strictly increasing probabilities for numpy: steps of a distribution get a negligible width."""
    return np.asarray(np.asarray(probability, dtype=float) + np.arange(len(probability)) * 1e-12)


def _between(low: np.ndarray, high: np.ndarray, part: float) -> np.ndarray:
    """Return the value at share ``part`` between both, in logarithms; linearly if one of them is 0."""
    linear = np.maximum((1 - part) * low + part * high, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.exp((1 - part) * np.log(low) + part * np.log(high))
    return np.asarray(np.where((low > 0) & (high > 0), powers, linear))
