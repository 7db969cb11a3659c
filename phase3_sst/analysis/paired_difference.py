"""The difference of two projected times, replica by replica, and whether it matters.

In: seconds by replica of both, which have the same draws. Out: a :class:`PairedDifference`. Studies and the explorer
judge differences here and nowhere else. A difference matters where its sign is settled (its interval excludes zero) and
it is above the experiment's ``relevant_difference``, a share of the time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from manynode.report.wording import count, percent
from phase3_sst.analysis.projection_tables import bootstrap_interval


@dataclass(frozen=True)
class PairedDifference:
    """One time less another one [s], mean over the replicas that both have, with its bootstrap interval.

    ``share`` is of the other's mean time. ``probability``: that the first is faster in a further pair of runs.
    ``settled``: the interval excludes zero. ``more``: further replicas that would probably settle it; NaN if unknown.
    ``relevant`` is the share from which on differences matter.
    """

    difference_s: float
    low_s: float
    high_s: float
    share: float
    probability: float
    settled: bool
    verdict: Literal["matters", "irrelevant", "open"]
    replicas: int
    more: float
    relevant: float

    def words(self, models: float | None) -> str:
        """Return the verdict beside the paired error of the models (a share; None: not known)."""
        if self.verdict == "irrelevant":
            return f"no difference that matters (less than {percent(self.relevant)})"
        if self.verdict == "open":
            return (
                "not settled"
                if math.isnan(self.more)
                else f"not settled: about {count(int(self.more), 'replica')} more"
            )
        if models is not None and abs(self.share) <= models:
            return f"settled by the draws, but within the models' paired error of {percent(models)}"
        return "settled"


def paired_difference(
    times_s: Mapping[int, float],
    others_s: Mapping[int, float],
    *,
    relevant: float,
    confidence: float,
    rng: np.random.Generator,
    drawn: bool,
) -> PairedDifference:
    """Return ``times_s`` less ``others_s``; without a common replica it is a ValueError.

    ``drawn``: the times depend on draws. A single replica then settles nothing.
    """
    replicas = sorted(times_s.keys() & others_s.keys())
    if not replicas:
        raise ValueError("no common replica")
    gaps = np.array([times_s[replica] - others_s[replica] for replica in replicas])
    other = float(np.mean([others_s[replica] for replica in replicas]))
    low, high = bootstrap_interval(list(gaps), confidence, rng)
    mean, certain = float(gaps.mean()), len(gaps) > 1 or not drawn
    settled = certain and (low > 0 or high < 0)
    verdict: Literal["matters", "irrelevant", "open"] = "open"
    if settled and abs(mean) > relevant * other:
        verdict = "matters"
    elif settled or (certain and max(-low, high) <= relevant * other):
        verdict = "irrelevant"
    return PairedDifference(
        difference_s=mean,
        low_s=low,
        high_s=high,
        share=mean / other if other > 0 else math.nan,
        probability=probability(-gaps),
        settled=settled,
        verdict=verdict,
        replicas=len(gaps),
        more=further_replicas(gaps, confidence) if verdict == "open" else 0.0,
        relevant=relevant,
    )


def probability(gaps: np.ndarray) -> float:
    """Return the probability that the next gap is above zero: ties count half; one success and one failure are added.

    This is the posterior mean of a rate under Laplace's prior. A few replicas alone would often give 1.
    """
    wins = float((gaps > 0).sum() + 0.5 * (gaps == 0).sum())
    return (wins + 1) / (len(gaps) + 2)


def further_replicas(gaps: np.ndarray, confidence: float) -> float:
    """Return how many more replicas would make the normal interval of the mean gap exclude zero.

    NaN if unknown: a single replica, or a mean gap of zero.
    """
    from scipy.stats import norm

    mean = float(abs(gaps.mean()))
    if len(gaps) < 2 or mean == 0:
        return math.nan
    wanted = (float(norm.ppf(0.5 + confidence / 2)) * float(gaps.std(ddof=1)) / mean) ** 2
    return float(max(1, math.ceil(wanted) - len(gaps)))
