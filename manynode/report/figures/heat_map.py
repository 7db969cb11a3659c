"""The sensitivity study on two of its parameters at once: a cell per combination, coloured by the projected time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from manynode.report.figure import TIME_LABEL, Figure
from manynode.report.wording import duration

WRITTEN = ", written"


def draw(points: pd.DataFrame, names: Sequence[str]) -> Figure | None:
    """Return the heat map over the first two of the parameters ``names`` that vary; None where fewer do.

    ``points`` is a full grid (``sensitivity/1``). Other parameters, techniques and node counts are choices.
    """
    varied = [name for name in names if points[name + WRITTEN].nunique() > 1]
    if len(varied) < 2:
        return None
    across, up, *others = varied
    columns = {across + WRITTEN: "across", up + WRITTEN: "up"} | {
        other + WRITTEN: f"other{i}" for i, other in enumerate(others)
    }
    frame = points[["technique", "nodes", *columns, "time_s", "low_s", "high_s", "relative"]].rename(columns=columns)
    frame["time"] = [duration(value) for value in frame["time_s"]]
    labels = {"technique": "technique", "nodes": "nodes", **{f"other{i}": other for i, other in enumerate(others)}}
    base: Any = alt.Chart(alt.NamedData(name="table"))
    choices = []
    for column, label in labels.items():
        values = list(dict.fromkeys(frame[column].tolist()))
        if len(values) < 2:
            continue
        name = f"heat_{column}"
        bind = alt.binding_select(options=values, name=f"{label} ")
        choices.append(alt.param(name=name, value=values[-1], bind=bind))
        base = base.transform_filter(f"datum.{column} == {name}")
    axis = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False)
    base = base.encode(
        x=alt.X("across:O", title=across, sort=_in_order(points, across), axis=axis),
        y=alt.Y("up:O", title=up, sort=_in_order(points, up)[::-1], axis=axis),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "time_s:Q",
            scale=alt.Scale(range=["#fff3d6", "#e69f00"], zero=False),
            legend=alt.Legend(title="projected time", labelExpr=TIME_LABEL),
        ),
        tooltip=[
            *(alt.Tooltip("across:N", title=across), alt.Tooltip("up:N", title=up)),
            *(alt.Tooltip(f"{column}:N", title=label) for column, label in labels.items()),
            *(alt.Tooltip(f"{key}_s:Q", title=f"{word} [s]", format=".5~g")
              for key, word in (("time", "time"), ("low", "from"), ("high", "to"))),
            alt.Tooltip("relative:Q", title="over the shortest", format=".4~g"),
        ],
    )  # fmt: skip
    # Not the page's colour of texts: cells are bright in the dark, too.
    times = base.mark_text(color="#111111").encode(text="time:N")
    height = max(160, 34 * frame["up"].nunique())
    return Figure(
        "sensitivity-map",
        f"Time over {across} and {up}",
        f"Projected time for each combination of {across} and {up}; the darker, the longer.",
        alt.layer(cells, times).add_params(*choices).properties(height=height),
        frame,
    )


def _in_order(points: pd.DataFrame, name: str) -> list[str]:
    """Return the written values of a parameter by their numbers; choices as they come."""
    values = points.drop_duplicates(name + WRITTEN)
    if pd.api.types.is_numeric_dtype(values[name]):
        values = values.sort_values(name)
    return [str(text) for text in values[name + WRITTEN]]
