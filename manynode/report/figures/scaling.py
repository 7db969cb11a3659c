"""Projected time over nodes, a line per technique with its interval (Figure 4 of Eyerman et al.)."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import TIME_LABEL, Figure
from manynode.report.figures.technique_lines import nodes_axis, technique_channels
from manynode.report.load import Inputs
from manynode.report.wording import percent

# With a relative spread below this, a time axis from zero shows flat lines only.
_FLAT = 0.5


def draw(inputs: Inputs) -> Figure | None:
    """Return the scaling figure."""
    if inputs.projection is None:
        return None
    frame = inputs.projection[["technique", "nodes", "ranks", "replicas", "time_s", "low_s", "high_s"]]
    from_zero = alt.param(
        name="scaling_zero",
        value=_spread(frame["time_s"]) >= _FLAT,
        bind=alt.binding_checkbox(name="time axis from zero "),
    )
    nodes = nodes_axis(frame["nodes"])
    time = alt.Y(
        "time_s:Q",
        title="projected time",
        axis=alt.Axis(labelExpr=TIME_LABEL),
        scale=alt.Scale(zero=alt.ExprRef("scaling_zero")),
    )
    base = alt.Chart(alt.NamedData(name="table"))
    channels = technique_channels(list(frame["technique"]))
    band = base.mark_area(opacity=0.18).encode(
        x=nodes, y=alt.Y("low_s:Q", title="projected time"), y2="high_s:Q", color=channels["color"]
    )
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45)).encode(
        x=nodes,
        y=time,
        **channels,
        tooltip=[
            alt.Tooltip("technique:N"),
            alt.Tooltip("nodes:Q"),
            alt.Tooltip("time_s:Q", title="time [s]", format=".5~g"),
            alt.Tooltip("low_s:Q", title="from [s]", format=".5~g"),
            alt.Tooltip("high_s:Q", title="to [s]", format=".5~g"),
        ],
    )
    full, dotted = (
        ("with external ranks", "without")
        if inputs.own_times is None
        else ("your times in the whole job", "those of a node that runs alone")
    )
    return Figure(
        "scaling",
        "Projected time",
        f"Each rank keeps its problem size (weak scaling), so a flat line is perfect scaling. Full lines: {full}; "
        f"dotted: {dotted}. Blue: variable compute times; orange: constant. Bands: "
        f"{percent(inputs.experiment.simulate.confidence)} interval over the replicas.",
        alt.layer(band, lines).add_params(from_zero).properties(height=340),
        frame,
    )


def _spread(times: pd.Series[float]) -> float:
    return float((times.max() - times.min()) / times.max()) if times.max() > 0 else 0.0
