"""The quality of the variability model, in sentences and figures (figures 5, 8 and 11 of Chunduri et al.)."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, Figure, thinned
from manynode.report.wording import percent
from phase3_sst.studies.congestion.variability.training_report import Trained

R2_WANTED, WITHIN_WANTED = 0.9, 0.9
_Z = "standard deviations"


def quality(found: Trained) -> list[str]:
    """Return how good the model is, in sentences."""
    overall = found.summary.iloc[0]
    runs, applications = len(found.runs), found.runs["application"].nunique()
    lines = [
        f"10-fold R2 is {overall['r2']:.3f} on {runs} runs of {applications} applications (the paper: 0.91 on about "
        f"2,000 runs); with run times standardised and hyperparameters chosen before the folds, as in the paper, "
        f"{found.r2_as_the_paper:.3f}.",
        _rule(overall),
    ]
    own = found.summary.iloc[1:].sort_values("r2", ascending=False)
    if len(own) > 1:
        lines.append("R2 by application: " + ", ".join(f"{r.application} {r.r2:.2f}" for r in own.itertuples()) + ".")
    sizes = found.tables["training-sizes"][1]
    if len(sizes):
        parts = [f"{percent(r.share)} of the runs {r.r2:.2f}" for r in sizes.itertuples()]
        lines.append(f"R2 with fewer runs to train on: {', '.join(parts)} (the paper: 0.62, 0.79, 0.83 and 0.91).")
    lines += _unseen(found.tables["unseen"][1])
    return lines


def _rule(overall: Any) -> str:
    if overall["kept"] >= 1:
        return f"No estimate is refused; {percent(overall['within_kept'])} of the runs lie within the error bounds."
    if overall["kept"] <= 0:
        return "Every estimate is refused: the two models never agree."
    words = (
        f"The refusal rule keeps {percent(overall['kept'])} of the estimates, and {percent(overall['within_kept'])} of "
        "those runs lie within the error bounds (the paper: 90.2 % and 96.1 %)"
    )
    return f"{words}; of the refused ones {percent(overall['within_refused'])} would have."


def _unseen(table: pd.DataFrame) -> list[str]:
    if table.empty:
        return []
    wide = table.pivot(index="application", columns="target_runs", values="r2")
    parts = []
    for name, row in wide.iterrows():
        said = [f"{row[count]:.2f} with {count}" for count in wide.columns if not math.isnan(row[count])]
        parts.append(f"{name} {', '.join(said)}")
    return [
        f"R2 of an application outside the training runs, by the number of its runs added to them: {'; '.join(parts)}."
    ]


def figures(found: Trained) -> list[Figure]:
    """Return the figures of a trained model."""
    return [_estimates(found), _embedding(found), _features(found), _sizes(found)]


def _application(**options: Any) -> alt.Color:
    return alt.Color("application:N", scale=alt.Scale(range=COLOURS), legend=alt.Legend(title=None), **options)


def _chart() -> alt.Chart:
    return alt.Chart(alt.NamedData(name="table"))


def _estimates(found: Trained) -> Figure:
    table = found.tables["estimates"][1]
    columns = ["application", "nodes", "run", "run_time_s", "truth", "estimate", "bound", "kept"]
    frame, note = thinned(table[columns].assign(agree=table["kept"].map({True: "kept", False: "refused"})), "runs")
    ends = [float(frame[["truth", "estimate"]].min().min()), float(frame[["truth", "estimate"]].max().max())]
    frame = frame.assign(low=frame["estimate"] - frame["bound"], high=frame["estimate"] + frame["bound"])
    line = alt.Chart(alt.NamedData(name="diagonal")).mark_line(strokeDash=[4, 4], color="#8a94a0")
    points = _chart().mark_point(filled=True, size=28, opacity=0.75)
    tips = [alt.Tooltip(f"{name}:N") for name in ("application", "run", "agree")]
    tips += [alt.Tooltip(f"{name}:Q", format=".3~g") for name in ("nodes", "run_time_s", "truth", "estimate", "bound")]
    bars = (
        _chart()
        .mark_rule(opacity=0.12)
        .encode(x="truth:Q", y=alt.Y("low:Q", title=f"estimate [{_Z}]"), y2="high:Q", color=_application())
    )
    chart = alt.layer(
        bars,
        line.encode(x=alt.X("x:Q", title=f"run time [{_Z}]"), y="x:Q"),
        points.encode(
            x="truth:Q", y="estimate:Q", color=_application(), tooltip=tips,
            shape=alt.Shape("agree:N", scale=alt.Scale(domain=["kept", "refused"], range=["circle", "cross"])),
        ),
    )  # fmt: skip
    return Figure(
        "estimates",
        "Estimate and truth",
        "Each run was estimated by a model that had not seen it (10 folds); bars are the error bounds.",
        chart,
        frame,
        note,
        {"diagonal": pd.DataFrame({"x": ends})},
    )


def _embedding(found: Trained) -> Figure:
    frame, note = thinned(found.tables["embedding"][1], "runs")
    axis = alt.Axis(labels=False, ticks=False)
    chart = (
        _chart()
        .mark_point(filled=True, size=30, opacity=0.8)
        .encode(
            x=alt.X("x:Q", title=None, axis=axis),
            y=alt.Y("y:Q", title=None, axis=axis),
            color=_application(),
            shape=alt.Shape("nodes:O", legend=alt.Legend(title="nodes")),
            tooltip=["application:N", "nodes:O", "run:N", alt.Tooltip("truth:Q", format="+.2f", title=_Z)],
        )
    )
    return Figure(
        "embedding",
        "Runs with similar counters",
        "t-SNE of the scaled features: neighbours have similar counters; distances between clouds have no meaning.",
        chart,
        frame,
        note,
    )


def _features(found: Trained) -> Figure:
    frame = found.tables["importances"][1].assign(place=range(len(found.tables["importances"][1])))
    chart = (
        _chart()
        .mark_bar()
        .encode(
            x=alt.X("importance:Q", title="importance (reduction of impurity)"),
            y=alt.Y("feature:N", sort=alt.EncodingSortField("place"), title="feature"),
            color=alt.Color(
                "used:N", scale=alt.Scale(domain=[True, False], range=[COLOURS[0], "#c3c9cf"]),
                legend=alt.Legend(title="used by the model"),
            ),
            tooltip=["feature:N", alt.Tooltip("importance:Q", format=".3f"), "used:N"],
        )
        .properties(height=26 * 17)
    )  # fmt: skip
    return Figure(
        "features",
        "Importance of the statistics",
        "Importance of all 26 statistics for a random forest.",
        chart,
        frame,
    )


def _sizes(found: Trained) -> Figure:
    frame = found.tables["training-sizes"][1]
    x = alt.X("training_runs:Q", title="runs to train on")
    lines = _chart().mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45), color=COLOURS[0])
    bands = _chart().mark_rule(color=COLOURS[0], opacity=0.5)
    chart = alt.layer(
        bands.encode(x=x, y=alt.Y("r2_low:Q", title="R2 of the other runs"), y2="r2_high:Q"),
        lines.encode(x=x, y="r2:Q", tooltip=["training_runs:Q", alt.Tooltip("r2:Q", format=".3f")]),
    )
    return Figure(
        "training",
        "How many runs are needed",
        "Mean and range of three draws of the training runs.",
        chart,
        frame,
    )
