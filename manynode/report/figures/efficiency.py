"""Efficiency over nodes: the time at the smallest node count over the time at this one (weak scaling)."""

from __future__ import annotations

import altair as alt

from manynode.report.figure import Figure
from manynode.report.figures.technique_lines import nodes_axis, technique_channels
from manynode.report.load import Inputs


def draw(inputs: Inputs) -> Figure | None:
    """Return the efficiency figure."""
    if inputs.projection is None:
        return None
    frame = inputs.projection[["technique", "nodes", "efficiency"]]
    from_zero = alt.param(
        name="efficiency_zero",
        value=bool(frame["efficiency"].min() < 0.6),
        bind=alt.binding_checkbox(name="efficiency axis from zero "),
    )
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45))
        .encode(
            x=nodes_axis(frame["nodes"]),
            y=alt.Y(
                "efficiency:Q",
                title="parallel efficiency",
                axis=alt.Axis(format=".3~%"),
                scale=alt.Scale(zero=alt.ExprRef("efficiency_zero")),
            ),
            **technique_channels(list(frame["technique"])),
            tooltip=[
                alt.Tooltip("technique:N"),
                alt.Tooltip("nodes:Q"),
                alt.Tooltip("efficiency:Q", format=".1%"),
            ],
        )
        .add_params(from_zero)
        .properties(height=260)
    )
    return Figure(
        "efficiency",
        "Efficiency",
        "Time at the smallest projected node count divided by the time at this one, per technique: what is lost to "
        "waiting and communication as the machine grows.",
        chart,
        frame,
    )
