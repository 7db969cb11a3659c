"""The counter table, schema ``counters/1``: every source of counters writes it, and the classification reads it.

One row per job (``nodes``, ``repetition``), rank and phase; phase "" is the sum of all compute phases of the rank.
Counts are user-level events; events inside MPI calls are left out if the source can separate them. NaN means that the
source does not have the counter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode import tables
from manynode.errors import InputError

SCHEMA = "counters/1"
ALL_PHASES = ""
KEYS = ("nodes", "repetition", "node", "rank", "phase")
COUNTERS = ("seconds", "instructions", "cycles", "branches", "branch_misses", "loads")
_REMEDY = "profile the application again (manynode profile)"


def job_table(rows: pd.DataFrame, *, nodes: int, repetition: int) -> pd.DataFrame:
    """Return a source's rows (rank, node, phase, counters) as one job's counter table: sorted, with all columns."""
    frame = rows.copy()
    frame["nodes"], frame["repetition"] = nodes, repetition
    for name in COUNTERS:
        frame[name] = frame[name].astype(float) if name in frame else np.nan
    extra = sorted(set(frame.columns) - set(KEYS) - set(COUNTERS))
    for name in ("nodes", "repetition", "node", "rank"):
        frame[name] = frame[name].astype("int64")
    frame["phase"] = frame["phase"].astype(str)
    frame = frame[[*KEYS, *COUNTERS, *extra]]
    return frame.sort_values(list(KEYS), kind="stable").reset_index(drop=True)


def sum_phases(records: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return sums of ``columns`` per rank: one row for all compute phases and one per named phase.

    ``records`` has one row per compute phase executed, with rank, node and phase ("" where it has no name).
    """
    # An absent counter is NaN in every record: its sum is unknown, not zero.
    everything = records.groupby(["rank", "node"], as_index=False)[list(columns)].sum(min_count=1)
    everything["phase"] = ALL_PHASES
    named = records[records["phase"].astype(str) != ALL_PHASES]
    named = named.assign(phase=named["phase"].astype(str))
    by_phase = named.groupby(["rank", "node", "phase"], as_index=False)[list(columns)].sum(min_count=1)
    parts = [part for part in (everything, by_phase) if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else everything


def check(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return ``frame`` if it is a valid counter table; otherwise raise :class:`InputError` at ``where``."""

    def refuse(found: str, allowed: str) -> InputError:
        return InputError("a counter table cannot be used", where=where, found=found, allowed=allowed, remedy=_REMEDY)

    if missing := [name for name in (*KEYS, *COUNTERS) if name not in frame.columns]:
        raise refuse(f"no column {', '.join(missing)}", ", ".join((*KEYS, *COUNTERS)))
    if frame.empty:
        raise refuse("no rows", "a row per rank")
    for name in ("nodes", "repetition", "node", "rank"):
        if not pd.api.types.is_integer_dtype(frame[name]) or (frame[name] < (1 if name == "nodes" else 0)).any():
            raise refuse(f"column {name} with something else than whole numbers from 0", "whole numbers")
    for name in COUNTERS:
        if not pd.api.types.is_numeric_dtype(frame[name]) or np.isinf(frame[name]).any() or (frame[name] < 0).any():
            raise refuse(f"column {name} with a negative, infinite or non-numeric value", "numbers from 0, or NaN")
    if (twice := frame.duplicated(["nodes", "repetition", "rank", "phase"])).any():
        row = frame[twice].iloc[0]
        raise refuse(
            f"rank {row['rank']} twice (nodes {row['nodes']}, repetition {row['repetition']}, phase {row['phase']!r})",
            "one row per job, rank and phase",
        )
    whole = frame[frame["phase"] == ALL_PHASES]
    for (nodes, repetition), job in whole.groupby(["nodes", "repetition"]):
        if set(job["rank"]) != set(range(len(job))):
            absent = sorted(set(range(int(job["rank"].max()) + 1)) - set(job["rank"]))
            raise refuse(f"no row for rank {absent[0]} (nodes {nodes}, repetition {repetition})", "ranks 0 to N-1")
    if whole.empty:
        raise refuse("no row with phase ''", "a row for all compute phases together per rank")
    return frame


def write(path: Path, frame: pd.DataFrame, provenance: Mapping[str, Any]) -> None:
    """Write a counter table; an invalid one is an :class:`InputError`."""
    tables.write_table(path, SCHEMA, check(frame, str(path)), provenance)


def read(paths: Sequence[Path], ranks_per_node: int | None = None) -> pd.DataFrame:
    """Return the counter tables of several jobs as one.

    An unsound one, a job twice, or a job that has not ``ranks_per_node`` ranks on each of its nodes is an
    :class:`InputError`.
    """
    if not paths:
        raise InputError("there is nothing to classify", found="no counter table", remedy=_REMEDY)
    frames = [check(tables.read_table(path, SCHEMA), str(path)) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        for nodes, job in frame.groupby("nodes"):
            count = job["rank"].nunique()
            if ranks_per_node is not None and count != nodes * ranks_per_node:
                raise InputError(
                    "a counter table cannot be used",
                    where=str(path),
                    found=f"{count} ranks of a job on {nodes} nodes",
                    allowed=f"{nodes * ranks_per_node} ranks, {ranks_per_node} on each node",
                    remedy=_REMEDY,
                )
    return check(pd.concat(frames, ignore_index=True), ", ".join(map(str, paths)))
