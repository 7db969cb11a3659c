"""Mean seconds per rank in compute and in each MPI operation, a stack per technique (Figure 6 of Eyerman et al.)."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, COMPUTE_COLOUR, TECHNIQUE_STYLE, TIME_LABEL, Figure, in_order
from manynode.report.figures.node_choice import node_choice
from manynode.report.load import Inputs

_REST = "other MPI"


def draw(inputs: Inputs) -> Figure | None:
    """Return the breakdown figure; operations beyond the largest are added up as ``other MPI``."""
    if inputs.breakdown is None:
        return None
    chart, frame = stacks(
        inputs.breakdown[["technique", "nodes", "operation", "seconds", "share"]], parameter="breakdown_nodes"
    )
    return Figure(
        "breakdown",
        "Where the time goes",
        "Seconds in computation and in each MPI operation, mean over ranks and replicas. Time in MPI includes waiting "
        "for slower ranks.",
        chart,
        frame,
    )


def stacks(frame: pd.DataFrame, parameter: str, first: str | None = None) -> tuple[alt.Chart, pd.DataFrame]:
    """Return a chart of one stack per technique at a chosen node count, and its data.

    ``frame`` has technique, nodes, operation, seconds, share; ``parameter`` names the choice of nodes in the page;
    ``first`` stands before the techniques (a measurement).
    """
    frame = _folded(frame, len(COLOURS))
    totals = frame.groupby("operation")["seconds"].sum().sort_values(ascending=False)
    operations = ["compute"] + [str(name) for name in totals.index if name not in ("compute", _REST)]
    operations += [_REST] if _REST in totals.index else []
    frame["position"] = [operations.index(name) for name in frame["operation"]]
    frame = frame.sort_values(["technique", "nodes", "position"], ignore_index=True)
    order = [*([first] if first else []), *TECHNIQUE_STYLE]
    techniques = in_order(sorted(set(frame["technique"])), order)
    choice = node_choice(parameter, frame["nodes"])
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar(size=46)
        .encode(
            x=alt.X("technique:N", title="technique", sort=techniques, axis=alt.Axis(labelAngle=0, ticks=False)),
            y=alt.Y("seconds:Q", title="mean time per rank", stack="zero", axis=alt.Axis(labelExpr=TIME_LABEL)),
            color=alt.Color(
                "operation:N",
                legend=alt.Legend(title=None),
                scale=alt.Scale(domain=operations, range=[COMPUTE_COLOUR, *COLOURS][: len(operations)]),
            ),
            order=alt.Order("position:Q"),
            tooltip=[
                alt.Tooltip("technique:N"),
                alt.Tooltip("operation:N"),
                alt.Tooltip("seconds:Q", title="mean per rank [s]", format=".4~g"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .transform_filter(f"datum.nodes == {parameter}")
        .add_params(choice)
        .properties(height=320)
    )
    return chart, frame


def _folded(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return ``frame`` with the smaller MPI operations as one, so that at most ``most`` are left beside compute."""
    totals = frame.loc[frame["operation"] != "compute"].groupby("operation")["seconds"].sum()
    largest = totals.sort_values(ascending=False, kind="stable").index
    if len(largest) <= most:
        return frame.copy()
    small = set(largest[most - 1 :])
    folded = frame.assign(operation=[_REST if name in small else name for name in frame["operation"]])
    return folded.groupby(["technique", "nodes", "operation"], as_index=False)[["seconds", "share"]].sum()
