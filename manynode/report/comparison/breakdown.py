"""Mean seconds per rank in compute and in each MPI operation, a stack per engine."""

from __future__ import annotations

import altair as alt

from manynode.report.comparison.choices import choice, techniques
from manynode.report.comparison.load import Comparison, by_engine
from manynode.report.figure import COLOURS, COMPUTE_COLOUR, TIME_LABEL, Figure


def draw(comparison: Comparison) -> Figure:
    """Return the figure of the breakdown, engines side by side."""
    frame = by_engine(comparison.breakdown, {"seconds": "reference_seconds"})
    totals = frame[frame["operation"] != "compute"].groupby("operation")["seconds"].sum()
    operations = ["compute", *map(str, totals.sort_values(ascending=False, kind="stable").index)]
    frame["position"] = [operations.index(name) for name in frame["operation"]]
    frame = frame.sort_values(["technique", "nodes", "engine", "position"], ignore_index=True)
    colours = [COMPUTE_COLOUR, *(COLOURS[index % len(COLOURS)] for index in range(len(operations) - 1))]
    technique, nodes = comparison.document.largest
    shown = alt.Y("seconds:Q", title="mean time per rank", stack="zero", axis=alt.Axis(labelExpr=TIME_LABEL))
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar(size=46)
        .encode(
            x=alt.X("engine:N", title="engine", sort=comparison.engines, axis=alt.Axis(labelAngle=0, ticks=False)),
            y=shown,
            color=alt.Color(
                "operation:N",
                legend=alt.Legend(title=None),
                scale=alt.Scale(domain=operations, range=colours),
            ),
            order=alt.Order("position:Q"),
            tooltip=[
                *(alt.Tooltip("engine:N"), alt.Tooltip("operation:N")),
                alt.Tooltip("seconds:Q", title="mean per rank [s]", format=".4~g"),
            ],
        )
        .transform_filter("datum.nodes == breakdown_nodes && datum.technique == breakdown_technique")
        .transform_filter("breakdown_compute || datum.operation != 'compute'")
        .add_params(
            choice("breakdown_technique", "technique", techniques(list(frame["technique"])), technique),
            choice("breakdown_nodes", "nodes", sorted({int(n) for n in frame["nodes"]}), nodes),
            alt.param(name="breakdown_compute", value=False, bind=alt.binding_checkbox(name="with computation ")),
        )
        .properties(height=320)
    )
    return Figure(
        "breakdown",
        "Where the time goes, by engine",
        "Seconds in each MPI operation, mean over ranks and replicas; computation is the same in all engines and shown "
        "on demand. Time in MPI includes waiting for slower ranks.",
        chart,
        frame,
    )
