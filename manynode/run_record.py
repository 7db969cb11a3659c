"""When and where an experiment was run: the day, the host and the commit of the code.

They differ between equal runs, so they lie in ``logs`` and in the report, and in no result.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from manynode import process, tables
from manynode.errors import InputError
from manynode.paths import IS_CHECKOUT, ROOT

SCHEMA = "run-record/1"


class Run(BaseModel):
    """The first run with a code on a host: ``day`` (ISO 8601, UTC), ``host``, ``commit`` (empty outside a checkout)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    day: str
    host: str
    commit: str = ""


def record_run(results: Path) -> None:
    """Add this run to the record of ``results``, unless the same code ran there on this host before."""
    try:
        runs = list(recorded_runs(results))
    except InputError:
        runs = []  # the record is no result: a damaged one begins again
    now = Run(day=_day(), host=platform.node(), commit=_commit())
    if all((run.host, run.commit) != (now.host, now.commit) for run in runs):
        tables.write_json(_path(results), SCHEMA, {"runs": [run.model_dump() for run in (*runs, now)]})


def recorded_runs(results: Path) -> Sequence[Run]:
    """Return the runs of ``results``, the first one first; none where nothing was recorded."""
    path = _path(results)
    return [Run(**run) for run in tables.read_json(path, SCHEMA)["runs"]] if path.is_file() else []


def _path(results: Path) -> Path:
    return results / "logs" / "run-record.json"


def _day() -> str:
    """Return today; SOURCE_DATE_EPOCH, the convention of reproducible builds, states another day."""
    return time.strftime("%Y-%m-%d", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())))


@functools.cache
def _commit() -> str:
    """Return the commit of the checkout, with ``-dirty`` where files differ from it."""
    git = shutil.which("git")
    if not IS_CHECKOUT or git is None or not (ROOT / ".git").exists():
        return ""
    command: list[str | Path] = [git, "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    done = process.run(command, what="reading the commit", check=False)
    return done.output.strip() if done.returncode == 0 else ""
