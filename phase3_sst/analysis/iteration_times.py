"""Variation of iterations and ranks at a point: percentiles of the iteration time, the slowest rank's computation.

In: the replicas of a point (``network-result/2``) and its table of ranks. Out: a row of the table ``iterations/1``, in
seconds: iterations (of all replicas together), p05_s to p99_s and max_s (of the time of an iteration, which ends when
its last rank does), compute_s (mean computation of a rank in the whole run), slowest_compute_s (of the slowest rank:
the mean over the replicas).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

ITERATIONS_SCHEMA = "iterations/1"

PERCENTILES = (5, 25, 50, 75, 95, 99)


def lengths(ends_s: Sequence[float]) -> np.ndarray:
    """Return the lengths of the iterations [s]; without the first, which includes the set-up, if there are several."""
    found = np.diff([0.0, *ends_s])
    return found[1:] if len(found) > 1 else found


def row(replicas: Sequence[dict[str, Any]], ranks: pd.DataFrame) -> dict[str, float]:
    """Return the row of one point, of job 0."""
    times = np.concatenate([lengths(replica["jobs"][0]["iteration_end_s"]) for replica in replicas])
    computing = ranks[(ranks["job"] == 0) & (ranks["operation"] == "compute")]
    by_rank = computing.groupby(["replica", "rank"])["seconds"].sum()
    found = dict(zip(PERCENTILES, np.percentile(times, PERCENTILES), strict=True)) if len(times) else {}
    return {
        "iterations": float(len(times)),
        **{f"p{percentile:02d}_s": float(value) for percentile, value in found.items()},
        "max_s": float(times.max()) if len(times) else float("nan"),
        "compute_s": float(by_rank.mean()) if len(by_rank) else 0.0,
        "slowest_compute_s": float(by_rank.groupby("replica").max().mean()) if len(by_rank) else 0.0,
    }
