"""Asks a phase through a command of its own, or runs one, by its entry point: this package imports no phase."""

from __future__ import annotations

import contextlib
import io
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import typer

GROUP = "manynode.commands"


def run_study(command: str, study: Path, **options: Any) -> None:
    """Run ``manynode COMMAND STUDY`` in this process; it prints what it prints, and raises what it raises."""
    (entry,) = entry_points(group=GROUP, name=command)
    entry.load()(study, **options)


def ask(phase: str, *words: object) -> str:
    """Run ``manynode PHASE WORDS...`` in this process and return what it prints.

    A process of its own would spend most of its time on imports. Raises what the command raises, above all a
    :class:`~manynode.errors.ManynodeError`.
    """
    (entry,) = entry_points(group=GROUP, name=phase)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        typer.main.get_command(entry.load()).main([*map(str, words)], f"manynode {phase}", standalone_mode=False)
    return printed.getvalue()
