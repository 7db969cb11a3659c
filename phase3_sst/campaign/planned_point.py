"""A planned point of a study: the engines' input, and the folder of its result below the study's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode import tables
from phase3_sst.point.contract import Point

FAILURE_SCHEMA = "failed-situation/1"
RESULT = "result.json"
FAILURE = "failure.json"
_MOST_NAMED = 20


@dataclass(frozen=True)
class PlannedPoint:
    """``name`` is for messages; ``folder`` is relative to the study's and carries the digest of everything that the
    result depends on. A finished point is found by it, and a changed point gets another folder.
    """

    name: str
    folder: str
    point: Point


def finished(folder: Path) -> bool:
    """Return whether the point of ``folder`` has a result or a recorded failure."""
    return any((folder / name).is_file() for name in (RESULT, FAILURE))


def missing(output: Path, points: Iterable[PlannedPoint]) -> list[PlannedPoint]:
    """Return the points with neither a result nor a recorded failure below ``output``."""
    return [one for one in points if not finished(output / one.folder)]


def failed(folder: Path) -> str | None:
    """Return why the point of ``folder`` has no result; None when it has one."""
    if (folder / RESULT).is_file():
        return None
    path = folder / FAILURE
    return str(tables.read_json(path, FAILURE_SCHEMA)["message"]) if path.is_file() else "not simulated"


def forget_failures(output: Path, points: Iterable[PlannedPoint]) -> None:
    """Delete failures of earlier runs, because their cause may have been fixed; those points are tried again."""
    for one in points:
        (output / one.folder / FAILURE).unlink(missing_ok=True)


def failure_lines(failures: Sequence[tuple[str, str]], total: int, noun: str) -> list[str]:
    """Return which of ``total`` points failed (name, message) as text; the first message is shown whole."""
    if not failures:
        return []
    lines = [f"  {name}: {message.splitlines()[0]}" for name, message in failures[:_MOST_NAMED]]
    if len(failures) > _MOST_NAMED:
        lines.append(f"  and {len(failures) - _MOST_NAMED} more")
    first = [f"  | {line}" for line in failures[0][1].splitlines()]
    return [f"{len(failures)} of {total} {noun}s failed; the others are finished", *lines, *first]


def plain(value: Any) -> Any:
    """Return ``value`` in JSON's types: absolute paths, numpy numbers as Python's."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(entry) for entry in value]
    if isinstance(value, Path):
        return str(value.resolve())
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return plain(value.tolist())
    return value
