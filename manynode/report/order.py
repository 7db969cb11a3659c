"""In words: phases whose times differ by factors, in no order that could be told from chance.

Phase 3 draws such times at random, on each rank for itself, and ranks wait for the longest. If they have an order that
too few executions do not show (the layers of a network, the levels of a grid), the projection is too long.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from manynode.report.wording import count, duration, listing, percent
from manynode.timing_profile import PhaseTimes, TimingProfile

# A phase with a smaller share of the computation changes little; what noise does to times is mostly below the ratio.
LEAST_SHARE, LEAST_RATIO = 0.05, 3.0
TAIL = 0.1


def order_words(profile: TimingProfile | None, labels: Mapping[str, str]) -> str:
    """Return sentences about the phases of ``profile`` whose order is not known; ``labels`` are the phases' names."""
    found: dict[str, tuple[PhaseTimes, float, float]] = {}
    for part in profile.classes if profile is not None else []:
        for phase in part.phases:
            share = phase.mean_s * phase.count / profile.compute_s if profile is not None and profile.compute_s else 0.0
            often = phase.count > len(part.simulated_ranks)
            if phase.pattern.kind == "weights" and often and share >= LEAST_SHARE:
                low, high = _quantiles(phase)
                if high >= LEAST_RATIO * low:
                    found.setdefault(phase.name, (phase, low, high))
    if not found:
        return ""
    phases = [
        f"{labels.get(name, name)} ({count(phase.count, 'execution')}, {percent(TAIL)} below {duration(low)}, "
        f"{percent(TAIL)} above {duration(high)})"
        for name, (phase, low, high) in found.items()
    ]
    return (
        f"These times differ by factors, in no order that could be told from chance: {listing(phases)}. They are drawn "
        "at random, on each rank for itself. If they have an order, the projections with variable times are too long; "
        "more iterations in the node simulation would show it."
    )


def _quantiles(phase: PhaseTimes) -> tuple[float, float]:
    """Return the 10th and 90th percentile [s] of the times of all clusters."""
    chances = (np.arange(100) + 0.5) / 100
    times = np.concatenate(
        [np.interp(chances, cluster.cdf.probability, cluster.cdf.time_s) for cluster in phase.clusters]
    )
    weights = np.concatenate([np.full(chances.size, cluster.weight / chances.size) for cluster in phase.clusters])
    order = np.argsort(times, kind="stable")
    reached = np.searchsorted(np.cumsum(weights[order]), [TAIL, 1 - TAIL])
    low, high = times[order][np.minimum(reached, times.size - 1)]
    return float(low), float(high)
