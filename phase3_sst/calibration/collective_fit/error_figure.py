"""The figure of a fit to collectives: the error of each measurement over its size, a panel per collective."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from manynode import tables
from manynode.report.figure import COLOURS, CONFIG, records
from phase3_sst.calibration.fit_figure import SIZE_LABEL, options

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_WIDTH, _HEIGHT, _COLUMNS = 250, 150, 3


def write(path: Path, frame: pd.DataFrame, title: str) -> None:
    """Draw ``frame`` (a comparison with the column ``held_out``) into ``path``: HTML that works offline, PNG or SVG."""
    with tables.replacing(path) as part:
        chart(frame, title).save(str(part), format=path.suffix[1:], **options(path.suffix))


def chart(frame: pd.DataFrame, title: str) -> alt.FacetChart:
    """Return the Altair chart; empty messages do not fit on a log axis and are left out."""
    import altair as alt
    import pandas as pd

    shown = frame[frame["bytes"] > 0].assign(
        seen=lambda rows: rows["held_out"].map({True: "held out", False: "fitted"}),
        series=lambda rows: rows["simulated_algorithm"] + ", " + rows["nodes"].astype(str) + " nodes",
    )
    sizes = alt.X(
        "bytes:Q",
        title="one rank's contribution",
        scale=alt.Scale(type="log", base=2),
        axis=alt.Axis(tickCount=5, labelExpr=SIZE_LABEL),
    )
    points = (
        alt.Chart(pd.DataFrame(records(shown)))
        .mark_point(filled=True, size=36, opacity=0.8)
        .encode(
            x=sizes,
            y=alt.Y("error:Q", title="simulated / measured - 1", axis=alt.Axis(format="+.0%")),
            color=alt.Color("series:N", title=None, scale=alt.Scale(range=COLOURS)),
            shape=alt.Shape(
                "seen:N", title=None, scale=alt.Scale(domain=["fitted", "held out"], range=["circle", "cross"])
            ),
            tooltip=[
                alt.Tooltip("series:N", title="algorithm"),
                alt.Tooltip("bytes:Q", title="bytes", format=","),
                alt.Tooltip("measured_s:Q", title="measured [s]", format=".4~g"),
                alt.Tooltip("simulated_s:Q", title="simulated [s]", format=".4~g"),
                alt.Tooltip("error:Q", title="simulated / measured - 1", format="+.1%"),
            ],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
    drawn: alt.FacetChart = (
        points.facet(alt.Facet("collective:N", title=None), columns=_COLUMNS)
        .resolve_scale(color="independent")
        .properties(title=title)
        .configure(**CONFIG)
    )
    return drawn
