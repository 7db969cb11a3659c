"""Points -> projection: mean, bootstrap interval, efficiency, breakdown per MPI operation, jobs, load of the links.

In: the result folders of all points of an experiment. Out: tidy tables (schemas ``projection/1``, ``makespans/1``,
``breakdown/1``, ``jobs/1`` and those of :mod:`phase3_sst.analysis.iteration_times` and
:mod:`phase3_sst.analysis.link_load`). All times in seconds. The projection is that of job 0, the application under
study; other jobs only disturb it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode import seeds, tables
from phase3_sst.analysis import interval_parts, iteration_times, link_load
from phase3_sst.point.contract import RANKS_SCHEMA, RESULT_SCHEMA
from phase3_sst.point.convergence import note
from phase3_sst.point.inputs import check_ranks

PROJECTION_SCHEMA = "projection/1"
MAKESPANS_SCHEMA = "makespans/1"
BREAKDOWN_SCHEMA = "breakdown/1"
JOBS_SCHEMA = "jobs/1"

_RESAMPLES = 9999


@dataclass(frozen=True)
class Tables:
    """The tables of an analysis."""

    projection: pd.DataFrame
    interval_parts: pd.DataFrame
    makespans: pd.DataFrame
    iterations: pd.DataFrame
    breakdown: pd.DataFrame
    jobs: pd.DataFrame
    links: pd.DataFrame
    link_jobs: pd.DataFrame
    series: pd.DataFrame


def bootstrap_interval(values: Sequence[float], confidence: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return the bootstrap interval of the mean of ``values`` [same unit].

    Bias-corrected and accelerated (Efron 1987) through :func:`scipy.stats.bootstrap`. A single value or equal values
    give an interval of width zero.
    """
    from scipy.stats import bootstrap

    array = np.asarray(values, dtype=float)
    if len(array) < 2 or np.ptp(array) == 0:
        return float(array[0]), float(array[0])
    interval = bootstrap(
        (array,), np.mean, confidence_level=confidence, n_resamples=_RESAMPLES, method="BCa", rng=rng
    ).confidence_interval
    return float(interval.low), float(interval.high)


def analyse(
    points: Sequence[tuple[str, int, Path]],
    *,
    ranks_per_node: int,
    confidence: float,
    seed: int,
    resamples: Path | None = None,
) -> Tables:
    """Return the tables of ``points`` (technique, nodes, result folder), in the order given.

    ``resamples`` is the folder of the same points with resampled timing profiles; without it, intervals have no parts.
    """
    parts: list[dict[str, object]] = []
    projection, makespans, breakdown, jobs = [], [], [], []
    links, link_jobs, series, spread = [], [], [], []
    for technique, nodes, folder in points:
        key: dict[str, object] = {"technique": technique, "nodes": nodes}
        document = tables.read_json(folder / "result.json", RESULT_SCHEMA)
        replicas = document["replicas"]
        times = [float(replica["jobs"][0]["makespan_s"]) for replica in replicas]
        whole = {int(replica["replica"]): float(replica["makespan_s"]) for replica in replicas}
        each = [iteration_times.lengths(replica["jobs"][0]["iteration_end_s"]) for replica in replicas]
        interval = bootstrap_interval(times, confidence, seeds.generator(seed, "bootstrap", technique, nodes))
        low, high = note.widened(*interval, float(np.mean(times)), document)
        projection.append(
            {
                **key,
                "ranks": nodes * ranks_per_node,
                "replicas": len(times),
                "time_s": float(np.mean(times)),
                "low_s": low,
                "high_s": high,
                "iteration_s": float(np.mean(np.concatenate(each))),
                **note.columns(document),
            }
        )
        key["extrapolated"] = note.extrapolated(document)
        if resamples is not None:
            by_number = {int(r["replica"]): time for r, time in zip(replicas, times, strict=True)}
            table = resamples / technique / f"nodes-{nodes}.parquet"
            parts += [{**key, **row} for row in _interval_parts(by_number, table, confidence)]
        makespans += [{**key, "replica": r["replica"], "makespan_s": t} for r, t in zip(replicas, times, strict=True)]
        jobs.append(_keyed(_jobs(replicas, note.growth(document)), key))
        ranks = tables.read_table(
            folder / "ranks.parquet", RANKS_SCHEMA, ["replica", "job", "rank", "operation", "seconds"]
        )
        check_ranks(ranks, sorted(whole), nodes * ranks_per_node, folder / "ranks.parquet")
        breakdown.append(_keyed(_breakdown(ranks), key))
        spread.append({**key, **iteration_times.row(replicas, ranks)})
        names = [str(job["name"]) for job in replicas[0]["jobs"]]
        links.append(_keyed(link_load.by_class(folder, whole), key))
        link_jobs.append(_keyed(link_load.by_job(folder, whole, names), key))
        series.append(_keyed(link_load.over_time(folder), key))
    frame = pd.DataFrame(projection)
    base = frame.loc[frame.groupby("technique")["nodes"].idxmin()].set_index("technique")["time_s"]
    # Weak scaling: the problem grows with the nodes, and equal times mean an efficiency of 1.
    frame["efficiency"] = frame["technique"].map(base) / frame["time_s"]
    joined = (_joined(found) for found in (breakdown, jobs, links, link_jobs, series))
    interval_parts_table = pd.DataFrame(parts, columns=list(interval_parts.COLUMNS))
    return Tables(frame, interval_parts_table, pd.DataFrame(makespans), pd.DataFrame(spread), *joined)


