"""Projections beside measurements: times (Figures 4 and 5 of Eyerman et al.), errors, operations (Figure 6)."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, TIME_LABEL, Figure
from manynode.report.figures.breakdown import stacks
from manynode.report.figures.technique_lines import nodes_axis, technique_channels
from manynode.report.load import Inputs
from manynode.report.wording import percent, size

_MEASURED = "measured"
_ALL_MPI = "all MPI"
# With as many series of measured collectives, one figure shows all errors.
_CAMPAIGN = 4


def draw(inputs: Inputs) -> list[Figure]:
    """Return the figures of the validation study, in the report's order."""
    found = [_times(inputs), _errors(inputs), _operations(inputs), _campaign(inputs), _collectives(inputs)]
    return [figure for figure in found if figure is not None]


def _times(inputs: Inputs) -> Figure | None:
    if inputs.validation is None or inputs.projection is None:
        return None
    projected = inputs.projection[["technique", "nodes", "time_s", "low_s", "high_s"]]
    columns = {"measured_s": "time_s", "measured_low_s": "low_s", "measured_high_s": "high_s"}
    measured = inputs.validation.drop_duplicates("nodes")[["nodes", "runs", *columns]].rename(columns=columns)
    data = pd.concat([projected, measured.assign(technique=_MEASURED)], ignore_index=True)
    nodes = nodes_axis(data["nodes"])
    base = alt.Chart(alt.NamedData(name="table"))
    from_zero = alt.param(name="validation_zero", value=False, bind=alt.binding_checkbox(name="time axis from zero "))
    time = alt.Y(
        "time_s:Q",
        title="time",
        axis=alt.Axis(labelExpr=TIME_LABEL),
        scale=alt.Scale(zero=alt.ExprRef("validation_zero")),
    )
    tooltip = [
        alt.Tooltip("technique:N"),
        alt.Tooltip("nodes:Q"),
        alt.Tooltip("time_s:Q", title="time [s]", format=".5~g"),
        alt.Tooltip("low_s:Q", title="from [s]", format=".5~g"),
        alt.Tooltip("high_s:Q", title="to [s]", format=".5~g"),
    ]
    lines = (
        base.transform_filter(f"datum.technique != '{_MEASURED}'")
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=30))
        .encode(x=nodes, y=time, **technique_channels(list(projected["technique"])), tooltip=tooltip)
    )
    only = base.transform_filter(f"datum.technique == '{_MEASURED}'")
    whiskers = only.mark_rule(strokeWidth=1.8, color="currentColor").encode(
        x=nodes, y=alt.Y("low_s:Q", title="time"), y2="high_s:Q"
    )
    points = only.mark_point(size=110, shape="diamond", filled=True, color="currentColor", opacity=1).encode(
        x=nodes, y=time, tooltip=[*tooltip, alt.Tooltip("runs:Q")]
    )
    return Figure(
        "validation",
        "Projected and measured time",
        "Lines: the projections, as above. Diamonds: mean of the measured runs, with its "
        f"{percent(inputs.experiment.simulate.confidence)} bootstrap interval where there are several.",
        alt.layer(lines, whiskers, points).add_params(from_zero).properties(height=340),
        data,
    )


def _errors(inputs: Inputs) -> Figure | None:
    if inputs.validation is None:
        return None
    frame = inputs.validation[["technique", "nodes", "error", "error_low", "error_high"]]
    nodes = nodes_axis(frame["nodes"])
    base = alt.Chart(alt.NamedData(name="table"))
    channels = technique_channels(list(frame["technique"]))
    percents = alt.Axis(format="+.3~%")
    band = base.mark_area(opacity=0.15).encode(
        x=nodes, y=alt.Y("error_low:Q", title="error", axis=percents), y2="error_high:Q", color=channels["color"]
    )
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45)).encode(
        x=nodes,
        y=alt.Y("error:Q", title="error", axis=percents),
        **channels,
        tooltip=[
            alt.Tooltip("technique:N"),
            alt.Tooltip("nodes:Q"),
            alt.Tooltip("error:Q", format="+.3%"),
            alt.Tooltip("error_low:Q", title="from", format="+.3%"),
            alt.Tooltip("error_high:Q", title="to", format="+.3%"),
        ],
    )
    zero = base.mark_rule(strokeWidth=1, strokeDash=[2, 3], color="currentColor", aria=False).encode(y=alt.datum(0))
    return Figure(
        "validation-errors",
        "Error of each technique",
        "Projected over measured time, less one: above zero the projection is too slow, below it too fast. Bands: from "
        "the lowest projection over the highest measurement to the highest over the lowest, by their intervals.",
        alt.layer(band, lines, zero).properties(height=280),
        frame,
    )


