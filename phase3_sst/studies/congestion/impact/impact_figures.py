"""The figures of the part ``impact``, after their figures 4 to 7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, Figure
from phase3_sst.studies.congestion.impact.layout import NAMES, SETTINGS
from phase3_sst.studies.congestion.impact.pressure import METRICS

_ORDER = [f"{setting}: {NAMES[setting]}" for setting in SETTINGS]
_RUN_TIME = "run time over the median of setting I"


def figures(tables: Mapping[str, pd.DataFrame]) -> list[Figure]:
    """Return the figures of the tables by name; those without rows are left out."""
    found = []
    if len(tables["runs"]):
        runs = tables["runs"].assign(setting=tables["runs"]["setting"].map(_named))
        found += [_times(tables["times"]), _ratio(runs), _hosts(runs), _shares(tables["sensitivity"])]
        found.append(_correlations(tables["correlations"]))
    if len(tables["pressure"]):
        found.append(_pressure(tables["pressure"]))
    return found


def _named(setting: str) -> str:
    return f"{setting}: {NAMES[setting]}"


def _setting() -> alt.Color:
    scale = alt.Scale(domain=_ORDER, range=[COLOURS[0], COLOURS[4], COLOURS[1], COLOURS[5]])
    return alt.Color("setting:N", scale=scale, legend=alt.Legend(title=None))


def _log(title: str, field: str) -> Any:
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type="log", nice=False, padding=10))


def _times(table: pd.DataFrame) -> Figure:
    frame = table.assign(setting=table["setting"].map(_named))
    base = alt.Chart(alt.NamedData(name="table"))
    x = alt.X("application:N", title="application", sort=None, axis=alt.Axis(labelAngle=0))
    offset = alt.XOffset("setting:N", sort=_ORDER)
    tips = [
        *(alt.Tooltip("application:N"), alt.Tooltip("setting:N"), alt.Tooltip("runs:Q")),
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("least", "first_quartile", "median")),
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("third_quartile", "largest")),
    ]
    whiskers = base.mark_rule().encode(
        x=x, xOffset=offset, y=_log(_RUN_TIME, "least"), y2="largest:Q", color=_setting()
    )
    boxes = base.mark_bar(size=12).encode(
        x=x, xOffset=offset, y=_log(_RUN_TIME, "first_quartile"), y2="third_quartile:Q", color=_setting(), tooltip=tips
    )
    medians = base.mark_tick(thickness=2, size=14, color="#20262c").encode(
        x=x, xOffset=offset, y=_log(_RUN_TIME, "median"), tooltip=tips
    )
    return Figure(
        "times",
        "Run times in four settings",
        "Each application relative to its median in setting I: minimum, quartiles and maximum over the rotations.",
        alt.layer(whiskers, boxes, medians).properties(height=340),
        frame,
    )


def _scatter(runs: pd.DataFrame, metric: str, title: str) -> Any:
    return (
        alt.Chart(alt.NamedData(name="table"))
        .mark_point(filled=True, size=55, opacity=0.75)
        .encode(
            x=alt.X(f"{metric}:Q", title=title, axis=alt.Axis(format="~s")),
            y=_log(_RUN_TIME, "normalised"),
            color=_setting(),
            shape=alt.Shape("application:N", legend=alt.Legend(title=None)),
            tooltip=[
                *(alt.Tooltip("application:N"), alt.Tooltip("setting:N"), alt.Tooltip("rotation:Q")),
                *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("normalised", metric)),
            ],
        )
        .properties(height=340)
    )


def _frame(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    return runs[["application", "setting", "rotation", "normalised", metric]]


def _ratio(runs: pd.DataFrame) -> Figure:
    return Figure(
        "stall-flit",
        "Run time and the stall/flit ratio",
        "A point is a run; the ratio is the mean over the routers that the application's nodes are attached to.",
        _scatter(runs, "stall_flit_ratio", "stalls over flits of network ports"),
        _frame(runs, "stall_flit_ratio"),
    )


def _hosts(runs: pd.DataFrame) -> Figure:
    return Figure(
        "host-stalls",
        "Run time and the stalls of host ports",
        "A point is a run; stalls of the ports towards the application's nodes, in flit times per second.",
        _scatter(runs, "host_stalls_per_s", "stalls per second of host ports"),
        _frame(runs, "host_stalls_per_s"),
    )


def _shares(table: pd.DataFrame) -> Figure:
    names = {"mpi_share": "in MPI", "collective_share": "in collectives", "allreduce_share": "in MPI_Allreduce"}
    frame = table.melt(["application", "endpoint", "intermediate"], list(names), var_name="where", value_name="share")
    frame["where"] = frame["where"].map(names)
    frame = frame.melt(["application", "where", "share"], ["endpoint", "intermediate"], "congestion", "slowdown")
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_point(filled=True, size=80)
        .encode(
            x=alt.X("share:Q", title="share of the time without congestor", axis=alt.Axis(format="%")),
            y=_log("slowdown by the congestor", "slowdown"),
            color=alt.Color("where:N", sort=None, legend=alt.Legend(title=None), scale=alt.Scale(range=COLOURS[:3])),
            shape=alt.Shape("congestion:N", legend=alt.Legend(title=None)),
            tooltip=[
                *(alt.Tooltip("application:N"), alt.Tooltip("where:N"), alt.Tooltip("congestion:N")),
                *(alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("slowdown:Q", format=".4~g")),
            ],
        )
        .properties(height=320)
    )
    return Figure(
        "predictors",
        "Slowdown, and where the time goes",
        "Slowdown is the median over rotations of the run with congestor over the one without, on the same nodes.",
        chart,
        frame,
    )


def _correlations(table: pd.DataFrame) -> Figure:
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_point(filled=True, size=80)
        .encode(
            x=alt.X("r:Q", title="Pearson's r with the run time", scale=alt.Scale(domain=[-1, 1])),
            y=alt.Y("metric:N", title="metric", sort=list(METRICS)),
            color=alt.Color("application:N", legend=alt.Legend(title=None), scale=alt.Scale(range=COLOURS)),
            tooltip=[
                *(alt.Tooltip("application:N"), alt.Tooltip("metric:N"), alt.Tooltip("r:Q", format=".3f")),
                *(alt.Tooltip("p:Q", format=".2~g"), alt.Tooltip("n:Q")),
            ],
        )
        .properties(height=alt.Step(46))
    )
    return Figure(
        "correlations",
        "Counters and run time",
        "Over all runs of an application, in all settings.",
        chart,
        table,
    )


def _pressure(table: pd.DataFrame) -> Figure:
    frame = table[["nodes", "level", "repetition", "impact", "impact_p99", "stall_flit_ratio"]].copy()
    frame["nodes"] = frame["nodes"].astype(str)
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X("impact:Q", title="impact factor: congested over isolated time of the canary"),
            y=alt.Y("stall_flit_ratio:Q", title="stalls over flits of network ports"),
            color=alt.Color("nodes:N", sort=None, legend=alt.Legend(title="nodes"), scale=alt.Scale(range=COLOURS)),
            shape=alt.Shape("level:N", legend=alt.Legend(title="level")),
            tooltip=[
                *(alt.Tooltip("nodes:N"), alt.Tooltip("level:N"), alt.Tooltip("repetition:Q")),
                *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("impact", "impact_p99", "stall_flit_ratio")),
            ],
        )
        .properties(height=320)
    )
    return Figure(
        "pressure",
        "The congestor alone",
        "A point is a run of congestor and canary; the ratio is over the routers of both.",
        chart,
        frame,
    )
