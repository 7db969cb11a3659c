"""Projected time over nodes, a line per technique with its interval (Figure 4 of Eyerman et al.).

Around the most complete technique lies the band of known errors, as in the answer.
"""

from __future__ import annotations

import functools

import altair as alt
import pandas as pd

from manynode.report.band import CONFIDENCE, band_at
from manynode.report.figure import TIME_LABEL, Figure
from manynode.report.figures.technique_lines import nodes_axis, technique_channels
from manynode.report.load import Inputs
from manynode.report.wording import percent

KNOWN_COLOUR = "#7d8790"
# With a relative spread below this, a time axis from zero shows flat lines only.
_FLAT = 0.5


def draw(inputs: Inputs) -> Figure | None:
    """Return the scaling figure."""
    if inputs.projection is None:
        return None
    frame = inputs.projection[["technique", "nodes", "ranks", "replicas", "time_s", "low_s", "high_s"]].copy()
    errors = _known_errors(inputs)
    if errors:
        frame["known_low_s"], frame["known_high_s"] = [
            [errors.get((row.technique, row.nodes), (None, None))[side] for row in frame.itertuples()]
            for side in (0, 1)
        ]
    from_zero = alt.param(
        name="scaling_zero",
        value=_spread(frame) >= _FLAT,
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
    # An area has no width at a single node count.
    mark = base.mark_area if frame["nodes"].nunique() > 1 else functools.partial(base.mark_rule, strokeWidth=24)
    known = mark(color=KNOWN_COLOUR, opacity=0.22).encode(
        x=nodes, y=alt.Y("known_low_s:Q", title="projected time"), y2="known_high_s:Q"
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
            *(
                [
                    alt.Tooltip(f"known_{end}_s:Q", title=f"known errors, {word} [s]", format=".3~g")
                    for end, word in (("low", "from"), ("high", "to"))
                ]
                if errors
                else []
            ),
        ],
    )
    full, dotted = (
        ("with external ranks", "without")
        if inputs.own_times is None
        else ("your times in the whole job", "those of a node that runs alone")
    )
    words = _band_words(inputs, bool(errors))
    return Figure(
        "scaling",
        "Projected time",
        f"Each rank keeps its problem size (weak scaling), so a flat line is perfect scaling. Full lines: {full}; "
        f"dotted: {dotted}. Blue: variable compute times; orange: constant. Bands: "
        f"{percent(inputs.experiment.simulate.confidence)} interval over the replicas. {words}",
        alt.layer(*([known.transform_filter("datum.known_low_s != null")] if errors else []), band, lines)
        .add_params(from_zero)
        .properties(height=340),
        frame,
    )


def _known_errors(inputs: Inputs) -> dict[tuple[str, int], tuple[float, float]]:
    """Return the band of known errors [s] at each point of the most complete technique where one is known."""
    assert inputs.projection is not None and inputs.technique is not None
    found = {}
    for nodes in inputs.projection.loc[inputs.projection["technique"] == inputs.technique, "nodes"]:
        around = band_at(inputs, inputs.technique, int(nodes))
        if around is not None and around.low_s is not None and around.high_s is not None:
            found[inputs.technique, int(nodes)] = around.low_s, around.high_s
    return found


def _band_words(inputs: Inputs, drawn: bool) -> str:
    if not drawn:
        return "No band of known errors is drawn, because none is known."
    return (
        f"Grey: the band of known errors of {inputs.technique}, which covers a measurement with {percent(CONFIDENCE)}."
    )


def _spread(frame: pd.DataFrame) -> float:
    """Return how far apart all that is drawn lies, as a share of the largest time."""
    drawn = frame[[name for name in frame.columns if name.endswith("_s")]]
    lowest, highest = float(drawn.min().min()), float(drawn.max().max())
    return (highest - lowest) / highest if highest > 0 else 0.0
