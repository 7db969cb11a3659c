"""Reads and writes the CSV tables of measurements of a validation study.

``measured``: one row per run, ``nodes,replica,seconds``, then optionally ``compute`` and one column per MPI operation
(``MPI_Allreduce``) in mean seconds per rank; an empty cell means not measured. ``collectives``: one row per latency,
``collective,bytes,nodes,ranks_per_node,seconds``, and optionally campaign, algorithm, shape, placement, iterations,
p10_s and p90_s, whose cells may be empty. ``rank,host``: a row per rank, the machine's node of each. Lines that start
with ``#`` are comments. A mistake is an :class:`InputError` with the row, the column, the value found and the values
allowed.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from manynode import input_file, tables
from manynode.config.hosts_by_rank import placement_of
from manynode.config.measured_collective import KEYS, SHAPE, Collective
from manynode.config.validation import COMPUTE, MOST_SUM, OPERATION
from manynode.errors import InputError, nearest

RUN_COLUMNS = ("nodes", "replica", "seconds")
COLLECTIVE_COLUMNS = ("collective", "bytes", "nodes", "ranks_per_node", "seconds")
# Columns of collectives that may be missing, and whose cells may be empty.
TEXT_COLUMNS = ("campaign", "algorithm", "shape", "placement")
OPTIONAL_COLUMNS = (*TEXT_COLUMNS, "iterations", "p10_s", "p90_s")
HOST_COLUMNS = ("rank", "host")
# Where a host is; not read.
_OF_HOSTS = ("system", "campaign", "location")
_LEAST = {"nodes": 1, "ranks_per_node": 1, "replica": 0, "bytes": 0, "iterations": 1, "rank": 0, "host": 0}
# Names of columns that other tools give to times and sizes.
_OTHER_NAMES = re.compile(r"(time|latency|median|mean|avg|seconds?|size|msg|message|p\d+)", re.IGNORECASE)
_OPERATIONS = "compute and MPI operations, such as MPI_Allreduce"


def with_tables(section: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return the section ``validation`` with the content of the CSV files that it names, relative to ``base``."""
    filled = dict(section)
    for key, read in (("measured", read_runs), ("collectives", read_collectives)):
        if isinstance(name := filled.get(key), str):
            filled[key] = read(_existing(name, base, f"validation: {key}"))
    placements = filled.get("placements") or {}
    if isinstance(placements, Mapping):
        placements = dict(placements)
        for row in filled["collectives"] if isinstance(filled.get("collectives"), list) else ():
            name = row.get("placement") if isinstance(row, Mapping) else None
            if isinstance(name, str) and name.endswith(".csv"):
                placements.setdefault(name, name)
        for name, value in placements.items():
            if isinstance(value, str):
                placements[name] = read_hosts(_existing(value, base, f"validation: placements: {name}"))
        if placements:
            filled["placements"] = placements
    return filled


def _existing(name: str, base: Path, where: str) -> Path:
    what, remedy = (
        ("a table of hosts", "correct the path; the table has a row 'rank,host' for each rank")
        if "placements" in where
        else (
            "a table of measurements",
            "correct the path; 'manynode measured' makes tables of measurements from mpiP and IPM reports and from "
            "OSU, IMB and pico tables",
        )
    )
    return input_file.existing(base, name, what, where=where, kind="a CSV file", remedy=remedy)


def read_runs(path: Path) -> list[dict[str, Any]]:
    """Return the runs in the CSV file ``path``: nodes, replica, seconds [s], operations (name -> seconds [s])."""
    runs: list[dict[str, Any]] = []
    seen: dict[tuple[int, int], int] = {}
    for line, cells in _rows(path, RUN_COLUMNS, OPERATION):
        where = f"{path}:{line}"
        run: dict[str, Any] = {
            "nodes": _whole(cells, "nodes", where),
            "replica": _whole(cells, "replica", where),
            "seconds": _seconds(cells, "seconds", where, positive=True),
            "operations": {
                name: _seconds(cells, name, where) for name in cells if name not in RUN_COLUMNS and cells[name]
            },
        }
        check_parts(run, where)
        _once(seen, (run["nodes"], run["replica"]), "nodes and replica", line, where)
        runs.append(run)
    return _some(runs, path)


