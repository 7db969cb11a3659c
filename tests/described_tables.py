"""Holds real tables against the registry of schemas (``manynode/reference/schemas.yaml``)."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from manynode.reference import schemas


def described(folder: Path, *, whole: bool = True) -> set[str]:
    """Return the schemas of the tables below ``folder``; a column that is not described is a failure.

    With ``whole`` a described column that a table lacks is a failure as well.
    """
    kinds = set()
    for path in sorted(folder.rglob("*.parquet")):
        found = pq.read_schema(path)
        name = json.loads(found.metadata[b"manynode"])["schema"]
        known = schemas.registry()[name]
        further = set(found.names) - set(known.columns)
        assert known.more or not further, f"{path}: {name} has columns that are not described: {sorted(further)}"
        lacking = set(known.columns) - set(found.names)
        assert not (whole and lacking), f"{path}: {name} lacks columns that are described: {sorted(lacking)}"
        kinds.add(name)
    return kinds
