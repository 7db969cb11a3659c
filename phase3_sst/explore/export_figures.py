"""The figures of an exported answer: what the time is spent on, what it is lost to, how busy the links are.

In: tables by the name of their answer. Out: :class:`Figure`, as the report has them.
"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, COMPUTE_COLOUR, TIME_LABEL, Figure


def breakdown(frames: Mapping[str, pd.DataFrame]) -> Figure:
    """Return mean seconds of a rank in computing and in each MPI operation."""
    data = _joined(frames, ["operation", "seconds", "share"])
    names = list(dict.fromkeys(data.sort_values("seconds", ascending=False, kind="stable")["operation"]))
    return _bars(
        "breakdown",
        "What the ranks do",
        "Mean over ranks and replicas. The time in an MPI operation includes the waiting for others.",
        data,
        "operation",
        ["compute", *(name for name in names if name != "compute")],
    )


def losses(frames: Mapping[str, pd.DataFrame]) -> Figure:
    """Return the parts of the projected time."""
    data = _joined(frames, ["part", "seconds", "low_s", "high_s", "share"])
    return _bars(
        "losses",
        "What the time is lost to",
        "Each simulation removes one more cost of the network and keeps the draws; the drop in time is the loss to "
        "that cost.",
        data,
        "part",
        list(dict.fromkeys(data["part"])),
    )


def links(frames: Mapping[str, pd.DataFrame]) -> Figure:
    """Return the busiest link of each class."""
    data = _joined(frames, ["class", "links", "bytes", "busy_s", "busy_share_max", "stall_s"])
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar()
        .encode(
            x=alt.X(
                "busy_share_max:Q", title="share of the time in which the busiest link sends", axis=alt.Axis(format="%")
            ),
            y=alt.Y("class:N", title="class of links"),
            yOffset=alt.YOffset("answer:N"),
            color=_colours("answer", list(frames)),
            tooltip=[alt.Tooltip(f"{name}:N") for name in data.columns],
        )
    )
    return Figure("links", "How busy the links are", "By class of links.", chart, data)


def _bars(name: str, title: str, caption: str, data: pd.DataFrame, column: str, order: list[str]) -> Figure:
    data = data.assign(position=data[column].map({part: index for index, part in enumerate(order)}))
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar()
        .encode(
            x=alt.X("seconds:Q", title="time per rank", stack="zero", axis=alt.Axis(labelExpr=TIME_LABEL)),
            y=alt.Y("answer:N", title="answer", sort=list(dict.fromkeys(data["answer"]))),
            color=_colours(column, order),
            order=alt.Order("position:Q"),
            tooltip=[
                alt.Tooltip(f"{column}:N"),
                alt.Tooltip("seconds:Q", format=".4~g"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return Figure(name, title, caption, chart, data)


def _colours(column: str, order: list[str]) -> alt.Color:
    colours = [COMPUTE_COLOUR, *COLOURS] if order[0] == "compute" else COLOURS
    wanted = [colours[index % len(colours)] for index in range(len(order))]
    return alt.Color(f"{column}:N", legend=alt.Legend(title=None), scale=alt.Scale(domain=order, range=wanted))


def _joined(frames: Mapping[str, pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    parts = [frame[columns].assign(answer=name) for name, frame in frames.items()]
    return pd.concat(parts, ignore_index=True)