def _operations(inputs: Inputs) -> Figure | None:
    parts = inputs.validation_breakdown
    if parts is None:
        return None
    known = set(parts.loc[parts["measured_s"].notna(), "operation"])
    # Where single operations were not measured, all of MPI is one part of the projections, too.
    whole = not any(name.startswith("MPI_") for name in known)
    chosen = parts[parts["operation"].isin(["compute", _ALL_MPI])] if whole else parts[parts["operation"] != _ALL_MPI]
    measured = chosen.drop_duplicates(["nodes", "operation"]).assign(technique=_MEASURED)
    data = pd.concat(
        [
            measured.rename(columns={"measured_s": "seconds"})[["technique", "nodes", "operation", "seconds"]],
            chosen.rename(columns={"projected_s": "seconds"})[["technique", "nodes", "operation", "seconds"]],
        ],
        ignore_index=True,
    ).dropna(subset=["seconds"])
    data["share"] = data["seconds"] / data.groupby(["technique", "nodes"])["seconds"].transform("sum")
    chart, folded = stacks(data, "validation_nodes", first=_MEASURED)
    return Figure(
        "validation-breakdown",
        "Where the time goes, measured and projected",
        "Mean seconds per rank in computation and in each MPI operation (Figure 6 of Eyerman et al.). Left: measured.",
        chart,
        folded,
    )


def _case(row: Any) -> str:
    """Return the name of a series of sizes."""
    name = " ".join(word for word in (row.collective, row.algorithm) if word)
    return ", ".join(
        word for word in (name, f"{row.nodes} x {row.ranks_per_node}", row.campaign, row.placement) if word
    )


def _collectives(inputs: Inputs) -> Figure | None:
    if inputs.validation_collectives is None:
        return None
    frame = inputs.validation_collectives.copy()
    frame["case"] = [_case(row) for row in frame.itertuples()]
    frame["message"] = [size(value) for value in frame["bytes"]]
    long = frame.melt(
        id_vars=["case", "collective", "bytes", "message", "nodes", "ranks_per_node", "error"],
        value_vars=["measured_s", "simulated_s"],
        var_name="what",
        value_name="seconds",
    )
    long["what"] = long["what"].str.removesuffix("_s")
    cases = list(dict.fromkeys(long["case"]))
    choice = alt.param(name="collective_case", value=cases[0], bind=alt.binding_select(options=cases, name="of "))
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45))
        .encode(
            x=alt.X("message:O", title="message", sort=alt.SortField("bytes"), axis=alt.Axis(labelAngle=-40)),
            y=alt.Y("seconds:Q", title="latency", scale=alt.Scale(type="log"), axis=alt.Axis(labelExpr=TIME_LABEL)),
            color=alt.Color("what:N", legend=alt.Legend(title=None), scale=alt.Scale(range=COLOURS[:2])),
            tooltip=[
                alt.Tooltip("what:N"),
                alt.Tooltip("message:O"),
                alt.Tooltip("seconds:Q", title="latency [s]", format=".4~g"),
                alt.Tooltip("error:Q", format="+.1%"),
            ],
        )
        .transform_filter("datum.case == collective_case")
        .add_params(choice)
        .properties(height=320)
    )
    return Figure(
        "validation-collectives",
        "Collectives alone, measured and simulated",
        "Latency over one rank's contribution: measured by a benchmark, and simulated on the experiment's network with "
        "its collective algorithms.",
        chart,
        long,
    )


def _campaign(inputs: Inputs) -> Figure | None:
    """Return the error of every measured collective; none where there are few, which the other figure shows."""
    if inputs.validation_collectives is None:
        return None
    frame = inputs.validation_collectives.copy()
    frame["case"] = [_case(row) for row in frame.itertuples()]
    if frame["case"].nunique() < _CAMPAIGN:
        return None
    frame["ratio"] = 1 + frame["error"]
    frame["message"] = [size(value) for value in frame["bytes"]]
    base = alt.Chart(alt.NamedData(name="table"))
    ratio = alt.Y("ratio:Q", title="simulated / measured", scale=alt.Scale(type="log"))
    points = base.mark_circle(size=45, opacity=0.7).encode(
        x=alt.X("message:O", title="message", sort=alt.SortField("bytes"), axis=alt.Axis(labelAngle=-40)),
        y=ratio,
        color=alt.Color("collective:N", legend=alt.Legend(title=None)),
        tooltip=[
            alt.Tooltip("case:N", title="measured"),
            alt.Tooltip("simulated_algorithm:N", title="simulated as"),
            alt.Tooltip("message:O"),
            alt.Tooltip("measured_s:Q", title="measured [s]", format=".4~g"),
            alt.Tooltip("simulated_s:Q", title="simulated [s]", format=".4~g"),
            alt.Tooltip("error:Q", format="+.1%"),
        ],
    )
    one = base.mark_rule(strokeWidth=1, strokeDash=[2, 3], color="currentColor", aria=False).encode(y=alt.datum(1))
    columns = ["case", "collective", "simulated_algorithm", "bytes", "message", "measured_s", "simulated_s", "error"]
    return Figure(
        "validation-campaign",
        "Collectives alone, the error of every measurement",
        "Simulated over measured latency against one rank's contribution; on the dashed line they are equal.",
        alt.layer(points, one).properties(height=320),
        frame[[*columns, "ratio"]],
    )
