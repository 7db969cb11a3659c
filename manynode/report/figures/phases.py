"""Total compute time per phase: the largest phases as bars, named by MPI_Pcontrol or by call sites."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, TIME_LABEL, Figure, shorter
from manynode.report.load import Inputs
from manynode.report.phase_table import phase_rows
from manynode.report.wording import percent

_MOST = 20


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure of the largest compute phases."""
    rows = phase_rows(inputs)
    if not rows:
        return None
    total = sum(row.total_s for row in rows)
    frame = pd.DataFrame(
        {
            "phase": [row.name for row in rows],
            "label": [f"{n + 1}  {shorter(row.name, 44)}" for n, row in enumerate(rows)],
            "executions_per_rank": [row.count for row in rows],
            "mean_s": [row.mean_s for row in rows],
            "total_s": [row.total_s for row in rows],
            "share": [row.total_s / total if total > 0 else 0.0 for row in rows],
        }
    )
    shown = frame.head(_MOST)
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar(color=COLOURS[0], size=13)
        .encode(
            y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(ticks=False)),
            x=alt.X("total_s:Q", title="compute time per rank", axis=alt.Axis(labelExpr=TIME_LABEL, tickCount=6)),
            tooltip=[
                alt.Tooltip("phase:N"),
                alt.Tooltip("executions_per_rank:Q", title="executions per rank", format=".5~g"),
                alt.Tooltip("mean_s:Q", title="mean [s]", format=".4~g"),
                alt.Tooltip("total_s:Q", title="total per rank [s]", format=".4~g"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(height=max(40, 22 * len(shown)))
    )
    rest = frame["share"][_MOST:].sum()
    note = (
        f"The {_MOST} largest of {len(frame):,} phases are drawn; the others have {percent(rest)} of the time."
        if len(frame) > _MOST
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
