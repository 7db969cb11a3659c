"""Converts the files of a native engine (result.json and CSV tables) to the contract's (result.json and Parquet).

In: one or more folders of an engine, each with some of the replicas, in the order of the replicas. Out: one folder as
:mod:`phase3_sst.point.contract` describes it. The bytes do not depend on the distribution of the replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class _Table:
    """A table of the contract: its schema and the type of each column (Arrow's names)."""

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
            "operation": "large_string",
            "seconds": "double",
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
            "class": "large_string",
            "source": "large_string",
            "target": "large_string",
            "bytes": "int64",
            "chunks": "double",
            "busy_s": "double",
            "stall_s": "double",
            "credit_stall_s": "double",
            "inq_stall_s": "double",
            "queue_max_bytes": "double",
        },
    ),
    _Table(
        "link_jobs",
        LINK_JOBS_SCHEMA,
        {
            "replica": "int64",
            "job": "int64",
            "class": "large_string",
            "bytes": "int64",
            "chunks": "double",
            "busy_s": "double",
            "stall_s": "double",
        },
    ),
    _Table(
        "series",
        LINK_SERIES_SCHEMA,
        {
            "replica": "int64",
            "start_s": "double",
            "end_s": "double",
            "class": "large_string",
            "link": "int64",
            "bytes": "int64",
            "busy_s": "double",
            "stall_s": "double",
            "credit_stall_s": "double",
            "inq_stall_s": "double",
            "queue_bytes": "double",
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
            "held_s": "double",
            "rate_mean_Bps": "double",
            "rate_least_Bps": "double",
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
        whole = _joined([_read(part / f"{table.name}.csv", table) for part in parts])
        tables.write_table(directory / f"{table.name}.parquet", table.schema, whole)
    # The result is written last: if it exists, the others are complete.
    document: dict[str, Any] = {**results[0], "replicas": [entry for result in results for entry in result["replicas"]]}
    document.pop("schema")
    tables.write_json(directory / "result.json", RESULT_SCHEMA, document)


def read_measurement(part: Path) -> Measurement:
    """Return a probe's measurement from the engine's folder ``part``."""
    result = tables.read_json(part / "result.json", RESULT_SCHEMA, sealed=False)
    tables_by_name = {table.name: table for table in _TABLES}
    table = _read(part / "links.csv", tables_by_name["links"])
    ranks = _read(part / "ranks.csv", tables_by_name["ranks"])
    replica = result["replicas"][0]
    # An engine that does not model chunks leaves them empty.
    chunks = sum(value for value in table["chunks"].to_pylist() if value is not None)
    classes = frozenset(map(str, table["class"].to_pylist()))
    ends = tuple(map(float, replica["jobs"][0]["iteration_end_s"]))
    return Measurement(
        float(replica["makespan_s"]), classes, float(chunks), int(replica["messages"]), ends, _slowest(ranks)
    )


def _slowest(ranks: pa.Table) -> dict[str, float]:
    """Return operation -> the most seconds of a rank of job 0 in it, in the first replica."""
    import pyarrow.compute as pc

    first = pc.min(ranks["replica"])
    chosen = ranks.filter(pc.and_(pc.equal(ranks["job"], 0), pc.equal(ranks["replica"], first)))
    found = chosen.group_by("operation").aggregate([("seconds", "max")])
    return dict(zip(found["operation"].to_pylist(), found["seconds_max"].to_pylist(), strict=True))


def _joined(parts: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of tables with the same columns as one table of one chunk."""
    import pyarrow as pa

    return pa.concat_tables(parts).combine_chunks()


def _read(path: Path, table: _Table) -> pa.Table:
    """Return the CSV table at ``path``; wrong columns are an engine error.

    Each simulated point comes through here: pyarrow is imported in half the time of pandas.
    """
    import pyarrow as pa
    from pyarrow import csv

    types = {name: pa.type_for_alias(kind) for name, kind in table.columns.items()}
    try:
        # The engine writes the shortest text of a number that reads back to the same bits.
        found = csv.read_csv(
            path,
            read_options=csv.ReadOptions(use_threads=False),
            convert_options=csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
        )
    except (OSError, ValueError) as error:
        raise EngineFailedError(
            "the engine's result cannot be read", where=str(path), found=str(error).splitlines()[0],
            remedy="run 'make build': engine and program may be of different versions",
        ) from None  # fmt: skip
    if found.column_names != list(table.columns):
        raise EngineFailedError(
            "the engine's result has other columns",
            where=str(path),
            found=",".join(found.column_names),
            allowed=",".join(table.columns),
            remedy="run 'make build': engine and program are of different versions",
        )
    return found
