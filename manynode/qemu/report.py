"""What each rank's node model says of the run when it ends (``node-report/1``), and what makes a run fail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manynode.errors import EngineFailedError

SCHEMA = "node-report/1"


def read_reports(directory: Path, ranks: Sequence[int], what: str) -> list[dict[str, Any]]:
    """Return the report of each rank; a missing one is an :class:`EngineFailedError`."""
    reports = []
    for rank in ranks:
        path = directory / f"node-report.{rank}.json"
        if not path.is_file():
            raise EngineFailedError(
                f"{what}: a simulated rank left no report",
                where=str(path),
                found=f"no such file for rank {rank}",
                remedy="the program must load the MPI library dynamically and call MPI_Finalize; see the job's log",
            )
        try:
            reports.append(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise EngineFailedError(
                f"{what}: a simulated rank's report cannot be read",
                where=str(path),
                found=str(error),
                remedy="a killed rank or a full disk leaves such a file: run again",
            ) from None
    return reports


def summary(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums over the ranks."""
    clocks = [report["clocks"] for report in reports if "clocks" in report]
    return {
        "synchronisations": sum(clock["synchronisations"] for clock in clocks),
        "released_by_time_out": sum(clock["released_by_time_out"] for clock in clocks),
        "lost_recalls": max((report.get("lost_recalls", 0) for report in reports), default=0),
        "injected_bytes": sum(report["injected_bytes"] for report in reports),
        "threads_too_many": sum(report["threads_too_many"] for report in reports),
        "unknown_instructions": sum(report["unknown_instructions"] for report in reports),
    }


def check_threads(reports: Sequence[dict[str, Any]], threads: int, what: str) -> None:
    """Refuse a run whose ranks have not the ``threads`` that it says; others are neither counted nor timed."""
    for report in reports:
        if report["threads"] < threads:
            raise EngineFailedError(
                f"{what}: a rank has fewer threads than the experiment says",
                where=f"rank {report['rank']}",
                found=f"{report['threads']} threads that compute",
                allowed=f"{threads} (application: threads)",
                remedy="set application: threads to the number of threads that each rank starts after MPI_Init. Those "
                "that it starts before MPI_Init are not timed: call MPI_Init first",
            )
        if report["threads_too_many"]:
            raise EngineFailedError(
                f"{what}: a rank has more threads than the experiment says",
                where=f"rank {report['rank']}",
                found=f"{report['threads'] + report['threads_too_many']} threads that compute",
                allowed=f"{report['threads']} (application: threads)",
                remedy="set application: threads to the number of threads that each rank starts",
            )


def check_releases(reports: Sequence[dict[str, Any]], releases: float, what: str) -> None:
    """Refuse a run in which too many ranks were passed by a time-out."""
    total = summary(reports)
    released, synchronisations = total["released_by_time_out"], total["synchronisations"]
    if released > releases * synchronisations:
        raise EngineFailedError(
            f"{what}: ranks waited without looking for their messages, and others went on without them",
            found=f"{released} of {synchronisations} synchronisations passed a rank that did not answer for 5 s",
            allowed=f"a share of {releases:g} (nodesim: qemu: releases)",
            remedy="find out what the program waits for outside MPI; a busy host delays ranks as well: run again",
        )
