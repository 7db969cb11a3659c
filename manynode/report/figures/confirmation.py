"""Ratio of the times of two engines over the points that both have simulated."""

from __future__ import annotations

import altair as alt

from manynode.report.confirmation import confirmation_rows
from manynode.report.figure import COLOURS, Figure
from manynode.report.figures.technique_lines import technique_channels
from manynode.report.load import Inputs
from manynode.report.wording import percent


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure, None where nothing was confirmed."""
    summary = inputs.confirmation_summary
    if inputs.confirmation is None or summary is None:
        return None
    frame = inputs.confirmation[["technique", "nodes", "time_s", "confirmed_s", "ratio", "low", "high"]].copy()
    frame.insert(0, "point", [row["setting"] for row in confirmation_rows(inputs)])
    if frame["nodes"].nunique() > 1:
        frame["point"] = [f"{row.point}, {row.nodes} nodes" for row in frame.itertuples()]
    base = alt.Chart(alt.NamedData(name="table"))
    channels = technique_channels(list(frame["technique"]))
    # Several techniques of a point lie beside each other.
    y = alt.Y("point:N", title="point of the study", sort=list(dict.fromkeys(frame["point"])))
    place = {"y": y, "yOffset": alt.YOffset("technique:N"), "color": channels["color"]}
    title = f"time with {summary.confirmed_by} over time with {summary.engine}"
    one = base.mark_rule(strokeDash=[4, 3], color=COLOURS[5], aria=False).encode(x=alt.datum(1))
    whiskers = base.mark_rule(strokeWidth=1.8).encode(x=alt.X("low:Q", title=title), x2="high:Q", **place)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("ratio:Q", title=title, scale=alt.Scale(zero=False)),
        **place,
        tooltip=[
            *(alt.Tooltip("point:N"), alt.Tooltip("technique:N"), alt.Tooltip("nodes:Q")),
            alt.Tooltip("time_s:Q", title=f"{summary.engine} [s]", format=".5~g"),
            alt.Tooltip("confirmed_s:Q", title=f"{summary.confirmed_by} [s]", format=".5~g"),
            alt.Tooltip("ratio:Q", format=".4~g"),
        ],
    )
    return Figure(
        "confirmation",
        f"The same with {summary.confirmed_by}",
        "Ratio of the times, with its "
        f"{percent(inputs.experiment.simulate.confidence)} interval over the replicas, at the points that both engines "
        "simulated with the same draws. At the dashed line both agree.",
        alt.layer(one, whiskers, points).properties(height=alt.Step(30)),
        frame,
    )
