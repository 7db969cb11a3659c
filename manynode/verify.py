"""Checks the finished files of a results folder before a run, and removes untrusted ones for the workflow to rebuild.

In: a results folder and its experiment. A file that a step makes from other files is removed if

- its checksum is wrong, or it belongs to another place or, if it lists no sources, to another experiment;
- one of its sources is missing, has changed its checksum, or is removed itself.

A missing table therefore rebuilds everything made from it, including the report. Measured files are never removed,
because a new measurement takes long and gives other times. A damaged one is an error of this check, and of the step
that reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode import artefacts, seal, tables
from manynode.errors import InputError
from manynode.steps import Steps

_PAGE = re.compile(rb"<!-- " + tables.PAGE_MARK.encode() + rb" (.*?) -->")
_REPORT = "report.html"


@dataclass(frozen=True)
class _Found:
    """A finished file: its checksum (None: damaged), its stored identity, and its required identity."""

    checksum: str | None
    of: Any
    made_from: Mapping[str, str]
    identity: artefacts.Identity


def untrusted(results: Path, steps: Steps) -> dict[str, str]:
    """Return the files below ``results`` to make again, each with the reason.

    A damaged measured file is an :class:`InputError` that names it.
    """
    found = _found(results, steps)
    reasons: dict[str, str] = {}
    for place, file in sorted(found.items()):
        if reason := _own_fault(place, file):
            if file.identity.measured:
                raise _measured_fault(results / place, reason)
            reasons[place] = reason
    # What was made from a file that is not the one of then, until nothing more is found.
    while fresh := {
        place: reason
        for place, file in found.items()
        if place not in reasons and (reason := _fault_of_sources(file, found, reasons))
    }:
        reasons |= fresh
    return reasons


def remove_untrusted(results: Path, steps: Steps) -> list[str]:
    """Remove the files to make again; return lines that name them with the reasons."""
    reasons = untrusted(results, steps)
    for place in reasons:
        (results / place).unlink()
    own = {place: reason for place, reason in reasons.items() if not reason.startswith(_FOLLOWS)}
    lines = [f"made again: {results / place}: {reason}" for place, reason in sorted(own.items())]
    if followers := len(reasons) - len(own):
        roots = sorted({reason for place, reason in reasons.items() if place not in own and not _again(reason)})
        lines.append(f"made again: {followers} more that were made from {'these' if own else 'files that changed'}")
        lines += [f"  {reason}" for reason in roots]
    return lines


_FOLLOWS = "it was made from "
_AGAIN = ", which is made again"


def _again(reason: str) -> bool:
    return reason.endswith(_AGAIN)


def _own_fault(place: str, file: _Found) -> str:
    """Return what is wrong with a file itself, or an empty text."""
    if file.checksum is None:
        return "it was damaged, or changed after manynode wrote it"
    fault = artefacts.mismatch(file.of, place, file.identity)
    of_this_place = isinstance(file.of, dict) and file.of.get("file") == place
    if fault is None or (file.identity.measured and of_this_place):
        # A measured file of before a change of the experiment is the workflow's: it measures anew.
        return ""
    if of_this_place and file.made_from and place != _REPORT:
        # Before a change of the experiment: the workflow makes it again when it is asked for, and keeps it until then.
        return ""
    return fault[0]


def _fault_of_sources(file: _Found, found: Mapping[str, _Found], gone: Mapping[str, str]) -> str:
    """Return which source of a file has changed, or an empty text."""
    for source, checksum in file.made_from.items():
        if source not in found:
            return f"{_FOLLOWS}{source}, which is missing"
        if source in gone:
            return f"{_FOLLOWS}{source}{_AGAIN}"
        if found[source].checksum != checksum:
            return f"{_FOLLOWS}another {source}"
    return ""


def _measured_fault(path: Path, reason: str) -> InputError:
    return InputError(
        "a measured table cannot be used",
        where=str(path),
        found=reason,
        remedy="restore the right file, or delete it and run again, which measures again",
    )


def _found(results: Path, steps: Steps) -> dict[str, _Found]:
    """Return the artefacts below ``results`` by their places."""
    found = {}
    for path in sorted(results.rglob("*")):
        place = path.relative_to(results).as_posix()
        identity = steps.identity_of(place) if path.is_file() else None
        if identity is not None:
            found[place] = _read(path, identity)
    return found


def _read(path: Path, identity: artefacts.Identity) -> _Found:
    data = path.read_bytes()
    checksum = seal.checksum(data)
    told: Any = None
    if checksum is not None:
        # Its bytes are those that manynode wrote: they can be read.
        if path.suffix == ".parquet":
            told = tables.metadata_of(data)
        elif path.suffix == ".html":
            match = _PAGE.search(data)
            told = json.loads(match[1]) if match else None
        else:
            told = json.loads(data)
    told = told if isinstance(told, dict) else {}
    return _Found(checksum, told.get(artefacts.OF), dict(told.get(artefacts.MADE_FROM) or {}), identity)
