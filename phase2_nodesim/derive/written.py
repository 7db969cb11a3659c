"""Whether a skeleton's file may be overwritten: it is as a derivation wrote it, of the same command and arguments.

In: the file that is there and the program to derive. Out: an error, or nothing. The file carries a checksum of its
content (``program: checksum``). Assumptions are no part of it: users state them for the next derivation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manynode import input_file
from manynode.config.command_words import with_values
from manynode.config.input_files import digests
from manynode.derived import skeleton_file
from manynode.errors import UsageError
from phase2_nodesim.derive.program import Program

# First line of the report beside a skeleton, after its name.
REPORT_TITLE = ": derived skeleton"


def checksum(content: object) -> str:
    """Return a checksum of a JSON value."""
    return "sha256:" + hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def skeleton_checksum(content: Mapping[str, Any]) -> str:
    """Return the checksum of a skeleton's file."""
    program = {key: value for key, value in content.get("program", {}).items() if key != "checksum"}
    return checksum({**{key: value for key, value in content.items() if key != "assumptions"}, "program": program})


def unedited(content: Mapping[str, Any]) -> bool:
    """Say whether a skeleton's file is as a derivation wrote it."""
    return bool(content.get("program", {}).get("checksum") == skeleton_checksum(content))


def check_replaceable(path: Path, program: Program, *, keep: str = "") -> None:
    """Raise :class:`UsageError` if writing a skeleton of ``program`` to ``path`` loses what a user has there.

    ``keep`` says how to go on with the file that is there.
    """
    report = path.with_suffix(".md")
    if input_file.is_file(path):
        content = skeleton_file.content_of(path)
        if not isinstance(content, dict) or not unedited(content):
            raise not_overwritten("the file was edited, or nothing of manynode wrote it", path, keep=keep)
        skeleton = skeleton_file.checked(content, str(path))
        there = skeleton.program
        usual = {**there.fixed, **skeleton_file.values_of(skeleton, {})}
        wanted = (program.command, program.grid, digests(program.inputs), program.parameters)
        if (there.command, there.grid, there.inputs, usual) != wanted:
            raise not_overwritten(
                "the skeleton is of another command, or of other arguments or input files",
                path,
                found=" ".join(with_values(there.command, usual)),
                allowed=" ".join(with_values(program.command, program.parameters)),
                keep=keep,
            )
    elif input_file.is_file(report) and REPORT_TITLE not in report.read_text("utf-8", "replace").partition("\n")[0]:
        raise not_overwritten("nothing of manynode wrote the file", report, keep=keep)


def not_overwritten(
    what: str, path: Path, *, found: str | None = None, allowed: str | None = None, keep: str = ""
) -> UsageError:
    """Return the error of a file that is not overwritten, with the ways to go on."""
    return UsageError(
        f"{what}: it is not overwritten",
        where=str(path),
        found=found,
        allowed=allowed,
        remedy=f"{keep}{'; ' if keep else ''}to keep it, another name (--output NAME.yaml); to replace it, --force",
    )
