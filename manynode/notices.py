"""Warnings of a step: on its stderr (its log) and, at once, on the terminal of ``manynode run``.

Steps write notices to a file (``MANYNODE_NOTICE_FILE``), one JSON text per line, as they write their errors.
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
    path = os.environ.get(NOTICE_FILE)
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as sink:
            sink.write(json.dumps(text) + "\n")
    except OSError:
        # The warning is in the step's log as well.
        return


class Notices:
    """The notices of a run's steps, in order of arrival."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._path = path
        self._read = 0

    def environment(self) -> dict[str, str]:
        """Return what steps need in their environment."""
        return {NOTICE_FILE: str(self._path)}

    def new(self) -> list[str]:
        """Return the notices since the last call."""
        try:
            text = self._path.read_text(encoding="utf-8")
        except OSError:
            return []
        whole = text[: text.rfind("\n") + 1]
        fresh, self._read = whole[self._read :], len(whole)
        return [str(json.loads(line)) for line in fresh.splitlines()]
