"""Reads tables of measurements, CSV or Parquet: stalls of links, round trips, runs of applications.

In: a path. Out: a checked frame with the columns for the models; an invalid value is an :class:`InputError` with the
row. The columns are those of ``stalled-links/1``, ``round-trips/1`` and ``application-runs/1``; times are seconds of a
clock that rows of one ``run`` share, nodes are numbers on the network. In CSV the nodes of an application are separated
by spaces.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from manynode import input_file
from manynode.errors import InputError
from phase3_sst.studies.congestion.delay.latency import ROUND_TRIP_COLUMNS
from phase3_sst.studies.congestion.delay.run_time_model import RUN_COLUMNS
from phase3_sst.studies.congestion.delay.stalls import STALL_COLUMNS


def read_stalls(path: Path) -> pd.DataFrame:
    """Return a table ``stalled-links/1``: shares between 0 and 1."""
    frame = _read(path, STALL_COLUMNS, numbers=("start_s", "end_s", "stalled_share"))
    _spans(path, frame)
    _refuse(
        path,
        frame,
        ~frame["stalled_share"].between(0, 1),
        "stalled_share",
        "0 to 1: the time stalled over the length of the interval, not percent",
    )
    return frame


_TEXTS = dict.fromkeys(("run", "application", "source", "target"), str)


def read_round_trips(path: Path, measured: bool = True) -> pd.DataFrame:
    """Return a table ``round-trips/1``; without ``measured`` the round trips may be missing."""
    columns = ROUND_TRIP_COLUMNS if measured else ROUND_TRIP_COLUMNS[:-1]
    numbers = [name for name in columns if name != "run"]
    frame = _read(path, columns, numbers=numbers)
    _spans(path, frame)
    whole = (frame[["source_node", "target_node"]] % 1 == 0).all(axis=1)
    _refuse(path, frame, ~whole, "source_node", "a whole number")
    _refuse(path, frame, frame["source_node"] == frame["target_node"], "target_node", "a node other than source_node")
    if measured:
        _refuse(path, frame, ~(frame["round_trip_s"] > 0), "round_trip_s", "a positive time in seconds")
    return frame


def read_runs(path: Path) -> pd.DataFrame:
    """Return a table ``application-runs/1``, with the nodes of each run as numbers."""
    frame = _read(path, RUN_COLUMNS, numbers=("start_s", "end_s"))
    _spans(path, frame)
    nodes = []
    for row, value in enumerate(frame["nodes"]):
        try:
            chosen = [int(node) for node in (value.split() if isinstance(value, str) else value)]
        except (TypeError, ValueError):
            chosen = []
        if len(set(chosen)) < 2 or len(set(chosen)) != len(chosen):
            raise _wrong(path, row, "nodes", value, "at least two different numbers, separated by spaces")
        nodes.append(chosen)
    return frame.assign(nodes=nodes)


def _read(path: Path, columns: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    data = io.BytesIO(input_file.read_bytes(path, "a table (CSV or Parquet)"))
    try:
        frame = (
            pd.read_parquet(data)
            if path.suffix == ".parquet"
            else pd.read_csv(data, dtype=_TEXTS, keep_default_na=False)
        )
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(
            "a table cannot be read", where=str(path), found=str(error).splitlines()[0], allowed="CSV or Parquet"
        ) from None
    missing = [name for name in columns if name not in frame]
    if missing or frame.empty:
        raise InputError(
            "a table lacks a column" if missing else "a table has no row",
            where=str(path),
            found=f"no {', '.join(missing)}" if missing else None,
            allowed=f"columns {', '.join(columns)}",
        )
    frame = frame[list(columns)].assign(run=frame["run"].astype(str))
    for name in numbers:
        values = pd.to_numeric(frame[name], errors="coerce").astype(float)
        bad = values.isna() | values.abs().eq(float("inf"))
        _refuse(path, frame, bad, name, "a number")
        frame[name] = values
    return frame


def _spans(path: Path, frame: pd.DataFrame) -> None:
    _refuse(path, frame, ~(frame["end_s"] > frame["start_s"]), "end_s", "a later time than start_s")


def _refuse(path: Path, frame: pd.DataFrame, bad: pd.Series, column: str, allowed: str) -> None:
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise _wrong(path, row, column, frame[column].iloc[row], allowed)


def _wrong(path: Path, row: int, column: str, found: Any, allowed: str) -> InputError:
    where = f"{path}: row {row + 1}, column {column}"
    return InputError("a table has a wrong value", where=where, found=repr(found), allowed=allowed)
