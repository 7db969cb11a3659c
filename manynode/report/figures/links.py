"""The busiest link of each class, per technique: is the network the limit?"""

from __future__ import annotations

import altair as alt

from manynode.report.figure import TECHNIQUE_STYLE, Figure, in_order, thinned
from manynode.report.figures.node_choice import node_choice
from manynode.report.figures.technique_lines import technique_fill
from manynode.report.load import Inputs


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure of the links' load."""
    if inputs.links is None:
        return None
    columns = [
        *("technique", "nodes", "class", "links", "bytes", "busy_s", "busy_share_max", "stall_s"),
        *("queue_mean_chunks", "queue_max_bytes"),
    ]
    frame, note = thinned(inputs.links[columns].sort_values(columns[:3], ignore_index=True), "rows")
    techniques = in_order(sorted(set(frame["technique"])), list(TECHNIQUE_STYLE))
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_bar()
        .encode(
            y=alt.Y("class:N", title="class of links"),
            x=alt.X(
                "busy_share_max:Q",
                title="busiest link of its class: share of the time it is busy",
                axis=alt.Axis(format=".3~%", tickCount=6),
            ),
            yOffset=alt.YOffset("technique:N", sort=techniques),
            color=technique_fill(techniques),
            tooltip=[
                alt.Tooltip("technique:N"),
                alt.Tooltip("class:N", title="links"),
                alt.Tooltip("busy_share_max:Q", title="busiest link", format=".2%"),
                alt.Tooltip("bytes:Q", title="bytes, all links", format=".4~s"),
                alt.Tooltip("stall_s:Q", title="stall time, all links [s]", format=".4~g"),
                alt.Tooltip("queue_mean_chunks:Q", title="chunks waiting, mean", format=".4~g"),
                alt.Tooltip("queue_max_bytes:Q", title="longest queue [B]", format=".4~s"),
            ],
        )
        .transform_filter("datum.nodes == links_nodes")
        .add_params(node_choice("links_nodes", frame["nodes"]))
        .properties(height=max(60, 15 * len(techniques) * frame["class"].nunique()))
    )
    return Figure(
        "links",
        "Load of the network",
        "Share of the run for which the busiest link of each class is busy. On hover and in the data: bytes and stall "
        "time of all links of the class, mean number of waiting chunks (stall time by run time: Little's law) and "
        "longest queue.",
        chart,
        frame,
        note,
    )
