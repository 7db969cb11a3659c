"""The figure of a calibration: measured half round trips and the fitted model above, the relative error below."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manynode import tables
from manynode.errors import UsageError
from manynode.report.figure import COLOURS, CONFIG, TIME_LABEL, records
from phase3_sst.calibration.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

FORMATS = (".html", ".png", ".svg")
_LINE_POINTS = 400
SIZE_LABEL = (
    "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : "
    "datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
)
_WIDTH = 720


def check_format(path: Path) -> None:
    """Refuse a file name with an unknown extension."""
    if path.suffix not in FORMATS:
        raise UsageError("unknown format of a figure", found=path.name, allowed=", ".join(FORMATS))


def write(path: Path, frame: pd.DataFrame, fitted: Fit, title: str) -> None:
    """Draw ``frame`` (see ``quality.residuals``) and ``fitted`` into ``path``: HTML that works offline, PNG or SVG."""
    check_format(path)
    with tables.replacing(path) as part:
        chart(frame, fitted, title).save(str(part), format=path.suffix[1:], **options(path.suffix))


def options(suffix: str) -> dict[str, Any]:
    return {"inline": True} if suffix == ".html" else {"scale_factor": 2} if suffix == ".png" else {}


def model_line(fitted: Fit, largest: float) -> pd.DataFrame:
    """Return the model at sizes evenly spaced on a log axis, with both sides of each break to draw jumps vertically."""
    import pandas as pd

    pieces = [*fitted.overhead_send, *fitted.overhead_recv]
    breaks = {piece.from_bytes for piece in pieces} | {fitted.eager_limit_bytes + 1}
    edges = [size + side for size in breaks for side in (-1, 0) if 0 < size + side <= largest]
    sizes = np.unique(np.concatenate([np.geomspace(1, largest, _LINE_POINTS).round(), edges]))
    return pd.DataFrame({"size_bytes": sizes, "time_s": fitted.half_round_trip(sizes)})


def chart(frame: pd.DataFrame, fitted: Fit, title: str) -> Any:
    """Return the Altair chart; empty messages do not fit on a log axis and are left out."""
    import altair as alt
    import pandas as pd

    shown = frame[frame["size_bytes"] > 0].assign(series=lambda rows: "measured: " + rows["source"])
    largest = float(shown["size_bytes"].max())
    line = model_line(fitted, largest).assign(series="model")
    names = [*sorted(shown["series"].unique()), "model"]
    palette = [*COLOURS[1 : len(names)], COLOURS[0]]
    colour = alt.Color("series:N", title=None, scale=alt.Scale(domain=names, range=palette))
    sizes = alt.X(
        "size_bytes:Q",
        title="message size",
        scale=alt.Scale(type="log", base=2, domain=[1, largest], nice=False),
        axis=alt.Axis(tickCount=10, labelExpr=SIZE_LABEL),
    )
    time = alt.Y(
        "time:Q",
        title="half round trip",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(labelExpr=TIME_LABEL, tickCount=7),
    )
    points = pd.DataFrame(records(shown)).rename(columns={"measured_s": "time"})
    tooltip = [
        alt.Tooltip("series:N", title="series"),
        alt.Tooltip("size_bytes:Q", title="bytes", format=","),
        alt.Tooltip("time:Q", title="measured [s]", format=".4~g"),
        alt.Tooltip("model_s:Q", title="model [s]", format=".4~g"),
        alt.Tooltip("error:Q", title="model / measured - 1", format="+.1%"),
    ]
    measured = alt.Chart(points).mark_point(filled=True, size=30, opacity=0.75)
    model = alt.Chart(line.rename(columns={"time_s": "time"})).mark_line(strokeWidth=2)
    limit = (
        alt.Chart(pd.DataFrame({"size_bytes": [fitted.eager_limit_bytes]}))
        .mark_rule(strokeDash=[4, 4], color="#8a94a0")
        .encode(x=sizes, tooltip=[alt.Tooltip("size_bytes:Q", title="eager limit [bytes]", format=",")])
    )
    above = alt.layer(
        limit,
        model.encode(x=sizes, y=time, color=colour),
        measured.encode(x=sizes, y=time, color=colour, tooltip=tooltip),
    ).properties(width=_WIDTH, height=320, title=title)
    error = alt.Y("error:Q", title="model / measured - 1", axis=alt.Axis(format="+.0%"))
    zero = alt.Chart(pd.DataFrame({"error": [0.0]})).mark_rule(color=COLOURS[0]).encode(y=error)
    below = alt.layer(limit, zero, measured.encode(x=sizes, y=error, color=colour, tooltip=tooltip)).properties(
        width=_WIDTH, height=130
    )
    return alt.vconcat(above, below).configure(**CONFIG)
