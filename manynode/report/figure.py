"""A figure of the report: a Vega-Lite chart and the tidy table that it draws, thinned to what a page can carry."""

from __future__ import annotations

import functools
import json
import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

MOST_POINTS = 2000

COLOURS = ["#1f7fc4", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#b3a000"]
COMPUTE_COLOUR = "#8a94a0"
# As in Figure 4 of Eyerman et al. Lines: full with external ranks, dotted without. Colours: blue for variable compute
# times, orange for constant ones.
TECHNIQUE_STYLE = {
    "no-ext-const": ("#e69f00", [3, 4]),
    "no-ext-var": ("#1f7fc4", [3, 4]),
    "ext-const": ("#e69f00", [1, 0]),
    "ext-var": ("#1f7fc4", [1, 0]),
}
PALE = {"#e69f00": "#f3cf80", "#1f7fc4": "#8fc1e6"}  # filled areas of the techniques without external ranks
# An axis whose labels are names of phases, in lines: pixels, characters of a line, and what divides the lines.
LABEL_LIMIT, LABEL_WIDTH = 330, 44
LABEL_LINES = "split(datum.label, '\\n')"
# Vega writes "900m": put a space before the prefix, the unit after it.
TIME_LABEL = "replace(format(datum.value, '~s'), regexp('([a-zµ]?)$'), ' $1') + 's'"


@dataclass(frozen=True)
class Figure:
    """``chart`` is an Altair chart over the data named ``table``; ``data`` is that table, ``extra`` others by name.

    ``name`` gives the stable HTML id ``figure-NAME`` and the name of the CSV file.
    """

    name: str
    title: str
    caption: str
    chart: Any
    data: pd.DataFrame
    note: str = ""
    extra: dict[str, pd.DataFrame] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the data for the table below the figure."""
        return records(self.data)

    def spec(self) -> dict[str, Any]:
        """Return the Vega-Lite specification with its data; the same one each time, not to be changed."""
        return self._spec

    @functools.cached_property
    def _spec(self) -> dict[str, Any]:
        # Altair checks the whole chart, which takes as long as drawing it.
        # Keys are sorted here and not later, because the data keeps the order of its columns.
        spec: dict[str, Any] = json.loads(json.dumps(self.chart.to_dict(), sort_keys=True))
        spec.pop("$schema", None)
        spec["config"] = CONFIG
        spec["description"] = f"{self.title}: {self.caption}"
        spec["width"] = "container"
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
        spec["datasets"] = {"table": self.rows(), **{k: records(v) for k, v in self.extra.items()}}
        return spec


CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None, "continuousHeight": 320},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridOpacity": 0.5,
        "domain": False,
        "tickSize": 4,
        "labelLimit": 260,
    },
    "legend": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "orient": "top",
        "columns": 4,
        "labelLimit": 180,
        "symbolStrokeWidth": 2.5,
    },
    "text": {"fontSize": 12},
}


@functools.cache
def vega_lite_version() -> str:
    """Return the version of Vega-Lite that draws figures: that of Altair, or the nearest that vl-convert has."""
    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    known: list[str] = vl_convert.get_vegalite_versions()
    return wanted if wanted in known else known[-1]


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of ``frame`` for templates, values unchanged."""
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of ``frame`` as JSON values; NaN is null, floats have seven digits."""
    columns = {str(name): [_plain(value) for value in frame[name].tolist()] for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value if isinstance(value, (int, bool)) or value is None else str(value)


def thinned(frame: pd.DataFrame, what: str, most: int = MOST_POINTS) -> tuple[pd.DataFrame, str]:
    """Return at most ``most`` evenly spaced rows, the first and the last among them, and a note that says so."""
    if len(frame) <= most:
        return frame, ""
    kept = sorted({round(i * (len(frame) - 1) / (most - 1)) for i in range(most)})
    return frame.iloc[kept].reset_index(drop=True), f"{len(kept):,} of {len(frame):,} {what} are shown, evenly spaced."


def in_lines(label: str) -> str:
    """Return a name of a phase in at most three lines for an axis with :data:`LABEL_LINES`."""
    return "\n".join(textwrap.wrap(label, LABEL_WIDTH, max_lines=3, placeholder="…"))


def row_height(labels: Iterable[str]) -> int:
    """Return the pixels of a bar with its distance to the next, by the lines of the labels."""
    return 22 + 12 * max((label.count("\n") for label in labels), default=0)


def in_order(names: list[str], order: list[str]) -> list[str]:
    """Return ``names`` in the given order, unknown ones at the end."""
    return [name for name in order if name in names] + sorted(name for name in names if name not in order)
