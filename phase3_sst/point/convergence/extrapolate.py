"""Extrapolates the results of two runs of m and n iterations to N iterations, in the files of the engines' contract.

Both runs draw the same numbers. Their difference comes from iterations m + 1 to n alone: set-up and end cancel.
Everything that grows follows X(N) = X(n) + (N - n) (X(n) - X(m)) / (n - m): makespans, messages, bytes, calls, seconds,
busy and stall times. Longest queues and the ends of single iterations are taken from the run of n.

The seconds of each rank add up to its own end, as in any result: the makespan less its idle time in the run of n. An
operation that no iteration calls (a barrier after the set-up) keeps its seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode import tables
from manynode.errors import EngineFailedError
from phase3_sst.point.contract import LINK_JOBS_SCHEMA, LINKS_SCHEMA, RANKS_SCHEMA, RESULT_SCHEMA

_LINK_KEYS = ["replica", "link", "class", "source", "target"]


def extrapolate(
    short: Path, long: Path, counts: tuple[int, int, int], directory: Path, note: Mapping[str, Any]
) -> None:
    """Write the result of N iterations into ``directory``, from the folders of m and n; ``counts`` is (m, n, N).

    ``note`` becomes the member ``iterations`` of result.json.
    """
    earlier, later = (tables.read_json(folder / "result.json", RESULT_SCHEMA) for folder in (short, long))
    replicas = [
        _replica(before, after, counts) for before, after in zip(earlier["replicas"], later["replicas"], strict=True)
    ]
    ends = {int(entry["replica"]): float(entry["jobs"][0]["makespan_s"]) for entry in replicas}
    slopes = {
        int(after["replica"]): _slope(before["makespan_s"], after["makespan_s"], counts)
        for before, after in zip(earlier["replicas"], later["replicas"], strict=True)
    }

    ranks = extrapolate_ranks(*_both(short, long, "ranks", RANKS_SCHEMA), counts, slopes)
    tables.write_table(directory / "ranks.parquet", RANKS_SCHEMA, ranks)
    for name, schema, keys in (
        ("links", LINKS_SCHEMA, _LINK_KEYS),
        ("link_jobs", LINK_JOBS_SCHEMA, ["replica", "job", "class"]),
    ):
        before, after = _both(short, long, name, schema)
        tables.write_table(directory / f"{name}.parquet", schema, _linear(before, after, keys, counts))
    (directory / "series.parquet").unlink(missing_ok=True)  # from an earlier run of the same point
    whole = {**later, "iterations": dict(note), "replicas": replicas}
    whole.pop("schema")
    if any(not np.isfinite(end) or end <= 0 for end in ends.values()):
        raise EngineFailedError("an extrapolated makespan is no time", where=str(directory), found=str(ends))
    tables.write_json(directory / "result.json", RESULT_SCHEMA, whole)


def _both(short: Path, long: Path, name: str, schema: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    return tables.read_table(short / f"{name}.parquet", schema), tables.read_table(long / f"{name}.parquet", schema)


def _slope(before: float, after: float, counts: tuple[int, int, int]) -> float:
    short, long, _ = counts
    return (after - before) / (long - short)


def _grown(before: float, after: float, counts: tuple[int, int, int]) -> float:
    return after + (counts[2] - counts[1]) * _slope(before, after, counts)


def _replica(before: Mapping[str, Any], after: Mapping[str, Any], counts: tuple[int, int, int]) -> dict[str, Any]:
    def entry(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(new)
        found["makespan_s"] = _grown(old["makespan_s"], new["makespan_s"], counts)
        for key in ("messages", "bytes", "events"):
            if key in new:
                found[key] = round(_grown(old[key], new[key], counts))
        return found

    jobs = [entry(old, new) for old, new in zip(before["jobs"], after["jobs"], strict=True)]
    return {**entry(before, after), "jobs": jobs}


def extrapolate_ranks(
    before: pd.DataFrame, after: pd.DataFrame, counts: tuple[int, int, int], slopes: Mapping[int, float]
) -> pd.DataFrame:
    """Return the table of ranks of N iterations; ``slopes`` is the time per iteration [s] of each replica."""
    keys = ["replica", "job", "rank", "operation"]
    joined = after.merge(before, on=keys, how="left", suffixes=("", "_before")).fillna(
        {"seconds_before": 0.0, "calls_before": 0, "bytes_before": 0}
    )
    called = joined["calls"] > joined["calls_before"]
    growth = (joined["seconds"] - joined["seconds_before"]).clip(lower=0).where(called, 0.0)
    of_rank = [joined[key] for key in keys[:3]]
    sums = growth.groupby(of_rank).transform("sum")
    members = called.groupby(of_rank).transform("sum").clip(lower=1)
    # Shares of the growth; they add up to the time of an iteration.
    shares = (growth / sums.where(sums > 0)).fillna(called / members)
    more = counts[2] - counts[1]
    found = joined[list(after.columns)].copy()
    found["seconds"] = joined["seconds"] + more * shares * joined["replica"].map(slopes)
    for column in ("calls", "bytes"):
        found[column] = _whole(joined[f"{column}_before"], joined[column], counts)
    return found


def _linear(
    before: pd.DataFrame, after: pd.DataFrame, keys: Sequence[str], counts: tuple[int, int, int]
) -> pd.DataFrame:
    """Return the table with its sums extrapolated; quantities that the engine does not model stay empty."""
    joined = after.merge(before, on=list(keys), how="left", suffixes=("", "_before"))
    found = joined[list(after.columns)].copy()
    for column in ("bytes", "chunks", "busy_s", "stall_s", "credit_stall_s", "inq_stall_s"):
        if column not in found:
            continue
        earlier = joined[f"{column}_before"].fillna(0.0)
        if column == "bytes":
            found[column] = _whole(earlier, joined[column], counts)
            continue
        grown = joined[column] + (counts[2] - counts[1]) * (joined[column] - earlier).clip(lower=0) / (
            counts[1] - counts[0]
        )
        found[column] = grown.round() if column == "chunks" else grown
    return found


def _whole(before: pd.Series, after: pd.Series, counts: tuple[int, int, int]) -> pd.Series:
    """Return extrapolated whole numbers; exact when iterations are alike."""
    short, long, total = counts
    more = (after.astype("int64") - before.astype("int64")).clip(lower=0)
    whole, rest = more // (long - short), more % (long - short)
    grown = (
        after.astype("int64")
        + (total - long) * whole
        + ((total - long) * rest / (long - short)).round().astype("int64")
    )
    return grown.astype("int64")
