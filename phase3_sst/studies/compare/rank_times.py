"""Compares the ranks' time by operation in two engines, and checks that both drew the same compute times.

In: the tables of ranks of a point (``rank-times/2``), one of each engine, and the makespan [s] of the reference. Out:
tidy tables of seconds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

COMPUTE = "compute"


def breakdown_differences(ranks: pd.DataFrame, references: pd.DataFrame, makespan_s: float) -> pd.DataFrame:
    """Return mean seconds per rank by operation of job 0 in both, and the difference in [s] and relative to the
    makespan.

    An operation missing in one engine took no time there.
    """
    joined = pd.DataFrame({"seconds": _mean(ranks), "reference_seconds": _mean(references)}).fillna(0.0)
    joined["difference_s"] = joined["seconds"] - joined["reference_seconds"]
    joined["share"] = joined["difference_s"] / makespan_s if makespan_s > 0 else 0.0
    return joined.rename_axis("operation").sort_index().reset_index()


def _mean(ranks: pd.DataFrame) -> pd.Series[float]:
    """Return job 0's mean seconds per rank in each operation, over ranks and replicas."""
    own = ranks[ranks["job"] == 0]
    count = len(own[["replica", "rank"]].drop_duplicates())
    return own.groupby("operation")["seconds"].sum() / max(1, count)


@dataclass(frozen=True)
class ComputeTimes:
    """The number of compared compute times, the largest difference [s], and its rank."""

    compared: int
    largest_s: float
    whose: str


def compute_difference(ranks: pd.DataFrame, references: pd.DataFrame, jobs: Collection[int]) -> ComputeTimes:
    """Return the largest absolute difference of the seconds that a rank of ``jobs`` computes in a replica.

    ``jobs`` excludes background jobs, because their number of restarts depends on the other jobs' time. A rank missing
    in one engine computes for no time there.
    """
    joined = pd.DataFrame({"a": _computing(ranks, jobs), "b": _computing(references, jobs)}).fillna(0.0)
    if joined.empty:
        return ComputeTimes(0, 0.0, "")
    differences = (joined["a"] - joined["b"]).abs()
    replica, job, rank = differences.idxmax()
    return ComputeTimes(len(joined), float(differences.max()), f"replica {replica}, job {job}, rank {rank}")


def _computing(ranks: pd.DataFrame, jobs: Collection[int]) -> pd.Series[float]:
    own = ranks[(ranks["operation"] == COMPUTE) & ranks["job"].isin(list(jobs))]
    return own.groupby(["replica", "job", "rank"])["seconds"].sum()
