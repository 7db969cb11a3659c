"""Errors that a user can correct: what failed, where, what was found, what is allowed, how to correct it.

Every error that reaches the command line is a :class:`ManynodeError`; its class fixes the exit code, which is part
of the public interface. Anything else that escapes is a defect of manynode and keeps its traceback.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from typing import Self

EXIT_USAGE = 2
EXIT_INPUT = 3
EXIT_ENGINE_MISSING = 4
EXIT_ENGINE_FAILED = 5
EXIT_CHECK_FAILED = 6

# Limits of a line and of one fact, which keep a message within a screen.
_MOST_CHARACTERS = 800
_MOST_LINES = 60


class ManynodeError(Exception):
    """A failure with a place and a remedy.

    Parameters are keyword-only except ``what``; each becomes one line of the message.
    """

    exit_code = EXIT_INPUT

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: object = None,
        allowed: object = None,
        remedy: str | None = None,
        details: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.found = found
        self.allowed = allowed
        self.remedy = remedy
        self.details = details
        super().__init__(self.render())

    def named(self, part: str) -> Self:
        """Return the error with the name of the affected part in front."""
        self.what = f"{part}: {self.what}"
        self.args = (self.render(),)
        return self

    def render(self) -> str:
        """Return the whole message for a terminal, one fact per line."""
        lines = _lines(self.what, len(self.what))
        for label, value in (
            ("where", self.where),
            ("found", self.found),
            ("allowed", self.allowed),
            ("remedy", self.remedy),
        ):
            if value is not None:
                first, *more = _lines(str(value)) or [""]
                lines += [f"  {label}: {first}", *(f"    {line}" for line in more)]
        if self.details:
            lines += [f"  | {line}" for line in _lines(self.details)]
        return "\n".join(lines)


def _lines(text: str, most: int = _MOST_LINES) -> list[str]:
    """Return the lines of ``text`` without control characters, which user text may contain; long lines are cut.

    A step's error passes through here again as the error of the whole run, without further change.
    """
    lines = text.splitlines()
    shown = [_cut("".join(map(_shown, line))) for line in lines[:most]]
    return shown if len(lines) <= most else [*shown, f"and {len(lines) - most} more lines"]


def _shown(character: str) -> str:
    # Blanks of any width are harmless, and "unprintable" to Python.
    if character.isprintable() or character == "\t" or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")


def _cut(line: str) -> str:
    if len(line) <= _MOST_CHARACTERS:
        return line
    return f"{line[: _MOST_CHARACTERS - 40]} ... ({len(line)} characters)"


class UsageError(ManynodeError):
    """A wrong command line or experiment file."""

    exit_code = EXIT_USAGE


class InputError(ManynodeError):
    """Input data (marker files, counters, timing profiles, tables) that cannot be used."""

    exit_code = EXIT_INPUT


class EngineMissingError(ManynodeError):
    """A tool or engine that the experiment needs is not installed."""

    exit_code = EXIT_ENGINE_MISSING


class EngineFailedError(ManynodeError):
    """A child process (application, simulator) failed."""

    exit_code = EXIT_ENGINE_FAILED


class OutputError(ManynodeError):
    """A result that could not be written: a full disk, a folder without write permission."""

    exit_code = EXIT_ENGINE_FAILED


class CheckFailedError(ManynodeError):
    """A result exists but did not pass a check that the user asked for."""

    exit_code = EXIT_CHECK_FAILED


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to ``name``, or None when none is near."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return matches[0] if matches else None
