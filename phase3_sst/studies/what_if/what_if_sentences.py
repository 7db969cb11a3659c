"""The sentences of a what-if study and the answer to its inverse question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from manynode import units
from manynode.config.prices import Prices
from manynode.report.wording import change, count, duration, listing, number, percent
from phase3_sst.checks.line_rate import narrow_end
from phase3_sst.point.run_file import network_description, network_of
from phase3_sst.studies.what_if.alternatives import Case
from phase3_sst.studies.what_if.bill import link_speeds, oversized
from phase3_sst.studies.what_if.what_if_file import WhatIf


def sentences(table: pd.DataFrame, pairs: pd.DataFrame, within: float, prices: Prices, relevant: float) -> list[str]:
    """Return the study's sentences, the answer first."""
    fastest = table.loc[table["time_s"].idxmin()]
    near = table[table["near"]]
    cheapest = near.loc[near["cost"].idxmin()]
    said = [_inverse(fastest, cheapest, pairs, within, prices.currency), _front(table, prices.currency, relevant)]
    said += [_life(near, cheapest, prices)]
    said += [sentence for sentence in (_orders(pairs, relevant), _models(pairs), _ideal(table)) if sentence]
    return [*said, _PAIRED]


def warnings(study: WhatIf, cases: Sequence[Case]) -> list[str]:
    """Return what a buyer must know of the machines: oversized networks, narrow adapters, prices without speeds."""
    said = []
    for case in cases:
        ends = narrow_end(network_description(network_of(case.resolved)))
        said += [f"{case.alternative}: {text}" for text in (oversized(case.resolved.network, case.nodes), ends) if text]
    own = [study.alternatives[case.alternative] for case in cases]
    speeds = {_fastest(case): units.render(_fastest(case), "bandwidth") for case in cases}
    if len(speeds) > 1 and not study.prices.speeds and not any(one.nic or one.switch for one in own):
        said.append(
            f"The prices have no classes of speed: parts of {listing([speeds[speed] for speed in sorted(speeds)])} "
            "cost the same. Give 'speeds' in the price file, or prices of each alternative."
        )
    return said


def _fastest(case: Case) -> float:
    network = case.resolved.network
    return max(network.host.nic_bandwidth, *link_speeds(network).values())


# What is paired here are replicas; models are not measured anew for each alternative.
_PAIRED = (
    "Differences between alternatives are paired: all have the same draws, and their chance cancels. The node model's "
    "error cancels between alternatives with the same nodes, the network model's between those with the same network. "
    "Between others the intervals do not cover it: the models' paired error beside each difference does, with 90 %."
)


def life_words(prices: Prices) -> str:
    """Return what the cost over a life contains."""
    energy = prices.energy
    return (
        f"Price and energy of {number(energy.years)} years, {percent(energy.use)} of them under load, at "
        f"{number(energy.price_per_kwh)} {prices.currency} for a kWh"
    )


def _life(near: pd.DataFrame, cheapest: pd.Series[Any], prices: Prices) -> str:
    least = near.loc[near["life_cost"].idxmin()]
    text = f"{life_words(prices)}: {cheapest['name']} costs {_money(cheapest['life_cost'], prices.currency)}"
    if least["name"] == cheapest["name"]:
        return f"{text}." if len(near) == 1 else f"{text}, the least of those near the best time."
    return f"{text}, and {least['name']} only {_money(least['life_cost'], prices.currency)}."


def _inverse(
    fastest: pd.Series[Any], cheapest: pd.Series[Any], pairs: pd.DataFrame, within: float, currency: str
) -> str:
    if cheapest["name"] == fastest["name"]:
        return (
            f"{fastest['name']} is the fastest ({duration(fastest['time_s'])}, {_money(fastest['cost'], currency)}), "
            f"and no cheaper alternative is within {percent(within)} of it."
        )
    row = pairs[(pairs["first"] == fastest["name"]) & (pairs["second"] == cheapest["name"])].iloc[0]
    words = f", {row['words']}" if row["verdict"] != "matters" else ""
    return (
        f"The cheapest alternative within {percent(within)} of the best time is {cheapest['name']}: "
        f"{duration(cheapest['time_s'])} for {_money(cheapest['cost'], currency)}. The fastest, {fastest['name']}, "
        f"takes {duration(fastest['time_s'])}{words}; its price is {_money(fastest['cost'], currency)}, "
        f"{change(fastest['cost'], cheapest['cost'])}."
    )


def _front(table: pd.DataFrame, currency: str, relevant: float) -> str:
    front = table[table["front"]].sort_values("cost")
    words = [
        f"{row['name']} ({duration(row['time_s'])}, {_money(row['cost'], currency)})" for _, row in front.iterrows()
    ]
    text = f"Not beaten in both time and cost: {listing(words)}; gains of time up to {percent(relevant)} do not count."
    unsure = table[~table["front"] & table["maybe_front"]]
    if len(unsure):
        text += f" Within their intervals {listing(list(unsure['name']))} might belong to these."
    return text


def _orders(pairs: pd.DataFrame, relevant: float) -> str:
    """Return how many differences matter, do not matter, or are open; for an open one, what would settle it."""
    counts = pairs["verdict"].value_counts()
    text = (
        f"Of {count(len(pairs), 'pair')} of alternatives, {counts.get('matters', 0)} differ by more than "
        f"{percent(relevant)} (settled by the draws), {counts.get('irrelevant', 0)} have no difference that matters, "
        f"and {counts.get('open', 0)} are not settled."
    )
    open_ = pairs[pairs["verdict"] == "open"]
    if not len(open_):
        return text
    row = open_.loc[open_["more"].fillna(0).idxmax()]
    how_many = (
        "their replicas do not tell how many more would settle it"
        if pd.isna(row["more"])
        else f"about {number(row['more'])} more replicas would settle it"
    )
    return (
        f"{text} {row['first']} is faster than {row['second']} with probability {row['probability']:.2f} ({how_many})."
    )


def _models(pairs: pd.DataFrame) -> str:
    """Return how the differences that matter compare with the models' paired error."""
    matter = pairs[pairs["verdict"] == "matters"]
    unknown, within = int(matter["models"].isna().sum()), matter[matter["share"] <= matter["models"]]
    said = []
    if len(within):
        names = [f"{row['first']} and {row['second']}" for _, row in within.iterrows()]
        said.append(f"The models may err by more than the difference between {'; between '.join(names)}.")
    if unknown:
        said.append(f"For {count(unknown, 'difference')} the models' paired error is not known.")
    return " ".join(said)


def _ideal(table: pd.DataFrame) -> str | None:
    known = table[table["ideal_s"].notna()]
    if not len(known):
        return None
    loss = known["time_s"] / known["ideal_s"] - 1
    most, least = known.loc[loss.idxmax()], known.loc[loss.idxmin()]
    return (
        "Against a network that takes no time, the networks lengthen the run by "
        f"{percent(float(loss.min()))} ({least['name']}) to {percent(float(loss.max()))} ({most['name']})."
    )


def _money(amount: float, currency: str) -> str:
    return f"{amount:,.0f} {currency}"
