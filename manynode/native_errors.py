"""Reads the error of a native program of this project: a line of JSON on stderr, and the exit code."""

from __future__ import annotations

import json

from manynode import process
from manynode.errors import EngineFailedError, InputError, ManynodeError, UsageError

_KINDS: dict[int, type[ManynodeError]] = {2: UsageError, 3: InputError}


def reported_error(completed: process.Completed, what: str) -> ManynodeError | None:
    """Return the error in the JSON line that a program of this project wrote to stderr, or None."""
    for line in reversed(completed.output.splitlines()):
        if not line.startswith('{"error"'):
            continue
        try:
            fields = json.loads(line)["error"]
        except (ValueError, KeyError):
            return None
        kind = _KINDS.get(completed.returncode, EngineFailedError)
        known = {key: fields.get(key) or None for key in ("where", "found", "allowed", "remedy", "details")}
        return kind(f"{what}: {fields.get('what', 'failed')}", **known)
    return None
