"""Whether an experiment's arguments mean weak or strong scaling, from the work of a rank in jobs of several sizes.

In: the counters of phase 1. Out: sentences. The program has the same arguments at every number of nodes, and every node
count is projected with the compute times of one measured job: right if a rank's work does not depend on the job's size.
"""

from __future__ import annotations

from collections.abc import Mapping

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


def is_same(work: Mapping[int, float]) -> bool:
    """Say whether a rank has the same work in the smallest and in the largest profiled job."""
    return not work or _SAME[0] <= work[max(work)] / work[min(work)] <= _SAME[1]


def scaling_words(work: Mapping[int, float]) -> str:
    """Return the sentences on a rank's work by nodes; empty if only one size was profiled."""
    if len(work) < 2:
        return ""
    small, large = min(work), max(work)
    ratio = work[large] / work[small]
    kind = "Weak" if is_same(work) else "Strong" if ratio < 1 else "Neither weak nor strong"
    text = (
        f"{kind} scaling: with the same arguments, a rank on {count(large, 'node')} has {ratio:.2f} times the work of "
        f"one on {count(small, 'node')}."
    )
    if is_same(work):
        return text
    return text + (
        " Every node count has the compute times of one measured job size, which are wrong for other node counts. "
        "Choose arguments with which a rank keeps its work, or project the measured node count alone."
    )
