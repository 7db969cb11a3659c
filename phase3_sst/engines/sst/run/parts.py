"""Converts the output of one SST simulation (a part per process) to the folder of tables of a native engine.

In: ``ranks-P.csv``, ``part-P.json`` and SST's statistics of each process P. Out: ``result.json``, ``ranks.csv``,
``links.csv`` and ``link_jobs.csv`` as :mod:`phase3_sst.point.result_files` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manynode.errors import EngineFailedError
from phase3_sst.engines.sst.machine.sst_run_file import run_of
from phase3_sst.engines.sst.machine.statistics_file import PortCounts
from phase3_sst.point.contract import RESULT_SCHEMA
from phase3_sst.point.result_files import COLUMNS

# The registry of engines imports this module, for points of other engines too: pandas waits until it is needed.
if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Parts:
    """The parts of one simulation, one per process of SST."""

    folder: Path
    contents: Sequence[Mapping[str, Any]]

    @property
    def unfinished(self) -> tuple[list[dict[str, Any]], int]:
        """Return some of the ranks that still waited at the end, and their total number."""
        entries = [entry for part in self.contents for entry in part["unfinished"]]
        entries.sort(key=lambda entry: (entry["job"], entry["rank"]))
        return entries, sum(part["unfinished_count"] for part in self.contents)


def read_parts(folder: Path, run: Mapping[str, Any]) -> Parts | None:
    """Return the parts in ``folder``; None when ranks of the run are missing, because SST did not finish."""
    parts = Parts(folder, [_read(path) for path in sorted(folder.glob("part-*.json"))])
    for number, job in enumerate(run["jobs"]):
        # A process without ranks leaves no part.
        ranks = sum(entry["ranks"] for part in parts.contents for entry in part["jobs"] if entry["job"] == number)
        if ranks != job["nodes"] * job["ranks_per_node"]:
            return None
    return parts


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if {"jobs", "unfinished", "unfinished_count"} <= content.keys():
            return dict(content)
        found: object = ", ".join(content)
    except (OSError, ValueError, AttributeError) as error:
        found = error
    raise EngineFailedError(
        "a part of SST's result cannot be read",
        where=str(path),
        found=found,
        allowed="jobs, unfinished, unfinished_count",
        remedy="run 'make build': engine and element library may be of different versions",
    )


def write_result(parts: Parts, content: Mapping[str, Any], version: str, out: Path) -> None:
    """Write the native engines' folder ``out`` for the simulation of RUN.json's ``content``."""
    import pandas as pd

    out.mkdir(parents=True, exist_ok=True)
    run = content["run"]
    (replica,) = run["replicas"]
    ranks = pd.concat([_ranks(path) for path in sorted(parts.folder.glob("ranks-*.csv"))], ignore_index=True)
    # The order of operations within a rank is the motif's.
    ranks = ranks.sort_values(["job", "rank"], kind="stable")
    for name, table in {"ranks": ranks, **_link_tables(parts.folder, content)}.items():
        table.insert(0, "replica", replica)
        table.to_csv(out / f"{name}.csv", index=False)
    result = {
        "schema": RESULT_SCHEMA,
        "engine": {"name": "sst", "version": version},
        "replicas": [replica_entry(parts.contents, run)],
    }
    (out / "result.json").write_text(json.dumps(result), encoding="utf-8")


def _link_tables(folder: Path, content: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Return the tables of the links; without packets between nodes, they only have columns."""
    import pandas as pd

    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("statistics*.csv"))]
    if not texts:
        raise EngineFailedError(
            "SST left no statistics of its ports", where=str(folder), remedy="see SST's output for the reason"
        )
    counts = PortCounts(run_of(content), texts)
    rows = {"links": counts.links(), "link_jobs": counts.link_jobs()}
    if "counters" in content["run"]:
        rows["series"] = counts.series()
    # Whole numbers stay whole beside unknown columns.
    return {
        name: pd.DataFrame(entries, columns=list(COLUMNS[name])[1:], dtype="object") for name, entries in rows.items()
    }


def replica_entry(parts: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of ``result.json`` of one replica, merged from the parts of all processes."""
    jobs = [_job(number, job, parts) for number, job in enumerate(run["jobs"])]
    (replica,) = run["replicas"]
    return {
        "replica": replica,
        "makespan_s": max(job["makespan_s"] for job in jobs if not job["background"]),
        "messages": sum(job["messages"] for job in jobs),
        "bytes": sum(job["bytes"] for job in jobs),
        # SST does not report the number of events.
        "events": 0,
        "jobs": jobs,
    }


def _job(number: int, job: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    entries = [entry for part in parts for entry in part["jobs"] if entry["job"] == number]
    steps = max((len(entry["iteration_end_s"]) for entry in entries), default=0)
    # A process without ranks of the job does not know its steps.
    ends = [
        max(entry["iteration_end_s"][step] for entry in entries if len(entry["iteration_end_s"]) > step)
        for step in range(steps)
    ]
    return {
        "name": job.get("name", "main"),
        "background": bool(job.get("background", False)),
        "makespan_s": max((entry["makespan_s"] for entry in entries), default=0.0),
        "iteration_end_s": ends,
        "messages": sum(entry["messages"] for entry in entries),
        "bytes": sum(entry["bytes"] for entry in entries),
    }


def _ranks(path: Path) -> pd.DataFrame:
    import pandas as pd

    # Numbers stay text, which is read later without loss.
    return pd.read_csv(path, dtype={"seconds": "str"})
