"""Percentiles of the iteration time over nodes."""

from __future__ import annotations

from typing import Any

import altair as alt

from manynode.report.figure import COLOURS, TIME_LABEL, Figure
from manynode.report.figures.technique_lines import nodes_axis
from manynode.report.load import BY_COMPLETENESS, Inputs

_BANDS = (("p05_s", "p95_s", 0.16), ("p25_s", "p75_s", 0.3))


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure of iteration times, None where no iteration was counted."""
    if inputs.iterations is None or not inputs.iterations["iterations"].gt(0).any():
        return None
    frame = inputs.iterations[inputs.iterations["iterations"] > 0].reset_index(drop=True)
    present = set(frame["technique"])
    techniques = [name for name in BY_COMPLETENESS if name in present]
    technique = alt.param(
        name="iterations_technique",
        value=techniques[0],
        bind=alt.binding_select(options=techniques, name="technique "),
    )
    base = alt.Chart(alt.NamedData(name="table")).transform_filter("datum.technique == iterations_technique")
    x, title = nodes_axis(frame["nodes"]), "time of an iteration"
    colour = COLOURS[0]
    bands = [
        base.mark_area(opacity=opacity, color=colour).encode(x=x, y=alt.Y(f"{low}:Q", title=title), y2=f"{high}:Q")
        for low, high, opacity in _BANDS
    ]
    y: Any = alt.Y("p50_s:Q", title=title, axis=alt.Axis(labelExpr=TIME_LABEL), scale=alt.Scale(zero=False))
    columns = [*(str(name) for name in frame.columns if str(name).startswith("p")), "max_s"]
    tips = [
        alt.Tooltip("nodes:Q"),
        alt.Tooltip("iterations:Q"),
        *(alt.Tooltip(f"{name}:Q", title=f"{name.removesuffix('_s')} [s]", format=".4~g") for name in columns),
    ]
    middle = base.mark_line(strokeWidth=2.2, color=colour, point=alt.OverlayMarkDef(size=45, color=colour)).encode(
        x=x, y=y, tooltip=tips
    )
    late = base.mark_line(strokeDash=[3, 4], color=colour).encode(x=x, y=alt.Y("p99_s:Q", title=title))
    return Figure(
        "iterations",
        "Iteration times",
        "Median of the time of an iteration over all replicas (line), half of them (dark), 90 % (light) and the 99th "
        "percentile (dotted). An iteration ends when its last rank does; the first of a run is left out.",
        alt.layer(*bands, late, middle).add_params(technique).properties(height=260),
        frame,
    )
