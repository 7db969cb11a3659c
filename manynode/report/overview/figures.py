"""Small figures beside each other: time over nodes of each experiment (Figures 4, 5 and 8 of Eyerman et al.)."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, TIME_LABEL, Figure
from manynode.report.figures.technique_lines import nodes_axis, technique_channels
from manynode.report.load import BY_COMPLETENESS
from manynode.report.overview.gather import Entry


def draw_times(entry: Entry) -> Figure:
    """Return the projected time over nodes of one experiment, a line per technique."""
    frame = entry.projection[["technique", "nodes", "time_s", "low_s", "high_s"]].reset_index(drop=True)
    base = alt.Chart(alt.NamedData(name="table"))
    channels = technique_channels(list(frame["technique"]))
    nodes = nodes_axis(frame["nodes"])
    band = base.mark_area(opacity=0.18).encode(
        x=nodes, y=alt.Y("low_s:Q", title="projected time"), y2="high_s:Q", color=channels["color"]
    )
    lines = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=28)).encode(
        x=nodes,
        y=alt.Y("time_s:Q", title="projected time", axis=alt.Axis(labelExpr=TIME_LABEL), scale=alt.Scale(zero=False)),
        **channels,
        tooltip=[
            alt.Tooltip("technique:N"),
            alt.Tooltip("nodes:Q"),
            alt.Tooltip("time_s:Q", title="time [s]", format=".5~g"),
            alt.Tooltip("low_s:Q", title="from [s]", format=".5~g"),
            alt.Tooltip("high_s:Q", title="to [s]", format=".5~g"),
        ],
    )
    chart = alt.layer(band, lines).properties(height=210)
    return Figure(f"time-{entry.name}", f"{entry.application}: {entry.name}", "", chart, frame)


def draw_efficiency(frame: pd.DataFrame) -> Figure:
    """Return the efficiency over nodes of all experiments, of one technique at a time."""
    data = frame[["experiment", "technique", "nodes", "efficiency"]].reset_index(drop=True)
    names = list(dict.fromkeys(data["experiment"]))
    present = [name for name in BY_COMPLETENESS if name in set(data["technique"])]
    choice = alt.param(
        name="efficiency_technique", value=present[0], bind=alt.binding_select(options=present, name="technique ")
    )
    colours = [COLOURS[index % len(COLOURS)] for index in range(len(names))]
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .transform_filter("datum.technique == efficiency_technique")
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45))
        .encode(
            x=nodes_axis(data["nodes"]),
            y=alt.Y("efficiency:Q", title="parallel efficiency", axis=alt.Axis(format=".3~%")),
            color=alt.Color(
                "experiment:N", legend=alt.Legend(title=None), scale=alt.Scale(domain=names, range=colours), sort=names
            ),
            tooltip=[
                *(alt.Tooltip("experiment:N"), alt.Tooltip("technique:N"), alt.Tooltip("nodes:Q")),
                alt.Tooltip("efficiency:Q", format=".1%"),
            ],
        )
        .add_params(choice)
        .properties(height=280)
    )
    return Figure(
        "efficiency",
        "Efficiency",
        "Time at the smallest projected node count of an experiment divided by the time at this one, of one technique.",
        chart,
        data,
    )
