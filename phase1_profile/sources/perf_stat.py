"""Source ``perf_stat``: ``perf stat`` around every rank, for programs into which the markers cannot be preloaded.

perf counts the whole life of a rank: its start-up, its threads and everything inside MPI. It cannot exclude busy
waiting: a rank that waits in a spin loop executes instructions, branches and loads. These counts mix work with waiting,
and ranks with less work look like ranks with different work. The paper therefore disables busy waiting in MPI (Eyerman
et al., section 3.3); do so if the MPI library allows it (Open MPI's mpi_yield_when_idle only reduces it). This source
does not separate phases. ``seconds`` is perf's task-clock: time on a core, including spinning.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from manynode.errors import EngineMissingError, InputError
from manynode.measured_runs import NONE
from manynode.probe import Probe
from manynode.process import find_program
from phase1_profile.counters import ALL_PHASES
from phase1_profile.hardware import CALLGRIND, probe_hardware
from phase1_profile.perf_csv import parse_perf_stat, seconds
from phase1_profile.sources import _perf_rank
from phase1_profile.sources.interface import SOURCES, CountedJob, CounterSource

PURPOSE = "counters of any program, waiting in MPI included"
REMEDY = "install perf (apt-get install linux-perf)"
# Not the comma: in many locales perf writes decimal commas.
SEPARATOR = ";"
EVENTS = {
    "instructions": "instructions:u",
    "cycles": "cycles:u",
    "branches": "branches:u",
    "branch_misses": "branch-misses:u",
    "loads": "L1-dcache-loads:u",
    "seconds": "task-clock",
}


@SOURCES.register("perf_stat")
class PerfStat(CounterSource):
    """``perf stat`` as a child of the MPI launcher and the parent of the application."""

    slow_down = NONE

    def probe(self) -> Probe:
        """Look for perf, then try to open a hardware counter."""
        try:
            path = find_program("perf", purpose=PURPOSE, remedy=REMEDY)
        except EngineMissingError:
            return Probe(False, "perf was not found", "", PURPOSE, REMEDY)
        hardware = probe_hardware()
        return Probe(hardware.usable, path if hardware.usable else hardware.reason, "", PURPOSE, hardware.remedy)

    def prefix(self, job: CountedJob) -> list[str]:
        """Return the launcher that makes every rank write its own file."""
        # An absolute path, because the rank may start in another folder.
        perf = os.path.abspath(find_program("perf", purpose=PURPOSE, remedy=REMEDY))
        events = ",".join(EVENTS.values())
        launcher = str(Path(_perf_rank.__file__).resolve())
        return [sys.executable, "-I", launcher, perf, str(job.directory.resolve()), events, SEPARATOR]

    def environment(self, job: CountedJob) -> dict[str, str]:
        """Return nothing."""
        return {}

    def read(self, directory: Path, ranks_per_node: int | None) -> pd.DataFrame:
        """Read perf's files of all ranks."""
        identities = [_identity(path) for path in sorted(directory.glob("rank-*.json"))]
        _check_ranks(identities, directory)
        hosts: dict[str, int] = {}
        rows = []
        missing: dict[str, str] = {}
        for identity in sorted(identities, key=lambda item: int(item["rank"])):
            rank = int(identity["rank"])
            host = hosts.setdefault(str(identity["host"]), len(hosts))
            path = directory / f"rank-{rank:06d}.csv"
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError as error:
                raise InputError(
                    "a rank left no counts",
                    where=str(path),
                    found=error.strerror,
                    remedy="profile the application again",
                ) from None
            counts = parse_perf_stat(text, str(path), SEPARATOR)
            node = rank // ranks_per_node if ranks_per_node else host
            row: dict[str, Any] = {"rank": rank, "node": node, "phase": ALL_PHASES, "counted_share": 1.0}
            for name, event in EVENTS.items():
                count = counts.get(event.partition(":")[0])
                if count is None or count.absent:
                    row[name] = math.nan
                    missing[name] = count.absent if count else "not in perf's output"
                    continue
                row[name] = seconds(count) if name == "seconds" else count.value
                row["counted_share"] = min(row["counted_share"], count.counted_share)
            rows.append(row)
        table = pd.DataFrame(rows)
        if table["instructions"].isna().all():
            raise EngineMissingError(
                "perf counted no instructions",
                where=str(directory),
                found="; ".join(f"{EVENTS[name]}: {reason}" for name, reason in missing.items()),
                remedy="this host (often a virtual machine) has no hardware counters: " + CALLGRIND,
            )
        return table


def _identity(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if type(content["rank"]) is not int or not isinstance(content["host"], str):
            raise TypeError("rank or host of another kind")
        if content["rank"] < 0 or not (content["size"] is None or type(content["size"]) is int):
            raise TypeError("rank or size out of range")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            "a rank's identity cannot be read",
            where=str(path),
            found=str(error),
            remedy="profile the application again",
        ) from None
    return dict(content)


def _check_ranks(identities: list[dict[str, Any]], directory: Path) -> None:
    ranks = [identity["rank"] for identity in identities]
    size = max([identity["size"] or 0 for identity in identities] + [max(ranks, default=-1) + 1])
    absent = sorted(set(range(size)) - set(ranks))
    if not ranks or absent or len(set(ranks)) != len(ranks):
        raise InputError(
            "perf's output is incomplete",
            where=str(directory),
            found=f"no file of rank {absent[0]} of {size}" if absent else "no file" if not ranks else "a rank twice",
            allowed="rank-NNNNNN.json and rank-NNNNNN.csv for every rank",
            remedy="profile the application again into an empty folder",
        )
