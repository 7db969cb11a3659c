"""The log of all questions: when they were asked, with notes and which one is pinned.

It is a file of JSON lines, to which every server of a base appends under a lock. A line that a killed server did not
finish is passed over.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from manynode.errors import UsageError
from manynode.hostlock import exclusive
from manynode.refused_writes import writes_to
from phase3_sst.explore.question import Question

MOST_OF_A_NOTE = 4000
_MOST_LINES = 100_000


class QuestionLog:
    """The log in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def asked(self, digest: str, question: Question) -> None:
        """Add a question, unless it was the last one."""
        entries = self._lines()
        last = next((line for line in reversed(entries) if line.get("kind") == "asked"), None)
        if last is None or last["digest"] != digest:
            self._append({"kind": "asked", "digest": digest, "question": question.as_json()})

    def note(self, digest: str, text: str) -> None:
        """Put a note at a question, in place of an earlier one."""
        if len(text) > MOST_OF_A_NOTE:
            raise UsageError("a note is too long", found=f"{len(text)} characters", allowed=f"at most {MOST_OF_A_NOTE}")
        self._append({"kind": "note", "digest": digest, "note": text})

    def pin(self, digest: str | None) -> None:
        """Pin a question; None: none."""
        self._append({"kind": "pin", "digest": digest})

    def pinned(self) -> str | None:
        """Return the digest of the pinned question."""
        found: str | None = None
        for line in self._lines():
            if line["kind"] == "pin":
                found = line["digest"]
        return found

    def entries(self) -> list[dict[str, Any]]:
        """Return the questions, each once, in the order of their first asking."""
        found: dict[str, dict[str, Any]] = {}
        pinned: str | None = None
        for line in self._lines():
            digest = line["digest"]
            if line["kind"] == "asked":
                entry = {"digest": digest, "question": line["question"], "first": line["time"], "note": ""}
                found.setdefault(digest, entry)["time"] = line["time"]
            elif line["kind"] == "pin":
                pinned = digest
            elif digest in found:
                found[digest]["note"] = line["note"]
        return [{**entry, "pinned": digest == pinned} for digest, entry in found.items()]

    def _lines(self) -> list[dict[str, Any]]:
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return []
        found = []
        for line in text.splitlines()[-_MOST_LINES:]:
            try:
                content = json.loads(line)
            except ValueError:
                continue
            if isinstance(content, dict) and {"kind", "digest", "time"} <= content.keys():
                found.append(content)
        return found

    def _append(self, content: dict[str, Any]) -> None:
        line = json.dumps({**content, "time": time.time()}).encode() + b"\n"
        with exclusive(self._path.with_suffix(".lock"), purpose="log of questions"), writes_to(self._path):
            with open(self._path, "ab+") as sink:
                # A killed server may have left half a line.
                if sink.tell() > 0:
                    sink.seek(-1, os.SEEK_END)
                    line = line if sink.read(1) == b"\n" else b"\n" + line
                sink.write(line)
