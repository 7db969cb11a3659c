"""Rows of a CSV file with their line numbers; a missing column is named."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from manynode.errors import InputError, nearest


def header(text: str) -> list[str]:
    """Return the column names, empty if the first line is not CSV; text after a ``#`` in the last is a comment."""
    first = text.lstrip("\ufeff").split("\n", 1)[0]
    try:
        cells = next(csv.reader(io.StringIO(first)), [])
    except csv.Error:
        return []
    return [cell.split("#", 1)[0].strip() for cell in cells]


def records(text: str, needed: Sequence[str], source: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells by column name for each row; blank lines are skipped."""
    names = header(text)
    missing = [name for name in needed if name not in names]
    if missing:
        near = nearest(missing[0], names)
        raise InputError(
            "a column is missing",
            where=f"{source}:1",
            found=", ".join(names) or "an empty line",
            allowed=", ".join(needed),
            remedy=f"is {near!r} meant for {missing[0]!r}?" if near else f"add {missing[0]!r}",
        )
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")))
    next(reader, None)
    for cells in _rows(reader, source):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            raise InputError(
                "a row does not fit its header",
                where=f"{source}:{reader.line_num}",
                found=f"{len(cells)} values",
                allowed=f"{len(names)}: {', '.join(names)}",
            )
        yield reader.line_num, dict(zip(names, (cell.strip() for cell in cells), strict=True))


def _rows(reader: Any, source: str) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise InputError("a row is no CSV", where=f"{source}:{reader.line_num}", found=str(error)) from None
