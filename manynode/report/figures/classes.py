"""Ranks in feature space: each profiled rank as a point, coloured by its class."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, Figure, thinned
from manynode.report.load import Inputs
from manynode.report.wording import count

_COUNTED = ("instructions", "cycles", "branches", "branch_misses", "loads", "seconds")


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure of ranks in feature space; the features of both axes can be chosen."""
    if inputs.classes is None or inputs.counters is None:
        return None
    features, frame = rank_features(inputs)
    if not features:
        return None
    for name in features:
        mean = frame[name].mean()
        frame[f"{name}_difference"] = frame[name] / mean - 1 if mean else 0.0
    frame, note = thinned(frame, "ranks")
    names = sorted(set(frame["class"]))
    axes = [
        alt.param(
            name=f"classes_{axis}",
            value=features[min(position, len(features) - 1)],
            bind=alt.binding_select(options=features, name=f"{word} "),
        )
        for position, (axis, word) in enumerate((("x", "horizontal"), ("y", "vertical")))
    ]
    # Without this much room, a machine without any difference would show its noise at full height.
    room = max(0.01, 1.1 * float(frame[[f"{name}_difference" for name in features]].abs().max().max()))
    scale = alt.Scale(domain=[-room, room], nice=True)
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .transform_calculate(
            across="datum[classes_x + '_difference']",
            upward="datum[classes_y + '_difference']",
        )
        .mark_point(filled=True, size=70, opacity=0.8)
        .encode(
            x=alt.X(
                "across:Q",
                title="horizontal feature: difference from the mean over ranks",
                axis=alt.Axis(format="+.2~%", tickCount=8),
                scale=scale,
            ),
            y=alt.Y(
                "upward:Q",
                title="vertical feature: difference from the mean",
                axis=alt.Axis(format="+.2~%", tickCount=8),
                scale=scale,
            ),
            color=alt.Color(
                "class:N",
                legend=alt.Legend(title="class", symbolType="circle"),
                scale=alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))]),
            ),
            tooltip=[
                alt.Tooltip("rank:Q"),
                alt.Tooltip("node:Q"),
                alt.Tooltip("class:N"),
                *[alt.Tooltip(f"{name}:Q", format=".6~g") for name in features],
            ],
        )
        .add_params(*axes)
        .properties(height=320)
    )
    return Figure(
        "classes",
        "Ranks in feature space",
        f"Each point is a rank of the job of {count(inputs.classes.reference_nodes, 'node')}, mean over repetitions; "
        "its features are shown as differences from the mean over all ranks. Ranks of one class lie together.",
        chart,
        frame,
        note,
    )


def rank_features(inputs: Inputs) -> tuple[list[str], pd.DataFrame]:
    """Return the features that the counters give, and one row per rank of the reference job with class and features."""
    assert inputs.classes is not None and inputs.counters is not None
    counters = inputs.counters
    at_reference = counters[counters["nodes"] == inputs.classes.reference_nodes]
    counters = at_reference if len(at_reference) else counters[counters["nodes"] == counters["nodes"].max()]
    # Phase "" is all compute phases of the rank together.
    if (counters["phase"] == "").any():
        counters = counters[counters["phase"] == ""]
    columns = [name for name in _COUNTED if name in counters.columns]
    # min_count: a sum over unknown values is unknown, not 0
    runs = counters.groupby(["repetition", "node", "rank"])[columns].sum(min_count=1).reset_index()
    frame = runs.groupby(["node", "rank"], as_index=False)[columns].mean()
    if {"instructions", "cycles"} <= set(columns):
        frame["ipc"] = frame["instructions"] / frame["cycles"].where(frame["cycles"] > 0)
    wanted = {name.lower() for name in inputs.classes.features}
    features = [name for name in ("instructions", "ipc", *_COUNTED[1:]) if name in wanted and name in frame]
    features = [name for name in features if frame[name].notna().any()]
    frame["class"] = [inputs.rank_class(int(rank)) or "unknown" for rank in frame["rank"]]
    return features, frame[["rank", "node", "class", *features]].sort_values("rank", ignore_index=True)
