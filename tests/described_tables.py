"""Holds real tables against the registry of schemas (``manynode/reference/schemas.yaml``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from manynode.reference import schemas


def described(folder: Path, *, whole: bool = True) -> set[str]:
    """Return the schemas of the tables below ``folder``; a column that is not described is a failure.

    With ``whole``, a described column that a table lacks is a failure, too.
    """
    kinds = set()
    for path in sorted(folder.rglob("*.parquet")):
        found = pq.read_schema(path)
        name = json.loads(found.metadata[b"manynode"])["schema"]
        check_columns(name, found.names, str(path), whole=whole)
        kinds.add(name)
    return kinds


def check_columns(schema: str, columns: Iterable[str], where: str = "", *, whole: bool = True) -> None:
    """Fail if ``columns`` are not those of the registry."""
    known, found = schemas.registry()[schema], set(columns)
    further, lacking = found - set(known.columns), set(known.columns) - found
    assert known.more or not further, f"{where}: {schema} has columns that are not described: {sorted(further)}"
    assert not (whole and lacking), f"{where}: {schema} lacks columns that are described: {sorted(lacking)}"


def check_findings(tables: Mapping[str, tuple[str, pd.DataFrame]]) -> None:
    """Fail where a table that a part of a congestion study concludes is not described."""
    for name, (schema, frame) in tables.items():
        check_columns(schema, frame.columns, name)
