"""Bytes of each link in one engine against those in another."""

from __future__ import annotations

import altair as alt

from manynode.report.comparison.choices import choice
from manynode.report.comparison.load import Comparison
from manynode.report.figure import COLOURS, Figure, thinned
from manynode.report.load import at_point
from manynode.report.wording import count


def draw(comparison: Comparison) -> Figure | None:
    """Return the scatter of the links' load at the largest node count; None without traffic."""
    technique, nodes = comparison.document.largest
    frame = at_point(comparison.link_pairs, technique, nodes)
    if frame.empty:
        return None
    frame = frame.assign(pair=frame["engine"] + " against " + frame["reference"])
    columns = ["pair", "class", "reference_bytes", "bytes", "links"]
    frame, note = thinned(frame[columns].sort_values(columns, ignore_index=True), "different loads")
    pairs = [pair.name for pair in comparison.document.pairs if pair.name in set(frame["pair"])]
    classes = sorted(set(frame["class"]))
    base = alt.Chart(alt.NamedData(name="table")).transform_filter("datum.pair == links_pair")
    axis = alt.Axis(format="~s")
    points = base.mark_circle(opacity=0.75, stroke="white", strokeWidth=0.4).encode(
        x=alt.X("reference_bytes:Q", title="bytes of a link in the reference", axis=axis, scale=alt.Scale(zero=True)),
        y=alt.Y("bytes:Q", title="bytes of the link in the engine", axis=axis),
        size=alt.Size("links:Q", legend=None, scale=alt.Scale(range=[35, 400])),
        color=alt.Color(
            "class:N",
            legend=alt.Legend(title=None),
            scale=alt.Scale(domain=classes, range=[COLOURS[index % len(COLOURS)] for index in range(len(classes))]),
        ),
        tooltip=[
            alt.Tooltip("class:N", title="links"),
            alt.Tooltip("links:Q", title="how many"),
            alt.Tooltip("bytes:Q", title="bytes in the engine", format=",.6~g"),
            alt.Tooltip("reference_bytes:Q", title="bytes in the reference", format=",.6~g"),
        ],
    )
    same = base.mark_line(strokeDash=[3, 4], opacity=0.5, color=COLOURS[0], strokeWidth=1).encode(
        x="reference_bytes:Q", y=alt.Y("reference_bytes:Q")
    )
    return Figure(
        "link-loads",
        "Load of the links, engine against reference",
        f"{technique} on {count(nodes, 'node')}: bytes of every link with traffic in either engine. Links with the "
        "same two loads are one larger point. On the dashed line both engines load a link equally.",
        alt.layer(same, points).add_params(choice("links_pair", "engines", pairs, pairs[0])).properties(height=380),
        frame,
        note,
    )
