"""Compute times that the user gives -> rank classes and a timing profile, in place of phases 1 and 2.

In: the section ``own_times`` of a resolved experiment. Out: ``rank-classes/1`` and ``timing-profile/1``. The times of a
phase are log-normal with the given mean and standard deviation, in 100 bins of equal probability whose means are exact.
With a spread of 0 they are constant. The share of the variance between ranks becomes a persistent part.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import norm

from manynode.config.own_times import OwnPhase, OwnTimesSection
from manynode.config.resolved import Resolved
from manynode.rank_classes import assign_classes, single_class
from manynode.timing_profile import (
    MAX_EDGES,
    Cdf,
    ClassTimes,
    ClusterTimes,
    Part,
    Persistence,
    PhaseTimes,
    TimingProfile,
    Variance,
    WeightsPattern,
)

ENGINE = "own"
SOURCE = "own times"


def rank_classes(experiment: Resolved) -> dict[str, Any]:
    """Return the rank classes (``rank-classes/1``) that the section declares; without any, all ranks are alike."""
    own = _section(experiment)
    nodes = own.nodes or 1
    ranks = nodes * experiment.ranks_per_node
    reasons = {"stability": {"stable": None, "reasons": ["the compute times are the user's own"]}, "source": SOURCE}
    if not own.classes:
        return {**single_class(ranks, nodes), **reasons}
    fixed = {str(rank): name for name, entry in own.classes.items() for rank in entry.ranks}
    rule = {"fixed": fixed, "shares": {name: entry.share for name, entry in own.classes.items()}}
    # A job of this size is assigned like one of any other size.
    of_rank = assign_classes({"rank_class": {}, "assignment": rule}, ranks, experiment.seed)
    classes = [
        {
            "name": name,
            "share": of_rank.count(name) / ranks,
            "ranks": [rank for rank, its in enumerate(of_rank) if its == name],
            "centroid": {},
            "description": "given by the user",
        }
        for name in own.classes
    ]
    return {
        **reasons,
        "reference_nodes": nodes,
        "classes": classes,
        "rank_class": {str(rank): name for rank, name in enumerate(of_rank)},
        "representative_nodes": [0],
        "coverage": 1.0,
        "assignment": rule,
    }


def timing_profile(experiment: Resolved, *, external: bool, provenance: dict[str, Any]) -> TimingProfile:
    """Return the timing profile of a mode; the loader has checked that its rows are whole."""
    own = _section(experiment)
    nodes = own.nodes or 1
    ranks = nodes * experiment.ranks_per_node
    rows = own.rows(external)
    names = list(own.classes) if external and own.classes else ["0"]
    shares = {name: entry.share for name, entry in own.classes.items()} if external else {}
    application = experiment.application
    return TimingProfile(
        application={"name": application.name, "parameters": application.parameters},
        engine=ENGINE,
        engine_version="",
        machine=own.machine or experiment.machine.name,
        external=external,
        nodes=nodes,
        ranks=ranks,
        simulated_ranks=list(range(ranks)),
        # Not known: the number of executions is the skeleton's.
        compute_s=0.0,
        skipped_s=0.0,
        classes=[
            ClassTimes(
                name=name,
                share=shares.get(name, 1.0),
                simulated_ranks=list(range(ranks)),
                phases=[phase_times(row, ranks) for row in rows if row.class_ in (None, name)],
            )
            for name in names
        ],
        provenance={**provenance, "source": own.source},
    )


def phase_times(row: OwnPhase, ranks: int) -> PhaseTimes:
    """Return the distribution of a row, with what persists on a rank."""
    variance = (row.spread * row.mean) ** 2
    between = row.between_ranks * variance
    persistence = None
    if row.between_ranks > 0:
        share = row.between_ranks
        part = Part(share=share, low=share, high=share, correlation=correlation(share, row.spread))
        persistence = Persistence(ranks=max(2, ranks), nodes=1, between_ranks=part, between_nodes=None)
    return PhaseTimes(
        name=row.phase,
        count=1,
        mean_s=row.mean,
        clusters=[ClusterTimes(mean_s=row.mean, count=1, weight=1.0, cdf=log_normal(row.mean, row.spread))],
        pattern=WeightsPattern(kind="weights"),
        variance=Variance(between_ranks_s2=between, within_rank_s2=variance - between, total_s2=variance),
        persistence=persistence,
    )


def correlation(share: float, spread: float) -> float:
    """Return the correlation of normal scores for which a share of a log-normal variance lies between ranks.

    For log-normal times with the parameter s, the covariance of two executions on a rank with scores correlated by r
    is proportional to exp(r s^2) - 1, the variance to exp(s^2) - 1 (Johnson, Kotz and Balakrishnan 1994, chapter 14).
    """
    of_log = math.log1p(spread**2)
    return min(1.0, math.log1p(share * spread**2) / of_log)


def log_normal(mean_s: float, spread: float) -> Cdf:
    """Return a log-normal distribution as edges of equal probability, with exactly this mean and standard deviation.

    The edges are quantiles; the first and the last lie at probabilities of a quarter of a bin. Between edges the
    distribution is linear, which changes its moments a little: the logarithm's deviation is corrected until they hold.
    """
    if spread == 0 or mean_s == 0:
        return Cdf(time_s=[mean_s], probability=[1.0])
    probability = np.linspace(0.0, 1.0, MAX_EDGES)
    inner = np.clip(probability, 0.25 / (MAX_EDGES - 1), 1 - 0.25 / (MAX_EDGES - 1))
    scores = norm.ppf(inner)

    def edges(deviation: float) -> tuple[Any, float]:
        times = np.exp(deviation * scores)
        low, high = times[:-1], times[1:]
        mean = float(np.mean((low + high) / 2))
        square = float(np.mean((low * low + low * high + high * high) / 3))
        return times / mean, math.sqrt(max(0.0, square - mean * mean)) / mean

    # The spread grows with the deviation: bisection finds it.
    low, high = 0.0, 1.0
    while edges(high)[1] < spread:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if edges(middle)[1] < spread else (low, middle)
    times, _ = edges(high)
    return Cdf(time_s=[float(time) for time in mean_s * times], probability=[float(value) for value in probability])


def _section(experiment: Resolved) -> OwnTimesSection:
    assert experiment.own_times is not None
    return experiment.own_times