def read_collectives(path: Path) -> list[dict[str, Any]]:
    """Return the latencies in the CSV file ``path``: collective, bytes, nodes, ranks_per_node, seconds [s]."""
    found: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], int] = {}
    known = get_args(Collective)
    for line, cells in _rows(path, COLLECTIVE_COLUMNS, OPTIONAL_COLUMNS):
        where = f"{path}:{line}"
        if cells["collective"] not in known:
            near = nearest(cells["collective"], known)
            raise InputError(
                "unknown collective",
                where=f"{where}, column collective",
                found=repr(cells["collective"]),
                allowed=", ".join(known),
                remedy=f"did you mean {near!r}?" if near else None,
            )
        row: dict[str, Any] = {"collective": cells["collective"]}
        row |= {name: _whole(cells, name, where) for name in ("bytes", "nodes", "ranks_per_node")}
        row["seconds"] = _seconds(cells, "seconds", where, positive=True)
        row |= {name: cells[name] for name in TEXT_COLUMNS if cells.get(name)}
        if cells.get("iterations"):
            row["iterations"] = _whole(cells, "iterations", where)
        row |= {name: _seconds(cells, name, where, positive=True) for name in ("p10_s", "p90_s") if cells.get(name)}
        check_collective(row, where)
        _once(seen, tuple(row.get(name, "") for name in KEYS), ", ".join(KEYS), line, where)
        found.append(row)
    return _some(found, path)


def read_hosts(path: Path) -> dict[str, Any]:
    """Return the placement in the CSV file ``path`` (rank, host), with the keys of ``simulate: placement``."""
    hosts: dict[int, int | str] = {}
    seen: dict[int, int] = {}
    for line, cells in _rows(path, HOST_COLUMNS, _OF_HOSTS):
        where = f"{path}:{line}"
        rank, host = _whole(cells, "rank", where), cells["host"]
        if rank in seen:
            raise InputError(
                "a rank is given twice",
                where=where,
                found=f"rank {rank}, as in line {seen[rank]}",
                allowed="each rank once",
                remedy="keep the rows of one job: a placement is that of one",
            )
        if not re.fullmatch(r"[A-Za-z0-9._-]+", host):
            raise InputError(
                "a host cannot be read",
                where=f"{where}, column host",
                found=repr(host) if host else "an empty cell",
                allowed="the number of the network's node, from 0; or its name, if the network file has 'node_names'",
            )
        seen[rank] = line
        hosts[rank] = _whole(cells, "host", where) if host.isdecimal() else host
    if not hosts:
        raise InputError("a table of hosts has no rows", where=str(path), found="0 rows", allowed="a row for each rank")
    return placement_of(hosts, str(path))


def write_runs(path: Path, runs: Sequence[Mapping[str, Any]], remarks: Sequence[str] = ()) -> None:
    """Write ``runs`` (as :func:`read_runs` returns them) with ``remarks`` as comments; nine digits."""
    names = {name for run in runs for name in run["operations"]}
    operations = [name for name in (COMPUTE,) if name in names] + sorted(names - {COMPUTE})
    rows = [
        [run["nodes"], run["replica"], _text(run["seconds"])]
        + [_text(run["operations"][name]) if name in run["operations"] else "" for name in operations]
        for run in sorted(runs, key=lambda run: (run["nodes"], run["replica"]))
    ]
    _write(path, [*RUN_COLUMNS, *operations], rows, remarks)


def write_collectives(path: Path, found: Sequence[Mapping[str, Any]], remarks: Sequence[str] = ()) -> None:
    """Write ``found`` (as :func:`read_collectives` returns it) with ``remarks`` as comments."""
    optional = [name for name in OPTIONAL_COLUMNS if any(row.get(name) not in (None, "") for row in found)]
    rows = [
        [
            *(row[name] for name in COLLECTIVE_COLUMNS[:-1]),
            _text(row["seconds"]),
            *(_cell(row, name) for name in optional),
        ]
        for row in found
    ]
    _write(path, [*COLLECTIVE_COLUMNS, *optional], rows, remarks)


def _cell(row: Mapping[str, Any], name: str) -> Any:
    value = row.get(name)
    return _text(value) if isinstance(value, float) else "" if value is None else value


def _text(seconds: float) -> str:
    return f"{seconds:.9g}"


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]], remarks: Sequence[str]) -> None:
    sink = io.StringIO()
    sink.writelines(f"# {line}\n" for remark in remarks for line in remark.splitlines())
    csv.writer(sink, lineterminator="\n").writerows([header, *rows])
    with tables.replacing(path) as part:
        part.write_text(sink.getvalue(), encoding="utf-8")


