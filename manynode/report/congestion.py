"""A congestion study -> one HTML file: what each part says, its figures and tables; offline, made like the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from manynode import tables
from manynode.report.figure import Figure
from manynode.report.page import fill
from manynode.report.wording import count, duration, number

# A page with more rows is slow to sort; the CSV file has all.
MOST_ROWS = 300


@dataclass(frozen=True)
class TablePage:
    """A table of a part, as it is written beside the page."""

    name: str
    schema: str
    frame: pd.DataFrame

    def columns(self) -> list[tuple[str, bool]]:
        """Return the columns and whether they hold numbers."""
        return [(str(name), pd.api.types.is_numeric_dtype(self.frame[name])) for name in self.frame.columns]

    def rows(self) -> list[list[tuple[str, str]]]:
        """Return the first rows: each cell's text and sort key."""
        columns = [(name, is_number) for name, is_number in self.columns()]
        return [
            [_cell(name, value, is_number) for (name, is_number), value in zip(columns, row, strict=True)]
            for row in self.frame.head(MOST_ROWS).itertuples(index=False, name=None)
        ]


@dataclass(frozen=True)
class PartPage:
    """A part of the study."""

    name: str
    title: str
    sentences: Sequence[str]
    failure: str
    figures: Sequence[Figure]
    tables: Sequence[TablePage]


@dataclass(frozen=True)
class StudyPage:
    """The study: what is in ``congestion.json``, with the figures and tables of its parts."""

    name: str
    title: str
    network: str
    engine: str
    seed: int
    confidence: float
    situations: int
    failures: Mapping[str, str]
    parts: Sequence[PartPage]
    manynode: str
    code: str
    tools: Mapping[str, str]
    digests: Mapping[str, str]
    oversubscribed: str = ""


def build_congestion(study: StudyPage, output: Path) -> None:
    """Write the page of ``study`` to ``output``; the same study gives the same bytes."""
    html = fill(
        "congestion.html.j2",
        kind="manynode congestion study",
        title=study.title,
        subtitle=f"network: {study.network} · engine: {study.engine} · {count(study.situations, 'situation')}",
        study=study,
        most=MOST_ROWS,
    )
    with tables.replacing(output) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def _cell(column: str, value: Any, is_number: bool) -> tuple[str, str]:
    """Return a cell's text and its key: columns that end in ``_s`` are times."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or value is pd.NA:
        return "", ""
    if isinstance(value, bool) or not is_number:
        return ("yes" if value else "no", str(int(value))) if isinstance(value, bool) else (str(value), str(value))
    return (duration(float(value)) if column.endswith("_s") else number(float(value))), repr(float(value))
