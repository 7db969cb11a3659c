"""Converts the files of a native engine (result.json and CSV tables) to the contract's (result.json and Parquet).

In: one or more folders of an engine, each with some of the replicas, in the order of the replicas. Out: one folder as
:mod:`phase3_sst.point.contract` describes it. The bytes do not depend on the distribution of the replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from manynode import tables
from manynode.errors import EngineFailedError
from phase3_sst.point.contract import (
    INJECTION_SCHEMA,
    LINK_JOBS_SCHEMA,
    LINK_SERIES_SCHEMA,
    LINKS_SCHEMA,
    RANKS_SCHEMA,
    RESULT_SCHEMA,
    Measurement,
)


@dataclass(frozen=True)
class _Table:
    """A table of the contract: its schema and the type of each column."""

    name: str
    schema: str
    columns: dict[str, str]
    optional: bool = False


# An engine that does not model a quantity leaves its column empty, hence floats for whole numbers.
_TABLES = (
    _Table(
        "ranks",
        RANKS_SCHEMA,
        {
            "replica": "int64",
            "job": "int64",
            "rank": "int64",
            "operation": "str",
            "seconds": "float64",
            "calls": "int64",
            "bytes": "int64",
        },
    ),
    _Table(
        "links",
        LINKS_SCHEMA,
        {
            "replica": "int64",
            "link": "int64",
            "class": "str",
            "source": "str",
            "target": "str",
            "bytes": "int64",
            "chunks": "float64",
            "busy_s": "float64",
            "stall_s": "float64",
            "credit_stall_s": "float64",
            "inq_stall_s": "float64",
            "queue_max_bytes": "float64",
        },
    ),
    _Table(
        "link_jobs",
        LINK_JOBS_SCHEMA,
        {
            "replica": "int64",
            "job": "int64",
            "class": "str",
            "bytes": "int64",
            "chunks": "float64",
            "busy_s": "float64",
            "stall_s": "float64",
        },
    ),
    _Table(
        "series",
        LINK_SERIES_SCHEMA,
        {
            "replica": "int64",
            "start_s": "float64",
            "end_s": "float64",
            "class": "str",
            "link": "Int64",
            "bytes": "int64",
            "busy_s": "float64",
            "stall_s": "float64",
            "credit_stall_s": "float64",
            "inq_stall_s": "float64",
            "queue_bytes": "float64",
        },
        optional=True,
    ),
    _Table(
        "injection",
        INJECTION_SCHEMA,
        {
            "replica": "int64",
            "job": "int64",
            "nic": "int64",
            "bytes": "int64",
            "held_bytes": "int64",
            "held_s": "float64",
            "rate_mean_Bps": "float64",
            "rate_least_Bps": "float64",
        },
        optional=True,
    ),
)


# Table -> its columns with their types.
COLUMNS = {table.name: table.columns for table in _TABLES}


def collect(out: Path, directory: Path) -> None:
    """Convert the engine's folder ``out`` into ``directory``."""
    collect_parts([out], directory)


def collect_parts(parts: Sequence[Path], directory: Path) -> None:
    """Merge the engine's folders ``parts``, each with some of the replicas, into ``directory``."""
    results = [tables.read_json(part / "result.json", RESULT_SCHEMA, sealed=False) for part in parts]
    for table in _TABLES:
        present = [(part / f"{table.name}.csv").is_file() for part in parts]
        if table.optional and not any(present):
            continue
        frames = [_read(part / f"{table.name}.csv", table) for part in parts]
        frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
        tables.write_table(directory / f"{table.name}.parquet", table.schema, frame)
    # The result is written last: if it exists, the others are complete.
    whole: dict[str, Any] = {**results[0], "replicas": [entry for result in results for entry in result["replicas"]]}
    whole.pop("schema")
    tables.write_json(directory / "result.json", RESULT_SCHEMA, whole)


def read_measurement(part: Path) -> Measurement:
    """Return a probe's measurement from the engine's folder ``part``."""
    result = tables.read_json(part / "result.json", RESULT_SCHEMA, sealed=False)
    links = next(table for table in _TABLES if table.name == "links")
    table = _read(part / "links.csv", links)
    replica = result["replicas"][0]
    classes = frozenset(map(str, table["class"]))
    return Measurement(float(replica["makespan_s"]), classes, float(table["chunks"].sum()), int(replica["messages"]))


def _read(path: Path, table: _Table) -> pd.DataFrame:
    """Return the CSV table at ``path``; wrong columns are an engine error."""
    try:
        # The engine writes the shortest text of a number that reads back to the same bits.
        frame = pd.read_csv(path, dtype=table.columns, float_precision="round_trip")
    except (OSError, ValueError) as error:
        raise EngineFailedError(
            "the engine's result cannot be read", where=str(path), found=str(error).splitlines()[0],
            remedy="run 'make build': engine and program may be of different versions",
        ) from None  # fmt: skip
    if list(frame.columns) != list(table.columns):
        raise EngineFailedError(
            "the engine's result has other columns",
            where=str(path),
            found=",".join(map(str, frame.columns)),
            allowed=",".join(table.columns),
            remedy="run 'make build': engine and program are of different versions",
        )
    return frame
