"""The times of a simulated node as they were, in the form of a timing profile: each rank a class, each phase a series.

In: the timing profile and the segments it was fitted to. Out: a profile that draws nothing: execution n of a phase on a
rank takes what it took in the simulation. Phase 3 compares the draws of the real profile with it.
"""

from __future__ import annotations

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
)
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.profile import without_warmup


def series_profile(profile: TimingProfile, segments: pd.DataFrame, parameters: FitParameters) -> TimingProfile:
    """Return ``profile`` with the series of each rank in ``segments`` in place of its classes.

    Warm-up is left out, and unlabelled phases where phases are labelled, as no skeleton replays them.
    """
    ordered = segments.sort_values(["rank", "sequence"], kind="stable")
    kept = without_warmup(ordered, parameters.warmup)
    if kept["labelled"].any():
        kept = kept[kept["labelled"]]
    ranks = kept["rank"].nunique()
    classes = [
        ClassTimes(
            name=f"rank {rank}",
            share=1 / ranks,
            simulated_ranks=[int(rank)],
            phases=[_series(str(name), part) for name, part in rows.groupby("phase", sort=True)],
        )
        for rank, rows in kept.groupby("rank", sort=True)
    ]
    return profile.model_copy(update={"classes": classes})


def _series(name: str, rows: pd.DataFrame) -> PhaseTimes:
    """Return a phase whose clusters are its distinct times, in their order."""
    times, place, counts = np.unique(rows["compute_s"].to_numpy(np.float64), return_inverse=True, return_counts=True)
    clusters = [
        ClusterTimes(mean_s=time, count=count, weight=count / len(rows), cdf=Cdf(time_s=[time], probability=[1.0]))
        for time, count in zip(times.tolist(), counts.tolist(), strict=True)
    ]
    return PhaseTimes(
        name=name,
        count=len(rows),
        mean_s=float(rows["compute_s"].mean()),
        clusters=clusters,
        pattern=SequencePattern(kind="sequence", sequence=place.tolist(), repeat=1, agreement=1.0),
        variance=Variance(between_ranks_s2=0.0, within_rank_s2=0.0, total_s2=0.0),
    )
