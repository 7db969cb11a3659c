"""Losses of time: stacked over nodes, and as a waterfall at one node count."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, COMPUTE_COLOUR, TIME_LABEL, Figure
from manynode.report.figures.node_choice import node_choice
from manynode.report.load import Inputs

_TOTAL = "time"


def draw(inputs: Inputs) -> list[Figure]:
    """Return the two figures of the scaling study."""
    if inputs.losses is None:
        return []
    frame = inputs.losses[["technique", "nodes", "part", "seconds", "low_s", "high_s", "share"]]
    return [_over_nodes(frame), _waterfall(frame)]


def _technique(name: str, frame: pd.DataFrame) -> alt.Parameter:
    techniques = list(dict.fromkeys(frame["technique"]))
    return alt.param(name=name, value=techniques[0], bind=alt.binding_select(options=techniques, name="technique "))


def _colour(frame: pd.DataFrame, *more: str) -> alt.Color:
    parts = [*dict.fromkeys(frame["part"]), *more]
    colours = [COMPUTE_COLOUR, *COLOURS][: len(parts)]
    return alt.Color("part:N", legend=alt.Legend(title=None), scale=alt.Scale(domain=parts, range=colours), sort=parts)


_TIPS = [
    alt.Tooltip("nodes:Q"),
    alt.Tooltip("part:N"),
    alt.Tooltip("seconds:Q", title="seconds", format=".4~g"),
    alt.Tooltip("low_s:Q", title="from [s]", format=".4~g"),
    alt.Tooltip("high_s:Q", title="to [s]", format=".4~g"),
    alt.Tooltip("share:Q", title="of the time", format=".1%"),
]


def _over_nodes(frame: pd.DataFrame) -> Figure:
    technique = _technique("losses_technique", frame)
    shares = alt.param(name="losses_shares", value=False, bind=alt.binding_checkbox(name="as shares of the time "))
    order = {part: index for index, part in enumerate(dict.fromkeys(frame["part"]))}
    data = frame.assign(position=frame["part"].map(order))
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .transform_filter("datum.technique == losses_technique")
        .transform_calculate(shown="losses_shares ? datum.share : datum.seconds")
        .mark_bar()
        .encode(
            x=alt.X("nodes:O", title="nodes", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "shown:Q",
                title="projected time, by what it is spent on",
                stack="zero",
                axis=alt.Axis(labelExpr=f"losses_shares ? format(datum.value, '.0%') : {TIME_LABEL}"),
            ),
            color=_colour(frame),
            order=alt.Order("position:Q"),
            tooltip=_TIPS,
        )
        .add_params(technique, shares)
        .properties(height=320)
    )
    return Figure(
        "losses",
        "Where time is lost",
        "Each simulation removes one more cost of the network and keeps the draws; the drop in time is the loss to "
        "that cost. Dependency: waiting that remains with constant times on a network that costs nothing. "
        "Variability: waiting because compute times vary. Overhead: processor time of messages.",
        chart,
        data,
    )


def _waterfall(frame: pd.DataFrame) -> Figure:
    rows = []
    for (technique, nodes), own in frame.groupby(["technique", "nodes"], sort=False):
        ends = own["seconds"].cumsum()
        rows.append(own.assign(start_s=ends - own["seconds"], end_s=ends))
        total = float(own["seconds"].sum())
        rows.append(
            pd.DataFrame(
                [
                    {
                        **{"technique": technique, "nodes": nodes, "part": _TOTAL, "seconds": total, "share": 1.0},
                        **{"low_s": None, "high_s": None, "start_s": 0.0, "end_s": total},
                    }
                ]
            ).astype({"low_s": float, "high_s": float})
        )
    data = pd.concat(rows, ignore_index=True)
    nodes = node_choice("waterfall_nodes", data["nodes"])
    technique = _technique("waterfall_technique", frame)
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .transform_filter("datum.nodes == waterfall_nodes && datum.technique == waterfall_technique")
        .mark_bar()
        .encode(
            x=alt.X(
                "part:N",
                title="part of the time",
                sort=[*dict.fromkeys(frame["part"]), _TOTAL],
                axis=alt.Axis(labelAngle=0),
            ),
            y=alt.Y("start_s:Q", title="projected time", axis=alt.Axis(labelExpr=TIME_LABEL)),
            y2="end_s:Q",
            color=_colour(frame, _TOTAL).legend(None),
            tooltip=_TIPS,
        )
        .add_params(technique, nodes)
        .properties(height=300)
    )
    return Figure(
        "losses-waterfall",
        "From ideal computation to the projected time",
        "At one node count: each bar begins where the previous one ends. If removing a cost delays other messages, its "
        "bar goes down.",
        chart,
        data,
    )
