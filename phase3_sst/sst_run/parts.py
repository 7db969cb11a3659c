"""What one simulation of SST left (a part per process) -> the folder of tables that every native engine writes.

In: ``ranks-P.csv``, ``part-P.json`` and SST's statistics of each process P. Out: ``result.json``, ``ranks.csv``,
``links.csv`` and ``link_jobs.csv`` as :mod:`phase3_sst.engines.result_files` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from manynode.errors import EngineFailedError
from phase3_sst.engines.interface import RESULT_SCHEMA
from phase3_sst.sst_machine.links import link_of_port
from phase3_sst.sst_machine.run import run_of
from phase3_sst.sst_run.port_statistics import class_rows, link_rows, read_ports


@dataclass(frozen=True)
class Parts:
    """The parts of one simulation, one per process of SST."""

    folder: Path
    contents: Sequence[Mapping[str, Any]]

    @property
    def unfinished(self) -> tuple[list[dict[str, Any]], int]:
        """Return the ranks that still waited at the end (some of them), and how many there are."""
        entries = [entry for part in self.contents for entry in part["unfinished"]]
        entries.sort(key=lambda entry: (entry["job"], entry["rank"]))
        return entries, sum(part["unfinished_count"] for part in self.contents)


def read_parts(folder: Path, processes: int) -> Parts | None:
    """Return the parts in ``folder``, None when any of them lacks: the simulation did not come to its end."""
    paths = [folder / f"part-{process}.json" for process in range(processes)]
    if not all(path.is_file() and (folder / f"ranks-{index}.csv").is_file() for index, path in enumerate(paths)):
        return None
    return Parts(folder, [_read(path) for path in paths])


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
    """Write the native engines' folder ``out`` of the simulation of RUN.json's ``content``."""
    out.mkdir(parents=True, exist_ok=True)
    run = content["run"]
    (replica,) = run["replicas"]
    ranks = pd.concat(
        [_ranks(parts.folder / f"ranks-{process}.csv") for process in range(len(parts.contents))], ignore_index=True
    )
    # The order of operations within a rank is the motif's.
    ranks = ranks.sort_values(["job", "rank"], kind="stable")
    ranks.insert(0, "replica", replica)
    ports = read_ports(sorted(parts.folder.glob("statistics*.csv")))
    links = link_rows(ports, link_of_port(run_of(content)), replica)
    for name, table in (
        ("ranks", ranks),
        ("links", links),
        ("link_jobs", class_rows(links, len(run["jobs"]), replica)),
    ):
        table.to_csv(out / f"{name}.csv", index=False)
    result = {
        "schema": RESULT_SCHEMA,
        "engine": {"name": "sst", "version": version},
        "replicas": [replica_entry(parts.contents, run)],
    }
    (out / "result.json").write_text(json.dumps(result), encoding="utf-8")


def replica_entry(parts: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of ``result.json`` of one replica, put together from the parts of all processes."""
    jobs = [_job(number, job, parts) for number, job in enumerate(run["jobs"])]
    (replica,) = run["replicas"]
    return {
        "replica": replica,
        "makespan_s": max(job["makespan_s"] for job in jobs if not job["background"]),
        "messages": sum(job["messages"] for job in jobs),
        "bytes": sum(job["bytes"] for job in jobs),
        # SST tells no number of events.
        "events": 0,
        "jobs": jobs,
    }


def _job(number: int, job: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    entries = [entry for part in parts for entry in part["jobs"] if entry["job"] == number]
    steps = max((len(entry["iteration_end_s"]) for entry in entries), default=0)
    # A process without ranks of the job knows none of its steps.
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
    # Numbers stay the text that was written, which is read to the last bit later.
    return pd.read_csv(path, dtype={"seconds": "str"})
