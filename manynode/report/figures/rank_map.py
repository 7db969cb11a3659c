"""What each class consists of: the ranks of the profiled job, node by node, coloured by class."""

from __future__ import annotations

import altair as alt
import pandas as pd

from manynode.report.figure import COLOURS, Figure, thinned
from manynode.report.load import Inputs


def draw(inputs: Inputs) -> Figure | None:
    """Return the map of ranks; the nodes that represent their classes are outlined. Classes of own times have none."""
    if inputs.classes is None or not inputs.classes.rank_class or inputs.own_times is not None:
        return None
    classes = inputs.classes
    nodes = _nodes(inputs)
    chosen = set(classes.representative_nodes)
    rows = []
    place: dict[int, int] = {}
    for rank in sorted(int(text) for text in classes.rank_class if text.isdigit()):
        node = nodes.get(rank, rank // inputs.experiment.ranks_per_node)
        place[node] = place.get(node, -1) + 1
        rows.append(
            {
                "rank": rank,
                "node": node,
                "place": place[node],
                "class": classes.class_of(rank),
                "representative": "yes" if node in chosen else "no",
            }
        )
    frame, note = thinned(pd.DataFrame(rows), "ranks")
    names = sorted(set(frame["class"]))
    high = len(set(frame["node"]))
    chart = (
        alt.Chart(alt.NamedData(name="table"))
        .mark_rect(strokeWidth=2.5, cornerRadius=2)
        .encode(
            x=alt.X(
                "place:O",
                title="rank on the node",
                axis=alt.Axis(labelAngle=0, labelOverlap=True, ticks=False),
                scale=alt.Scale(paddingInner=0.12),
            ),
            y=alt.Y(
                "node:O", title="node", axis=alt.Axis(labelOverlap=True, ticks=False), scale=alt.Scale(paddingInner=0.2)
            ),
            color=alt.Color(
                "class:N",
                legend=alt.Legend(title="class", symbolType="square"),
                scale=alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))]),
            ),
            stroke=alt.Stroke(
                "representative:N",
                legend=None,
                scale=alt.Scale(domain=["yes", "no"], range=["#d0021b", "transparent"]),
            ),
            tooltip=[
                alt.Tooltip("rank:Q"),
                alt.Tooltip("node:Q"),
                alt.Tooltip("class:N"),
                alt.Tooltip("representative:N", title="on a representative node"),
            ],
        )
        .properties(height=min(520, max(90, 30 * high)))
    )
    return Figure(
        "rank-map",
        "What each class consists of",
        "The ranks of the profiled job where they ran. Outlined in red: the representative nodes, which phase 2 "
        "simulates.",
        chart,
        frame,
        note,
    )


def _nodes(inputs: Inputs) -> dict[int, int]:
    """Return the node of each rank in the reference job, as far as the counters say."""
    if inputs.counters is None or inputs.classes is None:
        return {}
    at_reference = inputs.counters[inputs.counters["nodes"] == inputs.classes.reference_nodes]
    pairs = at_reference[["rank", "node"]].drop_duplicates("rank")
    return {int(rank): int(node) for rank, node in zip(pairs["rank"], pairs["node"], strict=True)}
