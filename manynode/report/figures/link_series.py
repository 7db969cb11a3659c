"""How busy each class of links is over the run."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from manynode.report.figure import COLOURS, MOST_POINTS, TIME_LABEL, Figure
from manynode.report.load import Inputs, at_point
from manynode.report.wording import count


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure of the links' load over time at the largest node count; None without counters over time."""
    if inputs.series is None or inputs.technique is None:
        return None
    own = inputs.series[inputs.series["technique"] == inputs.technique]
    if own.empty:
        return None
    nodes = int(own["nodes"].max())
    columns = ["start_s", "end_s", "class", "busy_share", "stall_s", "queue_bytes"]
    frame = at_point(own, inputs.technique, nodes)[columns]
    classes = sorted(set(frame["class"]))
    drawn = merged(frame, MOST_POINTS // len(classes))
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_line(interpolate="step-after", strokeWidth=1.6)
        .encode(
            x=alt.X("start_s:Q", title="time since the start", axis=alt.Axis(labelExpr=TIME_LABEL)),
            y=alt.Y("busy_share:Q", title="mean link of its class: share of the time it is busy", axis=_PERCENT),
            color=alt.Color(
                "class:N",
                legend=alt.Legend(title=None),
                scale=alt.Scale(domain=classes, range=[COLOURS[i % len(COLOURS)] for i in range(len(classes))]),
            ),
            tooltip=[
                alt.Tooltip("class:N", title="links"),
                alt.Tooltip("start_s:Q", title="from [s]", format=".6~g"),
                alt.Tooltip("end_s:Q", title="to [s]", format=".6~g"),
                alt.Tooltip("busy_share:Q", title="busy", format=".2%"),
                alt.Tooltip("stall_s:Q", title="stall time, all links [s]", format=".4~g"),
                alt.Tooltip("queue_bytes:Q", title="bytes waiting at the end", format=".4~s"),
            ],
        )
        .properties(height=260)
    )
    note = "" if len(drawn) == len(frame) else f"{len(frame):,} intervals are drawn as {len(drawn):,}, by their means."
    return Figure(
        "link-series",
        "Load of the network over time",
        f"First replica of {inputs.technique} on {count(nodes, 'node')}: per class of link, the mean over its links "
        "that carry anything.",
        chart,
        drawn,
        note,
    )


_PERCENT = alt.Axis(format=".3~%", tickCount=5)


def merged(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return at most ``most`` intervals of each class. Neighbours are merged: the work stays, the peaks do not."""
    longest = int(frame.groupby("class").size().max())
    if longest <= most:
        return frame.reset_index(drop=True)
    step = -(-longest // most)
    frame = frame.sort_values(["class", "start_s"], ignore_index=True)
    length = frame["end_s"] - frame["start_s"]
    frame = frame.assign(
        group=frame.groupby("class").cumcount() // step, busy=frame["busy_share"] * length, length=length
    )
    groups = frame.groupby(["class", "group"], sort=True)
    result = groups.agg(
        start_s=("start_s", "first"),
        end_s=("end_s", "last"),
        busy=("busy", "sum"),
        length=("length", "sum"),
        stall_s=("stall_s", "sum"),
        queue_bytes=("queue_bytes", "last"),
    ).reset_index()
    result["busy_share"] = np.where(result["length"] > 0, result["busy"] / result["length"], 0.0)
    return result[["start_s", "end_s", "class", "busy_share", "stall_s", "queue_bytes"]]
