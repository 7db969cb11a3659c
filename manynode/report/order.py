"""In words: phases whose times differ by factors, in no order that could be told from chance.

Phase 3 draws such times at random, on each rank for itself, and ranks wait for the longest. If they have an order that
too few executions do not show (the layers of a network, the levels of a grid), the projection is too long.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from manynode.report.wording import count, duration, listing, percent
from manynode.slowest import mixed_quantile
from manynode.timing_profile import TimingProfile

# A phase with a smaller share of the computation changes little; what noise does to times is mostly below the ratio.
LEAST_SHARE, LEAST_RATIO = 0.05, 3.0
TAIL = 0.1


def order_words(profile: TimingProfile | None, labels: Mapping[str, str]) -> str:
    """Return sentences about the phases of ``profile`` whose order is not known; ``labels`` are the phases' names."""
    if profile is None or not profile.compute_s:
        return ""
    found = {}
    for part in profile.classes:
        for phase in part.phases:
            share = phase.mean_s * phase.count / profile.compute_s
            often = phase.count > len(part.simulated_ranks)
            if phase.pattern.kind == "weights" and often and share >= LEAST_SHARE:
                high, low = mixed_quantile(phase, np.array([TAIL, 1 - TAIL]), tail=False).tolist()
                if high >= LEAST_RATIO * low:
                    found[phase.name] = (
                        f"{labels.get(phase.name, phase.name)} ({count(phase.count, 'execution')}, "
                        f"{percent(TAIL)} below {duration(low)}, {percent(TAIL)} above {duration(high)})"
                    )
    if not found:
        return ""
    phases = listing(list(found.values()))
    return (
        f"These times differ by factors, in no order that could be told from chance: {phases}. They are drawn "
        "at random, on each rank for itself. If they have an order, the projections with variable times are too long; "
        "more iterations in the node simulation would show it."
    )
