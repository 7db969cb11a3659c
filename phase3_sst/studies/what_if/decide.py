"""Compares alternatives: time, cost, energy, Pareto front, and the probability that one is faster.

In: makespans [s] by replica of each alternative, its bill of materials. All alternatives draw the same numbers (seed,
replica, rank, phase), so their replicas are paired. Out: tables ``what-if/1`` (a row per alternative),
``what-if-pairs/1`` (a row per two of them), ``what-if-bills/1``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from manynode import seeds
from manynode.config.prices import Prices
from phase3_sst.analysis.projection_tables import bootstrap_interval

ALTERNATIVES_SCHEMA = "what-if/1"
PAIRS_SCHEMA = "what-if-pairs/1"
BILLS_SCHEMA = "what-if-bills/1"

_JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True)
class Outcome:
    """The result of one alternative: seconds of the whole work by replica, also on an ideal network, and its bill."""

    name: str
    nodes: int
    ranks: int
    times_s: Mapping[int, float]
    ideal_s: Mapping[int, float] | None
    bill: pd.DataFrame


def alternatives(
    outcomes: Sequence[Outcome], prices: Prices, within: float, confidence: float, seed: int
) -> pd.DataFrame:
    """Return a row per alternative.

    name, nodes, ranks, replicas, time_s (of the whole work), low_s, high_s, cost, power_w, energy_kwh and energy_cost
    (of the whole work, the building's overhead included), ideal_s (NaN when not simulated), front (of time and cost),
    maybe_front (may be on it with another draw of the replicas), near (its time is within ``within`` of the best).
    """
    rows = []
    for outcome in outcomes:
        times = list(outcome.times_s.values())
        low, high = bootstrap_interval(times, confidence, seeds.generator(seed, "bootstrap", "what-if", outcome.name))
        time = float(np.mean(times))
        power = float(outcome.bill["power_w"].sum())
        energy = energy_kwh(power, time, prices)
        rows.append(
            {
                "name": outcome.name,
                "nodes": outcome.nodes,
                "ranks": outcome.ranks,
                "replicas": len(times),
                "time_s": time,
                "low_s": low,
                "high_s": high,
                "cost": float(outcome.bill["cost"].sum()),
                "power_w": power,
                "energy_kwh": energy,
                "energy_cost": energy * prices.energy.price_per_kwh,
                "ideal_s": math.nan if outcome.ideal_s is None else float(np.mean(list(outcome.ideal_s.values()))),
            }
        )
    frame = pd.DataFrame(rows)
    frame["front"] = pareto(frame["time_s"], frame["cost"])
    frame["maybe_front"] = maybe_on_front(frame["low_s"], frame["high_s"], frame["cost"])
    frame["near"] = frame["time_s"] <= frame["time_s"].min() * (1 + within)
    return frame


def energy_kwh(power_w: float, time_s: float, prices: Prices) -> float:
    """Return the energy [kWh] of a machine that runs for ``time_s``, with the building's overhead."""
    return power_w * time_s / _JOULES_PER_KWH * prices.energy.overhead


def pareto(times: Sequence[float] | pd.Series[float], costs: Sequence[float] | pd.Series[float]) -> list[bool]:
    """Return the Pareto front: no other alternative is as fast and as cheap, and better in one of the two."""
    time, cost = np.asarray(times, dtype=float), np.asarray(costs, dtype=float)
    on = (time <= _least(time, cost, "right")) & (time < _least(time, cost, "left"))
    return [bool(one) for one in on]


def maybe_on_front(
    lows: Sequence[float] | pd.Series[float],
    highs: Sequence[float] | pd.Series[float],
    costs: Sequence[float] | pd.Series[float],
) -> list[bool]:
    """Return which may be on the front with another draw of the replicas: none as cheap is surely faster."""
    least = _least(np.asarray(highs, dtype=float), np.asarray(costs, dtype=float), "right")
    return [bool(one) for one in np.asarray(lows, dtype=float) <= least]


def _least(values: np.ndarray, costs: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
    """Return, for each cost, the least value of those that cost at most as much (right) or less (left); inf of none.

    It sorts by cost: the front of thousands of alternatives takes milliseconds.
    """
    order = np.argsort(costs, kind="stable")
    least = np.concatenate([[np.inf], np.minimum.accumulate(values[order])])
    return least[np.searchsorted(costs[order], costs, side=side)]


def pairs(outcomes: Sequence[Outcome], confidence: float, seed: int) -> pd.DataFrame:
    """Return a row per two alternatives.

    first, second (names; ``first`` has the shorter mean time), difference_s (second less first, mean over the paired
    replicas) with its bootstrap interval low_s, high_s, probability (that ``first`` is faster in another pair of runs),
    settled (the interval excludes 0), replicas, more (further replicas that would probably settle the order; 0 when
    settled, NaN for equal times).
    """
    rows = []
    for one, other in itertools.combinations(outcomes, 2):
        first, second = sorted((one, other), key=lambda outcome: float(np.mean(list(outcome.times_s.values()))))
        replicas = sorted(first.times_s.keys() & second.times_s.keys())
        gaps = np.array([second.times_s[r] - first.times_s[r] for r in replicas])
        rng = seeds.generator(seed, "bootstrap", "what-if", first.name, second.name)
        low, high = bootstrap_interval(list(gaps), confidence, rng)
        settled = len(gaps) > 1 and (low > 0 or high < 0)
        rows.append(
            {
                "first": first.name,
                "second": second.name,
                "difference_s": float(gaps.mean()),
                "low_s": low,
                "high_s": high,
                "probability": probability(gaps),
                "settled": settled,
                "replicas": len(gaps),
                "more": 0.0 if settled else further_replicas(gaps, confidence),
            }
        )
    return pd.DataFrame(rows)


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
