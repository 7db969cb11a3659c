"""How a command answers: progress and lines for people, or one JSON document for programs.

With ``--json`` standard output has the document alone; what people read goes to standard error. With ``--quiet``
progress is left out: results, warnings and errors remain. A command that fails has no document, and the exit code says
why.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="print the result as one JSON document (docs/reference/results.md)")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no progress: only results, warnings and errors")]

ANSWER_ID = "manynode-answer"
"""The element of a report with its ``answer/1``."""
_ANSWER = re.compile(rf'<script type="application/json" id="{ANSWER_ID}">(.*?)</script>', re.S)


class _OnlyWarnings(io.TextIOBase):
    """Passes warnings to ``errors`` and drops the other lines; ``results`` takes what :func:`say` says."""

    def __init__(self, errors: IO[str], results: IO[str]) -> None:
        self.results = results
        self._errors, self._line = errors, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            if line.startswith("warning: "):
                self._errors.write(f"{line}\n")
        return len(text)


@contextlib.contextmanager
def answering(*, as_json: bool = False, quiet: bool = False) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Send what the context prints where the options say; yield a function that takes the command's document."""
    document: dict[str, Any] = {}
    results: IO[str] = sys.stderr if as_json else sys.stdout
    if quiet:
        target: contextlib.AbstractContextManager[object] = contextlib.redirect_stdout(
            _OnlyWarnings(sys.stderr, io.StringIO() if as_json else results)  # type: ignore[type-var]
        )
    else:
        target = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
    with target:
        yield document.update
    if as_json:
        print(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    return value.item()


def finite(rows: Any) -> Any:
    """Return rows of a table, with null where a number is missing or infinite: JSON has no such numbers."""
    if isinstance(rows, Mapping):
        return {str(key): finite(value) for key, value in rows.items()}
    if isinstance(rows, list):
        return [finite(row) for row in rows]
    return None if isinstance(rows, float) and (rows != rows or abs(rows) == float("inf")) else rows


def say(line: str) -> None:
    """Print a line of the result, which ``--quiet`` keeps."""
    print(line, file=getattr(sys.stdout, "results", sys.stdout), flush=True)


def answer_of(report: Path) -> dict[str, Any] | None:
    """Return the document ``answer/1`` in the page of a report; None if there is no page or no projection."""
    found = _ANSWER.search(report.read_text(encoding="utf-8")) if report.is_file() else None
    return None if found is None else json.loads(found[1])


def run_result(results: list[Path]) -> dict[str, Any]:
    """Return the document ``run-result/1`` of finished experiments and strong scaling studies, by their folders."""
    found = []
    for folder in results:
        report = next(filter(Path.is_file, (folder / "report.html", folder / "strong.html")), None)
        found.append(
            {
                "name": folder.name,
                "results": str(folder),
                "report": None if report is None else str(report),
                "answer": None if report is None else answer_of(report),
            }
        )
    return {"schema": "run-result/1", "experiments": found}
