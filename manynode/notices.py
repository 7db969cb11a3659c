"""Warnings and progress of a step: in its log and, at once, on the terminal of ``manynode run``.

Steps write notices to a file (``MANYNODE_NOTICE_FILE``), as they write their errors. A line is a JSON text for a
warning, a JSON list of one text for progress.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

NOTICE_FILE = "MANYNODE_NOTICE_FILE"


def warn(text: str) -> None:
    """Print ``text`` as a warning; if ``manynode run`` is the caller, also write it to its notice file."""
    print(f"manynode: warning: {text}", file=sys.stderr, flush=True)
    _write(text)


def progress(text: str) -> None:
    """Show ``text`` as the progress of this step, if ``manynode run`` is the caller."""
    _write([text])


def _write(notice: str | list[str]) -> None:
    path = os.environ.get(NOTICE_FILE)
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as sink:
            sink.write(json.dumps(notice) + "\n")
    except OSError:
        # The notice is in the step's log as well.
        return


class Notices:
    """The notices of a run's steps, in order of arrival."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._path = path
        self._read = 0
        self.progress = ""
        """The latest progress of a step; empty after a step has ended."""

    def environment(self) -> dict[str, str]:
        """Return what steps need in their environment."""
        return {NOTICE_FILE: str(self._path)}

    def new(self) -> list[str]:
        """Return the warnings since the last call, and note the latest progress."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._read)
                data = file.read()
        except OSError:
            return []
        fresh = data[: data.rfind(b"\n") + 1]
        self._read += len(fresh)
        found = [json.loads(line) for line in fresh.splitlines()]
        for notice in found:
            if isinstance(notice, list):
                self.progress = str(notice[0])
        return [notice for notice in found if isinstance(notice, str)]
