"""A point that a study plans: what engines read of it, and the folder of its result below the study's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from manynode import tables
from phase3_sst.point.contract import Point

FAILURE_SCHEMA = "failed-situation/1"
RESULT = "result.json"
FAILURE = "failure.json"


@dataclass(frozen=True)
class PlannedPoint:
    """``name`` is for messages; ``folder`` is relative to the study's and carries the digest of all that the result
    depends on, so that a finished point is found again and a changed one is not mistaken for it.
    """

    name: str
    folder: str
    point: Point


def finished(folder: Path) -> bool:
    """Return whether the point of ``folder`` has a result or a failure on record."""
    return any((folder / name).is_file() for name in (RESULT, FAILURE))


def missing(output: Path, points: Iterable[PlannedPoint]) -> list[PlannedPoint]:
    """Return the points that have neither a result nor a failure on record below ``output``."""
    return [one for one in points if not finished(output / one.folder)]


def failed(folder: Path) -> str | None:
    """Return why the point of ``folder`` has no result; None when it has one."""
    if (folder / RESULT).is_file():
        return None
    path = folder / FAILURE
    return str(tables.read_json(path, FAILURE_SCHEMA)["message"]) if path.is_file() else "not simulated"


def forget_failures(output: Path, points: Iterable[PlannedPoint]) -> None:
    """Let points that failed in an earlier run be tried again: what failed then may have been mended."""
    for one in points:
        (output / one.folder / FAILURE).unlink(missing_ok=True)
