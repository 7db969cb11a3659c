"""A strong scaling study -> one HTML file, made like the report: offline, figures with their data, no remote loads."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pandas as pd
from pydantic import FiniteFloat

from manynode import tables
from manynode.report.documents import Document, read_document
from manynode.report.figure import TIME_LABEL, Figure, rows_of
from manynode.report.figures.technique_lines import nodes_axis, technique_channels
from manynode.report.page import fill
from manynode.report.wording import percent


class StrongFile(Document):
    """``strong-study/1``."""

    name: str
    title: str
    application: str
    network: str
    confidence: FiniteFloat
    seed: int
    sentences: list[str]
    manynode: str
    code: str
    digests: dict[str, str]
    oversubscribed: str = ""


_COLUMNS = [
    *("technique", "nodes", "ranks", "size", "interpolated", "extrapolated"),
    *("time_s", "low_s", "high_s", "speedup", "efficiency"),
]
_ERRORS = ["mode", "rank_class", "phase", "error", "extrapolated"]


def build_strong(directory: Path, output: Path) -> None:
    """Write the page of the study in ``directory`` to ``output``; the same files give the same bytes."""
    document = read_document(directory / "strong.json", "strong-study/1", StrongFile)
    table = tables.read_table(directory / "strong.parquet", "strong/1", _COLUMNS)
    errors = tables.read_table(directory / "interpolation.parquet", "strong-interpolation/1", _ERRORS)
    html = fill(
        "strong.html.j2",
        kind="manynode strong scaling study",
        title=document.title,
        subtitle=f"{document.application} · {document.network}",
        document=document,
        figures=[_times(table, document), _speedups(table)],
        points=rows_of(table),
        errors=rows_of(errors),
    )
    with tables.replacing(output) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def _tips() -> list[alt.Tooltip]:
    return [
        *(alt.Tooltip("technique:N"), alt.Tooltip("nodes:Q"), alt.Tooltip("size:N", title="of a rank")),
        alt.Tooltip("time_s:Q", title="time [s]", format=".5~g"),
        alt.Tooltip("speedup:Q", format=".4~g"),
        alt.Tooltip("efficiency:Q", format=".1%"),
    ]


def _times(table: pd.DataFrame, document: StrongFile) -> Figure:
    base = alt.Chart(alt.NamedData(name="table"))
    channels = technique_channels(list(table["technique"]))
    x, log = nodes_axis(table["nodes"]), alt.Scale(type="log", nice=False, padding=12)
    title = "projected time"
    band = base.mark_area(opacity=0.18).encode(
        x=x, y=alt.Y("low_s:Q", title=title, scale=log), y2="high_s:Q", color=channels["color"]
    )
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45)).encode(
        x=x,
        y=alt.Y("time_s:Q", title=title, scale=log, axis=alt.Axis(labelExpr=TIME_LABEL)),
        **channels,
        tooltip=_tips(),
    )
    return Figure(
        "strong-time",
        "Projected time",
        f"The whole problem is the same at every node count. Bands: {percent(document.confidence)} interval over the "
        "replicas, without the error of interpolated compute times.",
        alt.layer(band, lines).properties(height=340),
        table,
    )


def _speedups(table: pd.DataFrame) -> Figure:
    base = alt.Chart(alt.NamedData(name="table"))
    smallest = int(table["nodes"].min())
    x, log = nodes_axis(table["nodes"]), alt.Scale(type="log", base=2, nice=False, padding=12)
    title = f"speedup over {smallest} node{'s' if smallest > 1 else ''}"
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=45)).encode(
        x=x,
        y=alt.Y("speedup:Q", title=title, scale=log),
        **technique_channels(list(table["technique"])),
        tooltip=_tips(),
    )
    ideal = (
        base.transform_calculate(ideal=f"datum.nodes / {smallest}")
        .mark_line(strokeDash=[4, 4], color="#a5adb5")
        .encode(x=x, y=alt.Y("ideal:Q", title=title, scale=log))
    )
    return Figure(
        "strong-speedup",
        "Speedup",
        "Time on the smallest number of nodes divided by the time on this number. Grey: the ideal speedup.",
        alt.layer(ideal, lines).properties(height=300),
        table[["technique", "nodes", "size", "time_s", "speedup", "efficiency"]],
    )
