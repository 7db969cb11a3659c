"""The sensitivity study: time over each varied parameter (Figures 9 to 12 of Eyerman et al.), Sobol indices."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, TIME_LABEL, Figure
from manynode.report.figures import heat_map
from manynode.report.figures.heat_map import WRITTEN
from manynode.report.figures.technique_lines import nodes_axis, technique_channels
from manynode.report.load import Inputs


def draw(inputs: Inputs) -> list[Figure]:
    """Return a figure per parameter, or one of the indices; of a grid, a heat map of two parameters first."""
    if inputs.sensitivity is None:
        return []
    if inputs.sensitivity_indices is not None:
        return [_indices(inputs.sensitivity_indices)]
    names = [str(name).removesuffix(WRITTEN) for name in inputs.sensitivity.columns if str(name).endswith(WRITTEN)]
    grid = inputs.resolved["sensitivity"]["plan"] == "grid"
    heat = heat_map.draw(inputs.sensitivity, names) if grid else None
    return [*([heat] if heat is not None else []), *(_over(inputs, name, names) for name in names)]


def _over(inputs: Inputs, name: str, names: list[str]) -> Figure:
    """Return the time over the parameter ``name``: a line per value of the next parameter, or per technique."""
    assert inputs.sensitivity is not None
    study = inputs.resolved["sensitivity"]
    frame, others = inputs.sensitivity, [other for other in names if other != name]
    if study["plan"] == "one-at-a-time":
        # The other parameters have the experiment's own values there.
        frame = frame[frame["varied"] == name]
        others = []
    slug = name.replace(" ", "-")
    columns = ["technique", "nodes", name, name + WRITTEN, *(other + WRITTEN for other in others)]
    frame = frame[[*columns, "time_s", "low_s", "high_s", "relative"]].reset_index(drop=True)
    # Names with commas, dots and brackets are expressions to Vega.
    plain = {name: "x", name + WRITTEN: "value", **{other + WRITTEN: f"other{i}" for i, other in enumerate(others)}}
    frame = frame.rename(columns=plain)
    is_number = pd.api.types.is_numeric_dtype(frame["x"])
    several_nodes = frame["nodes"].nunique() > 1
    choices: dict[str, tuple[str, list[Any]]] = {}
    channels: dict[str, Any]
    if not is_number and several_nodes:
        x, channels, line = nodes_axis(frame["nodes"]), _colours("value", name, frame), True
        rest = others
    else:
        x, line = _axis(frame, name, study["parameters"][name]["scale"]), is_number
        if others and frame["other0"].nunique() <= len(COLOURS):
            channels, rest = _colours("other0", others[0], frame), others[1:]
        else:
            channels, rest = technique_channels(list(frame["technique"])), others
        if several_nodes:
            choices["nodes"] = ("nodes", sorted(int(n) for n in frame["nodes"].unique()))
    if channels["color"].to_dict()["field"] != "technique" and frame["technique"].nunique() > 1:
        choices["technique"] = ("technique", list(dict.fromkeys(frame["technique"])))
    for other in rest:
        column = f"other{others.index(other)}"
        choices[column] = (other, list(dict.fromkeys(frame[column])))
    if not line:
        channels.pop("strokeDash", None)
    relative = alt.param(
        name=f"{_word(slug)}_relative", value=False, bind=alt.binding_checkbox(name="relative to the shortest time ")
    )
    chart = alt.Chart(alt.NamedData(name="table"))
    parameters = [relative]
    for column, (label, values) in choices.items():
        parameter = alt.param(
            name=f"{_word(slug)}_{column}", value=values[-1], bind=alt.binding_select(options=values, name=f"{label} ")
        )
        parameters.append(parameter)
        chart = chart.transform_filter(f"datum.{column} == {_word(slug)}_{column}")
    chart = chart.transform_calculate(shown=f"{_word(slug)}_relative ? datum.relative : datum.time_s")
    marks = chart.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45)) if line else chart.mark_point(size=90)
    chart = (
        marks.encode(
            x=x,
            y=alt.Y(
                "shown:Q",
                title="projected time, or its ratio to the shortest",
                axis=alt.Axis(labelExpr=f"{_word(slug)}_relative ? format(datum.value, '.3~g') : {TIME_LABEL}"),
                scale=alt.Scale(zero=False),
            ),
            **channels,
            tooltip=[
                alt.Tooltip("technique:N"),
                alt.Tooltip("nodes:Q"),
                alt.Tooltip("value:N", title=name),
                *(alt.Tooltip(f"other{i}:N", title=other) for i, other in enumerate(others)),
                alt.Tooltip("time_s:Q", title="time [s]", format=".5~g"),
                alt.Tooltip("low_s:Q", title="from [s]", format=".5~g"),
                alt.Tooltip("high_s:Q", title="to [s]", format=".5~g"),
                alt.Tooltip("relative:Q", title="over the shortest", format=".4~g"),
            ],
        )
        .add_params(*parameters)
        .properties(height=320)
    )
    return Figure(
        f"sensitivity-{slug}",
        f"Time over {name}",
        f"Projected time for each value of {name} ({', '.join(study['parameters'][name]['keys'])}). All variants "
        "draw the same compute times: differences come from the parameter.",
        chart,
        frame,
    )


def _word(text: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in text)


def _axis(frame: pd.DataFrame, name: str, scale: str) -> alt.X:
    """Return an axis with a tick at each value, labelled as the experiment has it."""
    if not pd.api.types.is_numeric_dtype(frame["x"]):
        return alt.X("value:N", title=name, sort=list(dict.fromkeys(frame["value"])), axis=alt.Axis(labelAngle=0))
    values = sorted({float(value) for value in frame["x"]})
    texts = dict(zip(frame["x"].astype(float), frame["value"], strict=True))
    labels = json.dumps([texts[value] for value in values])
    positive = bool(frame["x"].min() > 0)
    return alt.X(
        "x:Q",
        title=name,
        scale=alt.Scale(type="log" if scale == "log" and positive else "linear", nice=False, padding=14),
        axis=alt.Axis(
            values=values,
            labelExpr=f"{labels}[indexof({json.dumps(values)}, datum.value)] || ''",
            grid=False,
            labelOverlap=True,
        ),
    )


def _colours(column: str, title: str, frame: pd.DataFrame) -> dict[str, Any]:
    values = list(dict.fromkeys(frame[column]))
    colours = [COLOURS[index % len(COLOURS)] for index in range(len(values))]
    return {
        "color": alt.Color(
            f"{column}:N", legend=alt.Legend(title=title), scale=alt.Scale(domain=values, range=colours), sort=values
        )
    }


def _indices(frame: pd.DataFrame) -> Figure:
    """Return the Sobol indices with their intervals."""
    parts = []
    for kind in ("total", "first"):
        part = frame[["technique", "nodes", "parameter"]].copy()
        part["order"] = kind
        part["index"] = frame[kind]
        part["low"], part["high"] = frame[kind] - frame[f"{kind}_conf"], frame[kind] + frame[f"{kind}_conf"]
        parts.append(part)
    data = pd.concat(parts, ignore_index=True)
    data["curve"] = [f"{row.technique}, {row.nodes} nodes" for row in data.itertuples()]
    curves = list(dict.fromkeys(data["curve"]))
    choice = alt.param(name="indices_curve", value=curves[-1], bind=alt.binding_select(options=curves, name="of "))
    base = alt.Chart(alt.NamedData(name="table")).transform_filter("datum.curve == indices_curve")
    place: dict[str, Any] = {
        "x": alt.X("parameter:N", title="parameter", axis=alt.Axis(labelAngle=0), sort=None),
        "xOffset": alt.XOffset("order:N", sort=["first", "total"]),
    }
    bars = base.mark_bar().encode(
        y=alt.Y("index:Q", title="Sobol index"),
        color=alt.Color("order:N", legend=alt.Legend(title=None), scale=alt.Scale(range=COLOURS[:2])),
        tooltip=[
            alt.Tooltip("parameter:N"),
            alt.Tooltip("order:N"),
            alt.Tooltip("index:Q", format=".3f"),
            alt.Tooltip("low:Q", format=".3f"),
            alt.Tooltip("high:Q", format=".3f"),
        ],
        **place,
    )
    whiskers = base.mark_rule(strokeWidth=1.6).encode(y=alt.Y("low:Q", title="Sobol index"), y2="high:Q", **place)
    return Figure(
        "sensitivity-indices",
        "What the time depends on",
        "Sobol indices of the projected time: the share of its variance over the ranges that each parameter explains "
        "alone (first order) and with all its interactions (total). Lines: intervals by bootstrap.",
        alt.layer(bars, whiskers).add_params(choice).properties(height=280),
        data,
    )
