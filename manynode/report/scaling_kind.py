"""Whether an experiment's arguments mean weak or strong scaling, from the work of a rank in jobs of several sizes.

In: the counters of phase 1. Out: sentences. The program has the same arguments at every number of nodes, and every node
count is projected with the compute times of one measured job: right if a rank's work does not depend on the job's size.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from manynode.report.wording import count

# Ranks at the edges have less to do: the work of a rank is "the same" within these factors.
_SAME = (0.8, 1.25)


def work_per_rank(counters: pd.DataFrame) -> dict[int, float]:
    """Return the mean instructions of a rank by nodes of the profiled job; seconds where none are counted."""
    whole = counters[counters["phase"] == ""]
    for column in ("instructions", "seconds"):
        if column in whole and (means := whole.groupby("nodes")[column].mean()).gt(0).all():
            return {int(str(nodes)): float(mean) for nodes, mean in means.items()}
    return {}


@dataclass(frozen=True)
class ScalingKind:
    """``words`` are empty if only one size was profiled; ``holds``: compute times are those of the projected jobs."""

    words: str
    holds: bool


def scaling_kind(work: Mapping[int, float], projected: Collection[int], measured: int) -> ScalingKind:
    """Return what a rank's work by nodes says of ``projected`` node counts with compute times of ``measured`` nodes."""
    if len(work) < 2:
        return ScalingKind("", True)
    small, large = min(work), max(work)
    ratio = work[large] / work[small]
    same = _SAME[0] <= ratio <= _SAME[1]
    kind = "Weak" if same else "Strong" if ratio < 1 else "Neither weak nor strong"
    words = (
        f"{kind} scaling: a rank on {count(large, 'node')} has {ratio:.2f} times the work of one on "
        f"{count(small, 'node')}."
    )
    if same or set(projected) <= {measured}:
        return ScalingKind(words, True)
    return ScalingKind(
        f"{words} All points have compute times measured on {count(measured, 'node')}, which are wrong for others. "
        "Choose arguments with which a rank keeps its work, measure jobs of several sizes (manynode strong), or "
        "project one node count, measured at its own size.",
        False,
    )
