"""A what-if study -> one HTML file, made like the report: offline, figures with their data, no remote loads."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pandas as pd
from pydantic import FiniteFloat

from manynode import tables
from manynode.report.documents import Document, read_document
from manynode.report.figure import COLOURS, TIME_LABEL, Figure, rows_of
from manynode.report.page import fill
from manynode.report.wording import percent


class WhatIfFile(Document):
    """``what-if-study/1``."""

    name: str
    title: str
    technique: str
    application: str
    currency: str
    prices: str
    prices_description: str
    within: FiniteFloat
    relevant_difference: FiniteFloat
    confidence: FiniteFloat
    seed: int
    sentences: list[str]
    warnings: list[str]
    manynode: str
    code: str
    digests: dict[str, str]
    confirmed_by: str = ""
    oversubscribed: str = ""


_BEATEN = "no gain that matters"
_ALTERNATIVES = [
    *(
        "name",
        "nodes",
        "replicas",
        "time_s",
        "low_s",
        "high_s",
        "cost",
        "life_cost",
        "power_w",
        "energy_kwh",
        "energy_cost",
    ),
    *("ideal_s", "front", "maybe_front"),
]
_PAIRS = ["first", "second", "difference_s", "low_s", "high_s", "share", "models", "probability", "words"]


def build_what_if(directory: Path, output: Path) -> None:
    """Write the page of the study in ``directory`` to ``output``; the same files give the same bytes."""
    document = read_document(directory / "what-if.json", "what-if-study/1", WhatIfFile)
    table = tables.read_table(directory / "alternatives.parquet", "what-if/1", _ALTERNATIVES)
    pairs = tables.read_table(directory / "pairs.parquet", "what-if-pairs/1", _PAIRS)
    bills = tables.read_table(
        directory / "bills.parquet", "what-if-bills/1", ["name", "item", "count", "price", "cost", "power_w"]
    )
    figures = [_times_and_costs(table, document), _bills(bills, document)]
    if table["ideal_s"].notna().any():
        figures.insert(1, _losses(table))
    html = fill(
        "what_if.html.j2",
        kind="manynode what-if study",
        title=document.title,
        subtitle=f"{document.application} · {document.technique} · prices: {document.prices}",
        document=document,
        figures=figures,
        alternatives=rows_of(table.sort_values("time_s")),
        pairs=rows_of(pairs),
        bills=rows_of(bills),
        confirmed=rows_of(_confirmed(directory)),
    )
    with tables.replacing(output) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def _confirmed(directory: Path) -> pd.DataFrame:
    """Return the alternatives that another engine has simulated again."""
    path = directory / "confirmation.parquet"
    columns = ["variant", "nodes", "time_s", "confirmed_s", "ratio", "low", "high", "place", "confirmed_place"]
    return tables.read_table(path, "confirmation/1", columns) if path.is_file() else pd.DataFrame(columns=columns)


def _times_and_costs(table: pd.DataFrame, document: WhatIfFile) -> Figure:
    frame = table[["name", "nodes", "cost", "time_s", "low_s", "high_s", "front"]].sort_values(
        "cost", ignore_index=True
    )
    frame["role"] = ["not beaten" if front else _BEATEN for front in frame["front"]]
    base = alt.Chart(alt.NamedData(name="table"))
    x = alt.X("cost:Q", title=f"cost [{document.currency}]", axis=alt.Axis(format="~s"), scale=alt.Scale(zero=False))
    y_title = "time of the work"
    y = alt.Y("time_s:Q", title=y_title, axis=alt.Axis(labelExpr=TIME_LABEL), scale=alt.Scale(zero=False))
    colour = alt.Color(
        "role:N",
        legend=alt.Legend(title=None),
        scale=alt.Scale(domain=["not beaten", _BEATEN], range=[COLOURS[0], "#a5adb5"]),
    )
    tooltip = [
        *(alt.Tooltip("name:N"), alt.Tooltip("nodes:Q"), alt.Tooltip("cost:Q", format=",.0f")),
        alt.Tooltip("time_s:Q", title="time [s]", format=".5~g"),
        *(
            alt.Tooltip("low_s:Q", title="from [s]", format=".5~g"),
            alt.Tooltip("high_s:Q", title="to [s]", format=".5~g"),
        ),
    ]
    front = (
        base.transform_filter("datum.front")
        .mark_line(interpolate="step-after", strokeDash=[4, 3], color=COLOURS[0])
        .encode(x=x, y=y)
    )
    whiskers = base.mark_rule(strokeWidth=1.8).encode(
        x=x, y=alt.Y("low_s:Q", title=y_title), y2="high_s:Q", color=colour
    )
    points = base.mark_point(filled=True, size=95, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip)
    names = base.mark_text(align="left", dx=9, dy=-7).encode(x=x, y=y, text="name:N")
    return Figure(
        "pareto",
        "Time and cost",
        f"Every alternative with the {percent(document.confidence)} interval of its time over the replicas; the dashed "
        "line joins those that no other one beats in both time and cost.",
        alt.layer(front, whiskers, points, names).properties(height=360),
        frame,
    )


def _losses(table: pd.DataFrame) -> Figure:
    known = table[table["ideal_s"].notna()]
    order = list(known.sort_values("time_s")["name"])
    parts = [
        known[["name"]].assign(part="on a network that takes no time", seconds=known["ideal_s"], position=0),
        known[["name"]].assign(
            part="the network", seconds=(known["time_s"] - known["ideal_s"]).clip(lower=0), position=1
        ),
    ]
    frame = pd.concat(parts, ignore_index=True)
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar(size=24)
        .encode(
            y=alt.Y("name:N", title="alternative", sort=order),
            x=alt.X("seconds:Q", title="time of the work", stack="zero", axis=alt.Axis(labelExpr=TIME_LABEL)),
            color=alt.Color("part:N", legend=alt.Legend(title=None), scale=alt.Scale(range=["#8a94a0", COLOURS[1]])),
            order=alt.Order("position:Q"),
            tooltip=[alt.Tooltip("name:N"), alt.Tooltip("part:N"), alt.Tooltip("seconds:Q", format=".5~g")],
        )
        .properties(height=alt.Step(34))
    )
    return Figure(
        "network-loss",
        "What is left to gain",
        "The time on a network without latency, bandwidth limit and contention, and what the alternative's own network "
        "adds. The ideal network leaves computation, waiting for slower ranks, and the processors' part of sending "
        "messages.",
        chart,
        frame,
    )


def _bills(bills: pd.DataFrame, document: WhatIfFile) -> Figure:
    frame = bills[["name", "item", "count", "price", "cost", "power_w"]].copy()
    frame["kind"] = [item.split(",")[0] for item in frame["item"]]
    order = ["nodes", "network adapters", "switches", "cables"]
    frame["position"] = [order.index(kind) for kind in frame["kind"]]
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar(size=24)
        .encode(
            y=alt.Y("name:N", title="alternative", sort=None),
            x=alt.X("sum(cost):Q", title=f"cost [{document.currency}]", stack="zero", axis=alt.Axis(format="~s")),
            color=alt.Color("kind:N", legend=alt.Legend(title=None), scale=alt.Scale(domain=order, range=COLOURS[:4])),
            order=alt.Order("position:Q"),
            tooltip=[
                alt.Tooltip("name:N"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("sum(cost):Q", title="cost", format=",.0f"),
            ],
        )
        .properties(height=alt.Step(34))
    )
    description = document.prices_description or "no description"
    return Figure("bills", "Bills of materials", f"Prices: {document.prices} ({description})", chart, frame)
