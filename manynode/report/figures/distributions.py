"""The distribution of compute times of one phase: the cumulative distribution of each cluster."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, MOST_POINTS, TIME_LABEL, Figure
from manynode.report.figures.choice import labelled_phases, left_out, phase_choice
from manynode.report.load import Inputs
from manynode.report.own_times import own_words
from manynode.timing_profile import ClusterTimes

_FEWEST = 8  # points that a distribution keeps however many there are


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure of distributions, a phase at a time."""
    phases = list(labelled_phases(inputs))
    if not phases:
        return None
    every = len(phases)
    phases = phases[: MOST_POINTS // (2 * _FEWEST)]
    curves = sum(len(phase.clusters) for _, _, phase in phases)
    most = max(_FEWEST, MOST_POINTS // curves)
    rows = []
    full = shown = 0
    for label, _, phase in phases:
        for index, cluster in enumerate(phase.clusters):
            kept = _kept(cluster, most)
            full += len(cluster.cdf.time_s)
            shown += len(kept)
            rows += [
                {
                    "phase": label,
                    "name": phase.name,
                    "cluster": str(index),
                    "weight": cluster.weight,
                    "mean_s": cluster.mean_s,
                    "time_s": time,
                    "probability": probability,
                }
                for time, probability in kept
            ]
    frame = pd.DataFrame(rows)
    names = sorted(set(frame["cluster"]), key=int)
    colour = alt.Color(
        "cluster:N",
        legend=alt.Legend(title="cluster", symbolType="stroke"),
        scale=alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))]),
    )
    tooltip = [
        alt.Tooltip("name:N", title="phase"),
        alt.Tooltip("cluster:N"),
        alt.Tooltip("time_s:Q", title="time [s]", format=".4~g"),
        alt.Tooltip("probability:Q", title="at most this", format=".1%"),
        alt.Tooltip("mean_s:Q", title="mean of the cluster [s]", format=".4~g"),
        alt.Tooltip("weight:Q", title="share of the executions", format=".1%"),
    ]
    base = alt.Chart(alt.NamedData(name="table")).encode(
        x=alt.X(
            "time_s:Q",
            title="compute time (logarithmic)",
            scale=alt.Scale(type="log", nice=False, padding=10),
            axis=alt.Axis(labelExpr=TIME_LABEL, labelOverlap="greedy", tickCount=8),
        ),
        y=alt.Y(
            "probability:Q",
            title="share of the cluster's executions",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        color=colour,
        tooltip=tooltip,
    )
    chart = (
        alt.layer(base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=14))
        .transform_filter("datum.phase == distributions_phase && datum.time_s > 0")
        .add_params(phase_choice("distributions_phase", [label for label, _, _ in phases]))
        .properties(height=300)
    )
    note = f"{shown:,} of {full:,} points are shown." if shown < full else ""
    note += f" The {len(phases)} largest of {every:,} phases can be chosen." if len(phases) < every else ""
    note = f"{note} {left_out(inputs)}".strip()
    note += f" All are in nodesim/timing-profile-{inputs.mode}.json." if note else ""
    return Figure(
        "distributions",
        "Distribution of compute times",
        "A curve per cluster: the share of its executions that take at most this time. Phase 3 draws from them where "
        f"compute times vary, and takes means where they are constant. {_whose(inputs)}",
        chart,
        frame,
        note,
    )


def _whose(inputs: Inputs) -> str:
    if inputs.own_times is not None:
        return f"{own_words(inputs)} They are log-normal, with the given mean and spread."
    return f"Timings {'with' if inputs.mode == 'ext' else 'without'} external ranks."


def _kept(cluster: ClusterTimes, most: int) -> list[tuple[float, float]]:
    points = list(zip(cluster.cdf.time_s, cluster.cdf.probability, strict=False))
    if len(points) <= most:
        return points
    return [points[round(i * (len(points) - 1) / (most - 1))] for i in range(most)]
