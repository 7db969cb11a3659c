"""The first executions of a compute phase on one rank, coloured by cluster, with the phase's pattern in words."""

from __future__ import annotations

import math

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, MOST_POINTS, TIME_LABEL, Figure
from manynode.report.figures.choice import labelled_phases, left_out, phase_choice
from manynode.report.load import Inputs
from manynode.report.wording import pattern
from manynode.timing_profile import ClassTimes, ClusterTimes, PhaseTimes, SequencePattern

_MOST_EXECUTIONS, _FEWEST_EXECUTIONS = 140, 20


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure of patterns, a phase at a time; without segments it draws the profile's pattern.

    The user's own times have no pattern.
    """
    phases = list(labelled_phases(inputs))
    if not phases or inputs.own_times is not None:
        return None
    every = len(phases)
    phases = phases[: MOST_POINTS // _FEWEST_EXECUTIONS]
    most = min(_MOST_EXECUTIONS, max(_FEWEST_EXECUTIONS, MOST_POINTS // len(phases)))
    segments = inputs.segments.get(inputs.mode or "")
    rows, words = [], []
    for label, part, phase in phases:
        rank, times = _series(segments, part, phase, most)
        words.append({"phase": label, "words": pattern(phase)})
        rows += [
            {
                "phase": label,
                "name": phase.name,
                "rank": rank,
                "execution": n,
                "time_s": time,
                "cluster": str(_cluster(phase, time)),
            }
            for n, time in enumerate(times)
        ]
    frame = pd.DataFrame(rows, columns=["phase", "name", "rank", "execution", "time_s", "cluster"])
    names = sorted(set(frame["cluster"]), key=int)
    base = (
        alt.Chart(alt.NamedData(name="table"))
        .transform_filter("datum.phase == patterns_phase && datum.time_s > 0")
        .encode(
            x=alt.X(
                "execution:Q",
                title="execution of the phase",
                axis=alt.Axis(grid=False, tickMinStep=1, tickCount=10),
                scale=alt.Scale(nice=False, padding=10),
            ),
            y=alt.Y(
                "time_s:Q",
                title="compute time (logarithmic)",
                scale=alt.Scale(type="log", nice=False, padding=12),
                axis=alt.Axis(labelExpr=TIME_LABEL, labelOverlap="greedy", tickCount=5),
            ),
        )
    )
    line = base.mark_line(color="#9aa3ad", strokeWidth=1)
    points = base.mark_point(filled=True, size=42, opacity=1).encode(
        color=alt.Color(
            "cluster:N",
            legend=alt.Legend(title="cluster", symbolType="circle", offset=28),
            scale=alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))]),
        ),
        tooltip=[
            alt.Tooltip("name:N", title="phase"),
            alt.Tooltip("execution:Q"),
            alt.Tooltip("cluster:N"),
            alt.Tooltip("time_s:Q", title="time [s]", format=".4~g"),
            alt.Tooltip("rank:Q"),
        ],
    )
    text = (
        alt.Chart(alt.NamedData(name="words"))
        .transform_filter("datum.phase == patterns_phase")
        .mark_text(align="left", baseline="bottom", fontSize=13, limit=900)
        .encode(text="words:N", x=alt.value(0), y=alt.value(-6))
    )
    chart = (
        alt.layer(line, points, text)
        .add_params(phase_choice("patterns_phase", [label for label, _, _ in phases]))
        .properties(height=240)
    )
    source = "recorded on the lowest rank of the class" if segments is not None else "as the timing profile says"
    return Figure(
        "patterns",
        "Pattern of compute times",
        f"The first executions of a phase in their order, {source}, each coloured by the cluster it belongs to; above "
        "them the repeated sequence of clusters that phase 3 replays, if there is one.",
        chart,
        frame,
        f"At most the first {most} executions of each phase are shown"
        + (f", and the {len(phases)} largest of {every:,} phases." if len(phases) < every else ".")
        + (f" {words_of_rest}" if (words_of_rest := left_out(inputs)) else ""),
        {"words": pd.DataFrame(words)},
    )


def _series(
    segments: pd.DataFrame | None, part: ClassTimes, phase: PhaseTimes, most: int
) -> tuple[int | None, list[float]]:
    """Return a rank of the class and its first times of the phase."""
    if segments is not None:
        own = segments[segments["phase"].astype(str) == phase.name]
        members = [rank for rank in sorted(set(own["rank"])) if int(rank) in part.simulated_ranks]
        for rank in members[:1]:
            times = own[own["rank"] == rank].sort_values("sequence")["compute_s"].head(most)
            return int(rank), [float(time) for time in times]
    if isinstance(phase.pattern, SequencePattern):
        length = min(most, len(phase.pattern.sequence) * phase.pattern.repeat)
        sequence = [phase.pattern.sequence[n % len(phase.pattern.sequence)] for n in range(length)]
        return None, [phase.clusters[index].mean_s for index in sequence]
    return None, [cluster.mean_s for cluster in phase.clusters]


def _cluster(phase: PhaseTimes, time: float) -> int:
    """Return the cluster that a time belongs to: the one whose range holds it, else the nearest on a log scale."""
    return min(range(len(phase.clusters)), key=lambda index: _distance(phase.clusters[index], time))


def _distance(cluster: ClusterTimes, time: float) -> tuple[float, float]:
    low, high = cluster.cdf.time_s[0], cluster.cdf.time_s[-1]
    outside = _log_ratio(low, time) if time < low else _log_ratio(time, high) if time > high else 0.0
    return outside, abs(_log_ratio(time, cluster.mean_s))


def _log_ratio(a: float, b: float) -> float:
    return math.log(max(a, 1e-12) / max(b, 1e-12))
