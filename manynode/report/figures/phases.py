"""Total compute time per phase: the largest phases as bars, those of the set-up as one, named as in the table."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, LABEL_LIMIT, LABEL_LINES, TIME_LABEL, Figure, in_lines, row_height
from manynode.report.load import Inputs
from manynode.report.own_times import own_rows, own_words
from manynode.report.phase_table import PhaseRow, phase_rows, without_set_up
from manynode.report.wording import percent

_MOST = 20
_TIMES = alt.Axis(labelExpr=TIME_LABEL, tickCount=6)


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure of the largest compute phases; of the user's own times, one execution of each."""
    if inputs.own_times is not None:
        return _own(inputs)
    rows = phase_rows(inputs)
    if not rows:
        return None
    single, set_up = without_set_up(inputs, rows)
    total = sum(row.total_s for row in rows)
    drawn = single[:_MOST]
    if set_up:
        drawn = sorted([*drawn, _together(inputs.phase_labels.group, set_up)], key=lambda row: -row.total_s)
    shown = pd.DataFrame(
        {
            "phase": [row.name for row in drawn],
            "label": [in_lines(f"{n + 1}  {row.label}") for n, row in enumerate(drawn)],
            "executions_per_rank": [row.count for row in drawn],
            "mean_s": [row.mean_s for row in drawn],
            "total_s": [row.total_s for row in drawn],
            "share": [row.total_s / total if total > 0 else 0.0 for row in drawn],
        }
    )
    chart = _bars(
        shown,
        alt.X("total_s:Q", title="compute time per rank", axis=_TIMES),
        [
            alt.Tooltip("executions_per_rank:Q", title="executions per rank", format=".5~g"),
            alt.Tooltip("mean_s:Q", title="mean [s]", format=".4~g"),
            alt.Tooltip("total_s:Q", title="total per rank [s]", format=".4~g"),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    rest = sum(row.total_s for row in single[_MOST:]) / total if total > 0 else 0.0
    note = (
        f"The {_MOST} largest of {len(single):,} phases are drawn; the others have {percent(rest)} of the time."
        if len(single) > _MOST
        else ""
    )
    return Figure(
        "phases",
        "Compute phases",
        "Time between MPI calls on the simulated node, mean over its ranks, "
        f"{'with' if inputs.mode == 'ext' else 'without'} external ranks. The table below names where each phase lies.",
        chart,
        shown,
        note,
    )


def _own(inputs: Inputs) -> Figure | None:
    """Return the figure of the user's own times: the mean of one execution."""
    rows = [row for row in own_rows(inputs) if row.mean > 0]
    if not rows:
        return None
    names = [f"{row.phase} (class {row.class_})" if row.class_ else row.phase for row in rows[:_MOST]]
    shown = pd.DataFrame(
        {
            "phase": names,
            "label": [in_lines(f"{n + 1}  {name}") for n, name in enumerate(names)],
            "mean_s": [row.mean for row in rows[:_MOST]],
            "spread": [row.spread for row in rows[:_MOST]],
        }
    )
    chart = _bars(
        shown,
        alt.X("mean_s:Q", title="compute time of one execution, mean", axis=_TIMES),
        [alt.Tooltip("mean_s:Q", title="mean [s]", format=".4~g"), alt.Tooltip("spread:Q", format=".1%")],
    )
    note = f"The {_MOST} longest of {len(rows):,} are drawn." if len(rows) > _MOST else ""
    return Figure("phases", "Compute phases", f"The mean of one execution. {own_words(inputs)}", chart, shown, note)


def _bars(shown: pd.DataFrame, across: alt.X, tooltip: list[alt.Tooltip]) -> alt.Chart:
    axis = alt.Axis(ticks=False, labelLimit=LABEL_LIMIT, labelExpr=LABEL_LINES)
    return (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar(color=COLOURS[0], size=13)
        .encode(
            y=alt.Y("label:N", title="compute phase", sort=None, axis=axis),
            x=across,
            tooltip=[alt.Tooltip("phase:N"), *tooltip],
        )
        .properties(height=max(40, row_height(shown["label"]) * len(shown)))
    )


def _together(label: str, rows: list[PhaseRow]) -> PhaseRow:
    """Return several phases as one row."""
    count, seconds = sum(row.count for row in rows), sum(row.total_s for row in rows)
    return PhaseRow(label, label, count, seconds / count if count else 0.0, seconds, "", "", [], "", None)
