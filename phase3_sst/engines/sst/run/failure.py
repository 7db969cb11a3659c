"""Turns a failed SST run into one error with cause, location, finding and remedy; its log is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manynode.errors import EngineFailedError, EngineMissingError, ManynodeError
from manynode.native_errors import reported_error
from manynode.process import Completed
from phase3_sst.engines.sst.run.output import Finding, read_failure

_AGAIN = "run again: finished points are kept"
_DEFECT = "this is a defect of manynode or of this release of SST: report it with the log"
_REMEDIES = {
    "memory": "give it more memory, or more hosts ('simulate: sst: processes'); fewer nodes or ranks take less",
    "killed": f"{_AGAIN}; if memory ran out, take fewer side by side (--cores) or set 'simulate: sst: memory'",
    "other library": "the element library was built against another SST: run 'make build' with this SST's sst-config "
    "first on PATH",
    "no library": "run 'make build', or correct 'simulate: sst: library'; 'manynode doctor' shows what is there",
    "script": _DEFECT,
    "fatal": "the network or 'simulate: sst' asks for what SST's elements refuse; see its words, and the log",
    "stopped": _AGAIN,
    "crash": "SST, its elements and the element library may be of different builds: run 'make build' again; then "
    f"{_DEFECT}",
    "option": "this release of SST has other options than manynode knows (14 and later): 'manynode doctor' shows which",
    "unknown": "see the log",
}
_MISSING = ("other library", "no library")

# As in the fast engine (phase3_sst/engines/fast/unfinished.cpp): a readable number.
_MOST_RANKS = 10
_ANY = -1


def failure_of(completed: Completed, what: str) -> ManynodeError:
    """Return the error of a run that failed or left no result."""
    reported = reported_error(completed, what)
    if reported is not None:
        return reported
    return error_of(read_failure(completed.output, completed.returncode), what, completed.log)


def error_of(finding: Finding, what: str, log: Path | None) -> ManynodeError:
    """Return the error of a finding in SST's output."""
    kind = EngineMissingError if finding.kind in _MISSING else EngineFailedError
    ending = f"; SST's output is in {log}" if log is not None else ""
    return kind(
        f"{what}: {'SST was stopped' if finding.kind == 'stopped' else 'SST failed'}",
        where=finding.where,
        found=finding.found,
        remedy=_REMEDIES[finding.kind] + ending,
        details=finding.details,
    )


def unfinished_error(
    entries: Sequence[dict[str, Any]], count: int, jobs: Sequence[str], what: str, log: Path | None
) -> EngineFailedError:
    """Return the error of a simulation that ended while ranks still waited."""
    lines = [waiting(entry, jobs) for entry in entries[:_MOST_RANKS]]
    if count > len(lines):
        lines.append(f"... and {count - len(lines)} more ranks")
    return EngineFailedError(
        f"{what}: the simulation ended with {count} unfinished ranks",
        where=None if log is None else str(log),
        remedy="look in the skeleton for a receive without a matching send, or for blocking sends above the eager "
        "limit that wait for each other",
        details="\n".join(lines),
    )


def waiting(entry: dict[str, Any], jobs: Sequence[str]) -> str:
    """Return text that says which rank waits where, for what."""
    rank = f"rank {entry['rank']}" + (f" of job {jobs[entry['job']]}" if len(jobs) > 1 else "")
    line = f"{rank} waits in {entry['operation']} since {entry['since_s']:g} s"
    if entry.get("peer") is None:
        return line
    peer = "any rank" if entry["peer"] == _ANY else f"rank {entry['peer']}"
    tag = "any tag" if entry.get("tag") in (None, _ANY) else f"tag {entry['tag']}"
    return f"{line} for {peer}, {tag}, {entry['bytes']} bytes"
