"""The sentences of a what-if study and the answer to its inverse question."""

from __future__ import annotations

from typing import Any

import pandas as pd

from manynode.report.wording import change, count, duration, listing, number, percent


def sentences(table: pd.DataFrame, pairs: pd.DataFrame, within: float, currency: str) -> list[str]:
    """Return the study's sentences, the answer first."""
    fastest = table.loc[table["time_s"].idxmin()]
    near = table[table["near"]]
    cheapest = near.loc[near["cost"].idxmin()]
    said = [_inverse(fastest, cheapest, within, currency), _front(table, currency)]
    said += [sentence for sentence in (_doubt(pairs, table), _ideal(table)) if sentence]
    return [*said, _PAIRED]


# What is paired here are replicas; models are not measured anew for each alternative.
_PAIRED = (
    "Differences between alternatives are paired: all have the same draws, and their chance cancels. The node model's "
    "error cancels between alternatives with the same nodes, the network model's between those with the same network. "
    "Between others the intervals do not cover it; each experiment's own report has the band of its known errors."
)


def _inverse(fastest: pd.Series[Any], cheapest: pd.Series[Any], within: float, currency: str) -> str:
    if cheapest["name"] == fastest["name"]:
        return (
            f"{fastest['name']} is the fastest ({duration(fastest['time_s'])}, {_money(fastest['cost'], currency)}), "
            f"and no cheaper alternative is within {percent(within)} of it."
        )
    return (
        f"The cheapest alternative within {percent(within)} of the best time is {cheapest['name']}: "
        f"{duration(cheapest['time_s'])} for {_money(cheapest['cost'], currency)}; the fastest, {fastest['name']}, "
        f"takes {duration(fastest['time_s'])} for {_money(fastest['cost'], currency)}, "
        f"{change(fastest['cost'], cheapest['cost'])}."
    )


def _front(table: pd.DataFrame, currency: str) -> str:
    front = table[table["front"]].sort_values("cost")
    words = [
        f"{row['name']} ({duration(row['time_s'])}, {_money(row['cost'], currency)})" for _, row in front.iterrows()
    ]
    text = f"Not beaten in both time and cost: {listing(words)}."
    unsure = table[~table["front"] & table["maybe_front"]]
    if len(unsure):
        text += f" Within their intervals {listing(list(unsure['name']))} might belong to these."
    return text


def _doubt(pairs: pd.DataFrame, table: pd.DataFrame) -> str | None:
    """Return the sentence on orders that the replicas do not settle."""
    open_ = pairs[~pairs["settled"]]
    if not len(open_):
        replicas = count(int(table["replicas"].min()), "replica")
        return f"All {count(len(pairs), 'order')} of two alternatives are settled by {replicas}."
    row = open_.loc[open_["more"].fillna(0).idxmax()]
    how_many = (
        "their replicas do not differ"
        if pd.isna(row["more"])
        else f"about {number(row['more'])} more replicas would settle it"
    )
    return (
        f"{len(open_)} of {count(len(pairs), 'order')} of two alternatives are not settled; of {row['first']} and "
        f"{row['second']}, {row['first']} is faster with probability {row['probability']:.2f} ({how_many})."
    )


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
