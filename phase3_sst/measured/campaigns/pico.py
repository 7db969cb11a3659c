"""Tables of medians in the form of pico (HLC-Lab/pico): the slowest rank's time of collectives with named algorithms.

Columns: system, campaign, collective, algorithm, nodes, shape, ranks_per_node, vector_bytes, median_s, and optionally
iterations, p10_s, p90_s. ``vector_bytes`` is the whole vector of a collective. The part of a rank is that over the
ranks for gather, scatter, allgather, alltoall and reduce_scatter, the whole for the others. The number of measured
executions is not taken over: a simulation repeats itself.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from manynode.config.measured import check_collective
from manynode.config.measured_collective import Collective
from manynode.errors import InputError, UsageError, nearest
from phase3_sst.measured.campaigns.interface import Wanted, campaigns

_SHARED = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
_TEXTS = ("system", "campaign", "collective", "algorithm", "shape")
_COUNTS = ("nodes", "ranks_per_node", "vector_bytes")
_NEEDED = ("system", "campaign", "collective", "algorithm", "nodes", "shape", "ranks_per_node", "vector_bytes")
_TIMES = ("median_s", "p10_s", "p90_s")
_KEY = ("campaign", "collective", "algorithm", "nodes", "ranks_per_node", "shape", "bytes")
Row = dict[str, Any]


@campaigns.register("pico")
class PicoReader:
    """Reads a table of medians of pico."""

    def recognises(self, text: str) -> bool:
        """Return whether the first line has this form's own columns."""
        names = _header(text)
        return {"vector_bytes", "algorithm", "collective"} <= set(names)

    def read(self, text: str, source: str, wanted: Wanted) -> tuple[list[Row], list[str]]:
        """Return the wanted rows, repeats joined, and remarks."""
        rows = list(_records(text, source))
        chosen = _chosen(rows, wanted, source)
        remarks: dict[str, None] = {}
        groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in chosen:
            if row["collective"] not in get_args(Collective):
                remarks[f"{row['collective']}: not a collective that can be simulated"] = None
                continue
            ranks = row["nodes"] * row["ranks_per_node"]
            parts = ranks if row["collective"] in _SHARED else 1
            if row["vector_bytes"] % parts or not row["vector_bytes"]:
                text_ = f"{row['collective']}, {row['vector_bytes']} bytes: no whole part for each of {ranks} ranks"
                remarks[text_] = None
                continue
            row = {**row, "bytes": row["vector_bytes"] // parts}
            groups[tuple(row[name] for name in _KEY)].append(row)
        found = [_joined(key, own) for key, own in sorted(groups.items())]
        repeated = sum(len(own) > 1 for own in groups.values())
        if repeated:
            remarks[f"{repeated} points measured more than once: the median of the medians, the widest spread"] = None
        if not found:
            raise InputError("no row can be used", where=source, found="; ".join(remarks), allowed="at least one")
        return found, list(remarks)


def _joined(key: tuple[Any, ...], own: Sequence[Row]) -> Row:
    """Return the repeats ``own`` of one point as a row of the table of collectives."""
    row: Row = dict(zip(_KEY, key, strict=True))
    row["seconds"] = statistics.median(one["median_s"] for one in own)
    if all(one["p10_s"] is not None and one["p90_s"] is not None for one in own):
        row["p10_s"] = min(one["p10_s"] for one in own)
        row["p90_s"] = max(one["p90_s"] for one in own)
    return row


def _chosen(rows: Sequence[Row], wanted: Wanted, source: str) -> list[Row]:
    """Return the wanted rows; they must be of one system."""
    for option, key, value in (
        ("--system", "system", wanted.system),
        ("--campaign", "campaign", wanted.campaign),
        ("--nodes", "nodes", wanted.nodes),
    ):
        if value is None:
            continue
        known = sorted({row[key] for row in rows}, key=str)
        if value not in known:
            near = nearest(str(value), map(str, known))
            raise UsageError(
                f"the table has no such {key}",
                where=f"{option}, {source}",
                found=value,
                allowed=", ".join(map(str, known)),
                remedy=f"did you mean {near!r}?" if near else None,
            )
        rows = [row for row in rows if row[key] == value]
    systems = sorted({row["system"] for row in rows})
    if len(systems) > 1:
        raise UsageError(
            "the table has several machines, an experiment has one network",
            where=source,
            found=", ".join(systems),
            remedy="choose one with --system",
        )
    return list(rows)


def _header(text: str) -> list[str]:
    first = next((line for line in text.lstrip("\ufeff").splitlines() if _is_row(line)), "")
    return [cell.strip() for cell in next(csv.reader([first]), [])]


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _records(text: str, source: str) -> Iterator[Row]:
    names = _header(text)
    _check_header(names, source)
    seen_header = seen_row = False
    for line, content in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        if not _is_row(content):
            continue
        if not seen_header:
            seen_header = True
            continue
        seen_row = True
        cells = [cell.strip() for cell in next(csv.reader([content]))]
        where = f"{source}:{line}"
        if len(cells) != len(names):
            raise InputError(
                "a row does not fit its header",
                where=where,
                found=f"{len(cells)} values",
                allowed=f"{len(names)}: {', '.join(names)}",
            )
        yield _row(dict(zip(names, cells, strict=True)), where)
    if not seen_row:
        raise InputError("a table has no rows", where=source, found="0 rows", allowed="at least one")


def _check_header(names: Sequence[str], source: str) -> None:
    for name in (*_NEEDED, "median_s"):
        if name in names:
            continue
        bare = name.rpartition("_")[0]
        unit = next((one for one in names if name.endswith(("_s", "_bytes")) and one.startswith(bare)), None)
        near = nearest(name, names)
        raise InputError(
            "a column is missing",
            where=f"{source}:1",
            found=", ".join(names) or "an empty line",
            allowed=", ".join((*_NEEDED, *_TIMES)),
            remedy=f"{unit!r} has no unit or another one: convert it to {name!r}"
            if unit
            else f"is {near!r} meant for {name!r}?"
            if near
            else f"add {name!r}",
        )


def _row(cells: dict[str, str], where: str) -> Row:
    row: Row = {name: cells[name] for name in _TEXTS}
    for name in ("system", "collective", "algorithm"):
        if not row[name]:
            raise InputError(f"{name} is missing", where=f"{where}, column {name}", found="an empty cell")
    row |= {name: _whole(cells[name], name, where) for name in _COUNTS}
    row |= {name: _seconds(cells.get(name, ""), name, where) for name in _TIMES}
    # "32" is as good as no shape: a job's nodes in a row.
    row["shape"] = row["shape"] if "x" in row["shape"] else ""
    check_collective({**row, "seconds": row["median_s"]}, where)
    return row


def _whole(text: str, name: str, where: str) -> int:
    least = 0 if name == "vector_bytes" else 1
    if not text.isdecimal() or len(text) > 15 or int(text) < least:
        raise InputError(
            f"{name} cannot be used",
            where=f"{where}, column {name}",
            found=repr(text) if text else "an empty cell",
            allowed=f"a whole number of at least {least}",
        )
    return int(text)


def _seconds(text: str, name: str, where: str) -> float | None:
    if not text and name != "median_s":
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise InputError(
            "a time cannot be used",
            where=f"{where}, column {name}",
            found=repr(text) if text else "an empty cell",
            allowed="seconds, a number above 0",
        )
    return value
