"""The load of the network per class of link and per job, and over time.

In: the result folder of a point. Out: tidy tables (schemas ``link-load-summary/2``, ``link-job-summary/1``,
``link-series-summary/1``). A mean queue is the chunks' stall time divided by the makespan: Little's law (Little 1961)
says that the mean number of waiting chunks is their arrival rate times their mean wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from manynode import tables
from phase3_sst.point.contract import LINK_JOBS_SCHEMA, LINK_SERIES_SCHEMA, LINKS_SCHEMA

LINK_SUMMARY_SCHEMA = "link-load-summary/2"
LINK_JOB_SUMMARY_SCHEMA = "link-job-summary/1"
SERIES_SUMMARY_SCHEMA = "link-series-summary/1"

_LINK_COLUMNS = {
    "class": str,
    "links": float,
    "bytes": float,
    "busy_s": float,
    "busy_share_max": float,
    "stall_s": float,
    "queue_mean_chunks": float,
    "queue_max_bytes": float,
}
_JOB_COLUMNS = {
    "job": str,
    "class": str,
    "bytes": float,
    "busy_s": float,
    "stall_s": float,
    "queue_mean_chunks": float,
}
_SERIES_COLUMNS = {
    "start_s": float,
    "end_s": float,
    "class": str,
    "busy_share": float,
    "busy_share_max": float,
    "stall_s": float,
    "queue_bytes": float,
}


def by_class(folder: Path, makespans_s: Mapping[int, float]) -> pd.DataFrame:
    """Return the load per class of link, as means over the replicas (``makespans_s`` by replica).

    ``links`` with traffic; ``bytes``, ``busy_s``, ``stall_s`` and ``queue_mean_chunks`` summed over them;
    ``busy_share_max`` of the busiest link in any replica, ``queue_max_bytes`` of the fullest.
    """
    links = tables.read_table(
        folder / "links.parquet",
        LINKS_SCHEMA,
        ["replica", "class", "bytes", "busy_s", "stall_s", "queue_max_bytes"],
    )
    if links.empty:
        return _empty(_LINK_COLUMNS)
    times = links["replica"].map(makespans_s)
    links = links.assign(busy_share=links["busy_s"] / times, queue=links["stall_s"] / times)
    groups = links.groupby("class", sort=True)
    count = len(makespans_s)
    return pd.DataFrame(
        {
            "links": groups.size() / count,
            "bytes": groups["bytes"].sum() / count,
            "busy_s": groups["busy_s"].sum() / count,
            "busy_share_max": groups["busy_share"].max(),
            "stall_s": groups["stall_s"].sum() / count,
            "queue_mean_chunks": groups["queue"].sum() / count,
            "queue_max_bytes": groups["queue_max_bytes"].max(),
        }
    ).reset_index()


def by_job(folder: Path, makespans_s: Mapping[int, float], jobs: Sequence[str]) -> pd.DataFrame:
    """Return the means over the replicas of the load of a job's own chunks, per job (by name) and class of link."""
    loads = tables.read_table(
        folder / "link_jobs.parquet", LINK_JOBS_SCHEMA, ["replica", "job", "class", "bytes", "busy_s", "stall_s"]
    )
    if loads.empty:
        return _empty(_JOB_COLUMNS)
    loads = loads.assign(queue=loads["stall_s"] / loads["replica"].map(makespans_s))
    frame = loads.groupby(["job", "class"], sort=True)[["bytes", "busy_s", "stall_s", "queue"]].sum()
    frame = (frame / len(makespans_s)).reset_index().rename(columns={"queue": "queue_mean_chunks"})
    frame["job"] = frame["job"].map(dict(enumerate(jobs)))
    return frame


def over_time(folder: Path) -> pd.DataFrame:
    """Return the first replica's load per interval and class of link; empty without ``simulate.counters``.

    A mean over replicas would blur the course over time. ``busy_share`` is the mean over the links of the class with
    any traffic in the run, ``busy_share_max`` the busiest link's (unknown when counted per class).
    """
    path = folder / "series.parquet"
    if not path.is_file():
        return _empty(_SERIES_COLUMNS)
    series = tables.read_table(
        path,
        LINK_SERIES_SCHEMA,
        ["replica", "start_s", "end_s", "class", "link", "busy_s", "stall_s", "queue_bytes"],
    )
    links = tables.read_table(folder / "links.parquet", LINKS_SCHEMA, ["replica", "class", "link"])
    if series.empty:
        return _empty(_SERIES_COLUMNS)
    first = series["replica"].iloc[0]
    series = series[series["replica"] == first]
    used = links[links["replica"] == first].groupby("class").size()
    per_link = series["link"].notna()
    series = series.assign(share=(series["busy_s"] / (series["end_s"] - series["start_s"])).where(per_link))
    groups = series.groupby(["start_s", "end_s", "class"], sort=True)
    frame = groups[["busy_s", "stall_s", "queue_bytes"]].sum().join(groups["share"].max()).reset_index()
    frame["busy_share"] = frame["busy_s"] / (frame["end_s"] - frame["start_s"]) / frame["class"].map(used)
    return frame.rename(columns={"share": "busy_share_max"})[list(_SERIES_COLUMNS)]


def _empty(columns: Mapping[str, type]) -> pd.DataFrame:
    return pd.DataFrame(columns=list(columns)).astype(dict(columns))
