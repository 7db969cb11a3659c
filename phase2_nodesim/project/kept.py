"""What ``manynode project`` wrote before, so that it repeats nothing and overwrites nothing that a user edited.

The file ``project.json`` in the folder of the recordings (``project/1``) has checksums: of what the skeleton was
derived from, and of the skeleton and the experiment as they were written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manynode import input_file, tables
from manynode.errors import UsageError
from phase2_nodesim.derive.judged import read_content

SCHEMA = "project/1"


@dataclass(frozen=True)
class Kept:
    """Checksums of the last call; empty if there was none."""

    derived_from: str = ""
    skeleton: str = ""
    experiment: str = ""

    @classmethod
    def read(cls, path: Path) -> Kept:
        if not input_file.is_file(path):
            return cls()
        content = tables.read_json(path, SCHEMA)
        return cls(**{key: str(content.get(key, "")) for key in cls.__dataclass_fields__})

    def write(self, path: Path) -> None:
        tables.write_json(path, SCHEMA, asdict(self))


def checksum(content: object) -> str:
    """Return a checksum of a JSON value."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def skeleton_checksum(content: Mapping[str, Any]) -> str:
    """Return a checksum of a skeleton but for its assumptions: a user states them for the next derivation."""
    return checksum({key: value for key, value in content.items() if key != "assumptions"})


def check_skeleton_unedited(path: Path, experiment: Path, kept: Kept) -> None:
    """Raise :class:`UsageError` if a skeleton is there that this command did not write as it is."""
    if input_file.is_file(path) and skeleton_checksum(read_content(path)) != kept.skeleton:
        raise _edited(path, f"to project with it, 'manynode run {experiment}'")


def check_experiment_unedited(path: Path, kept: Kept) -> None:
    """Raise :class:`UsageError` if an experiment is there that this command did not write as it is."""
    if input_file.is_file(path) and checksum(path.read_text(encoding="utf-8")) != kept.experiment:
        raise _edited(path, f"to run it as it is, 'manynode run {path}'")


def _edited(path: Path, remedy: str) -> UsageError:
    return UsageError(
        "the file was edited, or another command wrote it: it is not overwritten",
        found=str(path),
        remedy=f"{remedy}; to replace it, --force; to keep it, another name (--output NAME.yaml)",
    )
