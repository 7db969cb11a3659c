"""Makespans by node count, a line per engine, and their relative difference, a line per pair of engines."""

from __future__ import annotations

import altair as alt

from manynode.report.comparison.choices import choice, engine_colour, techniques
from manynode.report.comparison.load import Comparison, by_engine
from manynode.report.figure import TIME_LABEL, Figure
from manynode.report.figures.technique_lines import nodes_axis
from manynode.report.wording import percent


def draw_makespans(comparison: Comparison) -> Figure:
    """Return the figure of the makespans."""
    frame = by_engine(comparison.makespans, {"time_s": "reference_s"}).sort_values(
        ["engine", "technique", "nodes"], ignore_index=True
    )
    names = techniques(list(frame["technique"]))
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45))
        .encode(
            x=nodes_axis(frame["nodes"]),
            y=alt.Y(
                "time_s:Q",
                title="projected time",
                axis=alt.Axis(labelExpr=TIME_LABEL),
                scale=alt.Scale(zero=alt.ExprRef("makespans_zero")),
            ),
            color=engine_colour(comparison.engines),
            tooltip=[
                *(alt.Tooltip("engine:N"), alt.Tooltip("technique:N"), alt.Tooltip("nodes:Q")),
                alt.Tooltip("time_s:Q", title="time [s]", format=".5~g"),
            ],
        )
        .transform_filter("datum.technique == makespans_technique")
        .add_params(
            choice("makespans_technique", "technique", names, comparison.document.largest[0]),
            alt.param(name="makespans_zero", value=False, bind=alt.binding_checkbox(name="time axis from zero ")),
        )
        .properties(height=300)
    )
    return Figure(
        "makespans",
        "Projected time by engine",
        "Mean makespan over the replicas. All engines replay the same operations and the same compute times; they "
        "differ in their model of hosts and network.",
        chart,
        frame,
    )


def draw_differences(comparison: Comparison) -> Figure:
    """Return the figure of the relative differences, with their intervals."""
    columns = ["pair", "technique", "nodes", "difference", "low", "high", "replicas"]
    frame = comparison.makespans.assign(
        pair=comparison.makespans["engine"] + " against " + comparison.makespans["reference"]
    )[columns].sort_values(columns[:3], ignore_index=True)
    base = alt.Chart(alt.NamedData(name="table")).transform_filter("datum.technique == differences_technique")
    nodes, colour = nodes_axis(frame["nodes"]), engine_colour([pair.name for pair in comparison.document.pairs], "pair")
    axis = alt.Axis(format="+.3~%")
    # One replica has no interval.
    band = (
        base.transform_filter("isValid(datum.low)")
        .mark_area(opacity=0.18)
        .encode(x=nodes, y=alt.Y("low:Q", title="difference of the makespan", axis=axis), y2="high:Q", color=colour)
    )
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45)).encode(
        x=nodes,
        y=alt.Y("difference:Q", title="difference of the makespan", axis=axis),
        color=colour,
        tooltip=[
            *(alt.Tooltip("pair:N"), alt.Tooltip("technique:N"), alt.Tooltip("nodes:Q")),
            alt.Tooltip("difference:Q", format="+.2%"),
            *(alt.Tooltip("low:Q", title="from", format="+.2%"), alt.Tooltip("high:Q", title="to", format="+.2%")),
        ],
    )
    zero = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_rule(strokeDash=[2, 3], opacity=0.6, aria=False)
        .encode(y=alt.datum(0))
    )
    names = techniques(list(frame["technique"]))
    return Figure(
        "differences",
        "Difference of the makespan",
        "(engine - reference) / reference; the reference is the second engine of a pair. Bands: "
        f"{percent(comparison.document.confidence)} interval, a paired bootstrap over the replicas.",
        alt.layer(band, lines, zero)
        .add_params(choice("differences_technique", "technique", names, comparison.document.largest[0]))
        .properties(height=240),
        frame,
    )