def _rows(
    path: Path, needed: Sequence[str], further: str | Sequence[str] | None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells by column of each row; ``further`` is a pattern or the names of optional columns."""
    text = input_file.read_text(path, "a table of measurements")
    header: list[str] | None = None
    for line, content in enumerate(text.splitlines(), start=1):
        if not content.strip() or content.lstrip().startswith("#"):
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([content], strict=True))]
        except csv.Error as error:
            raise InputError("a row is not valid CSV", where=f"{path}:{line}", found=str(error)) from None
        if header is None:
            header = cells
            _check_header(header, needed, further, f"{path}:{line}")
            continue
        if len(cells) != len(header):
            raise InputError(
                "a row and the header have different lengths",
                where=f"{path}:{line}",
                found=f"{len(cells)} values",
                allowed=f"{len(header)}: {', '.join(header)}",
            )
        yield line, dict(zip(header, cells, strict=True))


def _check_header(
    header: Sequence[str], needed: Sequence[str], further: str | Sequence[str] | None, where: str
) -> None:
    operations = isinstance(further, str)
    optional = () if further is None or isinstance(further, str) else further
    beside = _OPERATIONS if operations else ", ".join(optional)
    allowed = ", ".join(needed) + (f"; optionally {beside}" if beside else "")
    for name in needed:
        if name not in header:
            near = nearest(name, header)
            raise InputError(
                "a column is missing",
                where=where,
                found=", ".join(header),
                allowed=allowed,
                remedy=(f"is {near!r} meant for {name!r}?" if near else f"add {name!r}") + _unit(header, [*needed]),
            )
    for name in header:
        if header.count(name) > 1:
            raise InputError("a column is given twice", where=where, found=name, remedy="remove one of them")
        if name not in needed and name not in optional and not (isinstance(further, str) and re.match(further, name)):
            near = nearest(name, [*needed, *optional, *((COMPUTE,) if operations else ())])
            hint = f"MPI_{name[:1].upper()}{name[1:]}" if operations and name.isidentifier() else None
            raise InputError(
                "unknown column",
                where=where,
                found=repr(name),
                allowed=allowed,
                remedy=f"did you mean {near or hint!r}?{_unit([name], [*needed, *optional])}" if near or hint else None,
            )


def _unit(header: Sequence[str], known: Sequence[str]) -> str:
    """Return a sentence on units if a column of other tools has a time or a size; they may be in other units."""
    odd = [name for name in header if name not in known and _OTHER_NAMES.match(name)]
    return f" (column {odd[0]!r}: times must be in seconds and sizes in bytes; convert them)" if odd else ""


def _whole(cells: Mapping[str, str], name: str, where: str) -> int:
    text, least = cells[name], _LEAST[name]
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
        raise InputError(
            f"{name} must be a whole number",
            where=f"{where}, column {name}",
            found=repr(text) if text else "an empty cell",
            allowed=f"a whole number of at least {least}",
        )
    return int(text)


def _seconds(cells: Mapping[str, str], name: str, where: str, *, positive: bool = False) -> float:
    try:
        # Python would take 1_000 for a number.
        value = math.nan if "_" in cells[name] else float(cells[name])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise InputError(
            "a time cannot be used",
            where=f"{where}, column {name}",
            found=repr(cells[name]) if cells[name] else "an empty cell",
            allowed=f"seconds, a number {'above' if positive else 'of at least'} 0",
        )
    return value


def check_collective(row: Mapping[str, Any], where: str) -> None:
    """Raise :class:`InputError` for a measured collective whose columns contradict each other."""
    shape = row.get("shape", "")
    if not re.fullmatch(SHAPE, shape):
        raise InputError(
            "a shape cannot be read",
            where=f"{where}, column shape",
            found=repr(shape),
            allowed="extents from 1 on with an x between them, such as 4x4x4",
        )
    places = math.prod(int(extent) for extent in shape.split("x")) if shape else None
    if places not in (None, row["nodes"]):
        raise InputError(
            "a shape does not fit the nodes",
            where=f"{where}, column shape",
            found=f"{shape}: {places} places; {row['nodes']} nodes",
            allowed="a shape of as many nodes",
        )
    low, high = row.get("p10_s"), row.get("p90_s")
    if (low is None) != (high is None):
        raise InputError(
            "one percentile is missing",
            where=f"{where}, columns p10_s and p90_s",
            found="p90_s alone" if low is None else "p10_s alone",
            allowed="both, or neither",
        )
    if low is not None and high is not None and not low <= row["seconds"] <= high:
        raise InputError(
            "the percentiles do not enclose the time",
            where=f"{where}, columns p10_s, seconds, p90_s",
            found=f"{low:g}, {row['seconds']:g}, {high:g}",
            allowed="rising; 'seconds' is the median, and all three are in seconds",
        )


def check_parts(run: Mapping[str, Any], where: str) -> None:
    """Raise :class:`InputError` where the operations of a run are longer than the run."""
    parts = sum(run["operations"].values())
    if parts > MOST_SUM * run["seconds"]:
        raise InputError(
            "the operations of a run take longer than the run",
            where=where,
            found=f"{parts:.6g} s in {', '.join(run['operations'])}; {run['seconds']:.6g} s in all",
            allowed="mean seconds per rank; their sum is at most the run's seconds",
            remedy="divide sums over all ranks by the number of ranks",
        )


def _once(seen: dict[Any, int], key: tuple[Any, ...], what: str, line: int, where: str) -> None:
    if key in seen:
        raise InputError(
            "a measurement is given twice",
            where=where,
            found=f"{what} {', '.join(map(str, key))}, as in line {seen[key]}",
            remedy="number runs on the same node count with 'replica'"
            if what.startswith("nodes")
            else "keep one of them",
        )
    seen[key] = line


def _some(rows: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    if not rows:
        raise InputError("a table of measurements has no rows", where=str(path), found="0 rows", allowed="at least one")
    return rows