def _interval_parts(replicas: Mapping[int, float], table: Path, confidence: float) -> list[dict[str, float | str]]:
    """Return the parts of a point's interval."""
    frame = tables.read_table(table, interval_parts.RESAMPLES_SCHEMA, ["replica", "makespan_s", "groups"])
    resampled = [(int(row.replica), float(row.makespan_s)) for row in frame.itertuples()]
    return interval_parts.interval_parts(replicas, resampled, int(frame["groups"].iloc[0]), confidence)


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts; without parts, only the columns."""
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else parts[0]


def _jobs(replicas: Sequence[dict[str, Any]], growth: float = 1.0) -> pd.DataFrame:
    """Return each job's own makespan, messages and bytes: mean, minimum and maximum over the replicas.

    ``growth`` is the ratio of all iterations to simulated ones.

    A background job restarts until the others have ended: ``makespan_s`` is its stop time, ``iterations`` its progress.
    """
    rows = [
        {
            "position": position,
            "job": str(job["name"]),
            "background": bool(job["background"]),
            "time_s": float(job["makespan_s"]),
            "iterations": len(job["iteration_end_s"]) * growth,
            "messages": float(job["messages"]),
            "bytes": float(job["bytes"]),
        }
        for replica in replicas
        for position, job in enumerate(replica["jobs"])
    ]
    groups = pd.DataFrame(rows).groupby(["position", "job", "background"], sort=True)
    frame = groups[["time_s", "iterations", "messages", "bytes"]].mean()
    frame["low_s"], frame["high_s"] = groups["time_s"].min(), groups["time_s"].max()
    return frame.reset_index().drop(columns="position")


def _breakdown(ranks: pd.DataFrame) -> pd.DataFrame:
    """Return job 0's mean seconds per rank in compute and in each MPI operation, over ranks and replicas."""
    ranks = ranks[ranks["job"] == 0]
    count = len(ranks[["replica", "rank"]].drop_duplicates())
    seconds = ranks.groupby("operation", sort=True)["seconds"].sum() / count
    frame = seconds.reset_index()
    frame["share"] = frame["seconds"] / frame["seconds"].sum() if frame["seconds"].sum() > 0 else 0.0
    return frame


def _keyed(frame: pd.DataFrame, key: dict[str, object]) -> pd.DataFrame:
    """Return ``frame`` with the columns of ``key`` in front."""
    for position, (name, value) in enumerate(key.items()):
        frame.insert(position, name, value)
    return frame


def write(result: Tables, projection_path: Path) -> None:
    """Write the tables to one folder, the projection last, under the given name."""
    folder = projection_path.parent
    for name, schema, frame in (
        ("interval_parts", interval_parts.SCHEMA, result.interval_parts),
        ("makespans", MAKESPANS_SCHEMA, result.makespans),
        ("iterations", iteration_times.ITERATIONS_SCHEMA, result.iterations),
        ("breakdown", BREAKDOWN_SCHEMA, result.breakdown),
        ("jobs", JOBS_SCHEMA, result.jobs),
        ("links", link_load.LINK_SUMMARY_SCHEMA, result.links),
        ("link_jobs", link_load.LINK_JOB_SUMMARY_SCHEMA, result.link_jobs),
        ("series", link_load.SERIES_SUMMARY_SCHEMA, result.series),
    ):
        tables.write_table(folder / f"{name}.parquet", schema, frame)
    tables.write_table(projection_path, PROJECTION_SCHEMA, result.projection)
