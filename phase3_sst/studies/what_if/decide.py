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

import numpy as np
import pandas as pd

from manynode import seeds
from manynode.config.prices import Prices
from phase3_sst.analysis.paired_difference import paired_difference
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
    outcomes: Sequence[Outcome],
    prices: Prices,
    pairs: pd.DataFrame,
    *,
    within: float,
    confidence: float,
    seed: int,
    relevant: float,
) -> pd.DataFrame:
    """Return a row per alternative.

    name, nodes, ranks, replicas, time_s (of the whole work), low_s, high_s, cost, life_cost (with the energy of the
    machine's years), power_w, energy_kwh and energy_cost (of the whole work, the building's overhead included), ideal_s
    (NaN when not simulated), front (of time and cost; gains below ``relevant`` do not count), maybe_front (may be on it
    with another draw of the replicas, by the verdicts of ``pairs``), near (its time is within ``within`` of the best).
    """
    rows = []
    for outcome in outcomes:
        times = list(outcome.times_s.values())
        low, high = bootstrap_interval(times, confidence, seeds.generator(seed, "bootstrap", "what-if", outcome.name))
        time = float(np.mean(times))
        power = float(outcome.bill["power_w"].sum())
        energy, cost = energy_kwh(power, time, prices), float(outcome.bill["cost"].sum())
        rows.append(
            {
                "name": outcome.name,
                "nodes": outcome.nodes,
                "ranks": outcome.ranks,
                "replicas": len(times),
                "time_s": time,
                "low_s": low,
                "high_s": high,
                "cost": cost,
                "life_cost": prices.life_cost(cost, power),
                "power_w": power,
                "energy_kwh": energy,
                "energy_cost": energy * prices.energy.price_per_kwh,
                "ideal_s": math.nan if outcome.ideal_s is None else float(np.mean(list(outcome.ideal_s.values()))),
            }
        )
    frame = pd.DataFrame(rows)
    frame["front"] = pareto(frame["time_s"], frame["cost"], relevant)
    frame["maybe_front"] = ~frame["name"].isin(_surely_beaten(frame.set_index("name")["cost"], pairs))
    frame["near"] = frame["time_s"] <= frame["time_s"].min() * (1 + within)
    return frame


def _surely_beaten(costs: pd.Series[float], pairs: pd.DataFrame) -> set[str]:
    """Return the alternatives that another one, no dearer, beats by settled draws or equals but for the price."""
    beaten = set()
    for row in pairs.itertuples():
        fast, slow = costs[row.first], costs[row.second]
        if row.settled and fast <= slow:
            beaten.add(row.second)
        if row.verdict == "irrelevant" and fast != slow:
            beaten.add(row.first if slow < fast else row.second)
    return beaten


def energy_kwh(power_w: float, time_s: float, prices: Prices) -> float:
    """Return the energy [kWh] of a machine that runs for ``time_s``, with the building's overhead."""
    return power_w * time_s / _JOULES_PER_KWH * prices.energy.overhead


def pareto(
    times: Sequence[float] | pd.Series[float], costs: Sequence[float] | pd.Series[float], relevant: float = 0.0
) -> list[bool]:
    """Return the Pareto front: no other alternative is as fast and as cheap, and better in one of the two.

    A dearer alternative is on it only if it is faster than every cheaper one there by more than ``relevant``, a share.
    """
    time, cost = np.asarray(times, dtype=float), np.asarray(costs, dtype=float)
    on = np.zeros(len(time), dtype=bool)
    fastest, of_cost = math.inf, -math.inf
    for place in np.lexsort((time, cost)):
        same = cost[place] == of_cost and time[place] == fastest
        if same or (cost[place] > of_cost and time[place] * (1 + relevant) < fastest):
            on[place], fastest, of_cost = True, time[place], cost[place]
    return [bool(one) for one in on]


def maybe_on_front(
    lows: Sequence[float] | pd.Series[float],
    highs: Sequence[float] | pd.Series[float],
    costs: Sequence[float] | pd.Series[float],
    relevant: float = 0.0,
) -> list[bool]:
    """Return which may be on the front with another draw of the replicas: none as cheap is surely faster.

    A dearer one may be faster than each cheaper one by more than ``relevant``.
    """
    low, high, cost = (np.asarray(values, dtype=float) for values in (lows, highs, costs))
    order = np.argsort(cost, kind="stable")
    least = np.concatenate([[np.inf], np.minimum.accumulate(high[order])])
    as_cheap, cheaper = (least[np.searchsorted(cost[order], cost, side=side)] for side in ("right", "left"))
    return [bool(one) for one in (low <= as_cheap) & (low * (1 + relevant) <= cheaper)]


def pairs(
    outcomes: Sequence[Outcome],
    confidence: float,
    seed: int,
    *,
    relevant: float,
    drawn: bool = True,
    models: Mapping[tuple[str, str], float | None] | None = None,
) -> pd.DataFrame:
    """Return a row per two alternatives.

    first, second (names; ``first`` has the shorter mean time), difference_s (second less first, mean over the paired
    replicas) with its bootstrap interval low_s, high_s, share (of the first's time), models (the models' paired error,
    a share; NaN if not known; ``models`` has it by names, in the order of ``outcomes``), probability (that ``first`` is
    faster in another pair of runs), settled (the interval excludes 0), verdict (matters: settled and above
    ``relevant``; irrelevant; open), words (of the verdict), replicas, more (further replicas that would probably settle
    the order; 0 unless open, NaN if unknown).
    """
    rows = []
    for one, other in itertools.combinations(outcomes, 2):
        first, second = sorted((one, other), key=lambda outcome: float(np.mean(list(outcome.times_s.values()))))
        rng = seeds.generator(seed, "bootstrap", "what-if", first.name, second.name)
        found = paired_difference(
            second.times_s, first.times_s, relevant=relevant, confidence=confidence, rng=rng, drawn=drawn
        )
        known = (models or {}).get((one.name, other.name))
        rows.append(
            {
                "first": first.name,
                "second": second.name,
                "difference_s": found.difference_s,
                "low_s": found.low_s,
                "high_s": found.high_s,
                "share": found.share,
                "models": math.nan if known is None else known,
                "probability": 1 - found.probability,
                "settled": found.settled,
                "verdict": found.verdict,
                "words": found.words(known),
                "replicas": found.replicas,
                "more": found.more,
            }
        )
    return pd.DataFrame(rows)
