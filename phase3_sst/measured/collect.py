"""Converts reports and benchmark tables to rows of the tables of a validation study.

Reports of a run (mpiP, IPM, a folder of marker files) become runs; tables of collectives (OSU, IMB, in the formats of
:mod:`phase3_sst.calibration.readers`) become latencies, and so do campaigns with named algorithms (pico).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from manynode import input_file
from manynode.config.measured import check_parts
from manynode.config.measured_collective import Collective
from manynode.config.validation import COMPUTE
from manynode.errors import InputError, UsageError
from phase3_sst.calibration.measurements import AUTO, read_measurements
from phase3_sst.calibration.readers.interface import readers as table_readers
from phase3_sst.measured.campaigns.interface import Wanted, campaigns
from phase3_sst.measured.marker_files import read_markers
from phase3_sst.measured.readers.interface import Report, readers

MARKERS = "markers"
# The benchmarks report the size of the whole vector; each rank keeps its part of it.
_WHOLE_VECTOR = "reduce_scatter"


def formats() -> list[str]:
    """Return the names of all formats."""
    return [AUTO, *readers.names(), MARKERS, *campaigns.names(), *table_readers.names()]


def check_format(form: str) -> None:
    """Raise :class:`UsageError` for an unknown format."""
    if form not in formats():
        raise UsageError("unknown format", where="--format", found=form, allowed=", ".join(formats()))


def campaign_format(path: Path, form: str) -> str | None:
    """Return the form of a campaign of collectives with named algorithms; None if ``path`` is none."""
    if form != AUTO:
        return form if form in campaigns.names() else None
    if os.path.isdir(path):
        return None
    text = _text(path)
    return next((name for name in campaigns.names() if campaigns.get(name)().recognises(text)), None)


def campaign(paths: Sequence[Path], forms: Sequence[str], wanted: Wanted) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the wanted rows of the campaigns in ``paths``, and remarks on what was left out or joined."""
    rows: list[dict[str, Any]] = []
    remarks: list[str] = []
    for path, form in zip(paths, forms, strict=True):
        found, said = campaigns.get(form)().read(_text(path), path.name, wanted)
        rows += found
        remarks += said
    return rows, remarks


def ignored_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return warnings on names of algorithms that the library seems to have ignored."""
    import pandas as pd

    from phase3_sst.studies.validation.ignored_names import equal_names, sentence

    named = {"seconds": "measured_s", "p10_s": "measured_p10_s", "p90_s": "measured_p90_s"}
    columns = {**dict.fromkeys(named), **dict.fromkeys(("shape", "placement"), "")}
    frame = pd.DataFrame([{**columns, **row, "simulated_algorithm": row["algorithm"]} for row in rows])
    return [sentence(row) for row in equal_names(frame.rename(columns=named)).itertuples()]


def report_format(path: Path, form: str) -> str | None:
    """Return the report format of ``path``; None if it is a table."""
    if form == MARKERS or (form == AUTO and os.path.isdir(path)):
        return MARKERS
    if form != AUTO:
        return form if form in readers.names() else None
    text = _text(path)
    found = next((name for name in readers.names() if readers.get(name)().recognises(text)), None)
    if found is None and not any(table_readers.get(name)().recognises(text) for name in table_readers.names()):
        raise InputError(
            "the format is not known",
            where=str(path),
            found=f"first line: {(text.strip() or 'an empty file').splitlines()[0][:100]!r}",
            allowed=", ".join(formats()[1:]),
            remedy="name the format with --format",
        )
    return found


def runs(paths: Sequence[Path], forms: Sequence[str], nodes: int | None) -> list[dict[str, Any]]:
    """Return a run for each report in ``paths``, with a running replica for each node count.

    ``nodes`` overrides the node count of the reports.
    """
    count: Counter[int] = Counter()
    found: list[dict[str, Any]] = []
    for path, form in zip(paths, forms, strict=True):
        for report in _reports(path, form):
            own = nodes or report.nodes
            operations = dict(report.operations)
            run = {"nodes": own, "replica": count[own], "seconds": report.seconds, "operations": operations}
            check_parts(run, str(path))
            found.append(run)
            count[own] += 1
    _fill(found)
    return found


def _fill(found: Sequence[dict[str, Any]]) -> None:
    """Give the runs the same MPI operations: tools leave out operations that took no time."""
    telling = [run["operations"] for run in found if any(name != COMPUTE for name in run["operations"])]
    for name in sorted({name for operations in telling for name in operations}):
        for operations in telling:
            operations.setdefault(name, 0.0)


def _reports(path: Path, form: str) -> list[Report]:
    if form == MARKERS:
        return [read_markers(path)]
    return readers.get(form)().read(_text(path), path.name)


def _text(path: Path) -> str:
    return input_file.read_output(path, "a report")


def collectives(
    paths: Sequence[Path], form: str, nodes: int | None, ranks_per_node: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the latencies of collectives in ``paths``, the median of repeats, and text on what was left out.

    Without ``nodes`` they follow from the processes that a table tells.
    """
    table = read_measurements(paths, form)
    known = table[table["measure"].isin(get_args(Collective)) & (table["time_s"] > 0)]
    notes = [
        f"{name}: not a collective that can be simulated"
        for name in sorted({*table["measure"]} - {*get_args(Collective)})
    ]
    if known.empty:
        raise InputError(
            "no latency of a collective was found",
            where=", ".join(path.name for path in paths),
            found=", ".join(sorted(set(table["measure"]))),
            allowed=", ".join(get_args(Collective)),
        )
    rows = {}
    for (name, size, processes), own in known.groupby(["measure", "size_bytes", "processes"], sort=True):
        where = _nodes(int(processes), nodes, ranks_per_node)
        bytes_ = int(size) // (where * ranks_per_node) if name == _WHOLE_VECTOR else int(size)
        if bytes_ == 0 and name != "barrier":
            notes.append(f"{name}, {size} bytes: MPI returns at once where there is nothing to send")
            continue
        row = {"collective": name, "bytes": bytes_, "nodes": where, "ranks_per_node": ranks_per_node}
        rows[tuple(row.values())] = {**row, "seconds": float(own["time_s"].median())}
    return list(rows.values()), notes


def _nodes(processes: int, nodes: int | None, ranks_per_node: int) -> int:
    if nodes is None and not processes:
        raise UsageError(
            "the table does not say on how many nodes it was measured", remedy="add --nodes and --ranks-per-node"
        )
    if nodes is None and processes % ranks_per_node:
        raise UsageError(
            "the processes do not fill whole nodes",
            where="--ranks-per-node",
            found=f"{processes} processes, {ranks_per_node} ranks per node",
        )
    if nodes is not None and processes and processes != nodes * ranks_per_node:
        raise UsageError(
            "the table was measured with other ranks",
            where="--nodes, --ranks-per-node",
            found=f"{nodes} x {ranks_per_node} = {nodes * ranks_per_node} ranks",
            allowed=f"{processes}, as in the table",
        )
    return nodes or processes // ranks_per_node
