"""Locks: one measuring job at a time on this host, and one command at a time on a results folder.

Parallel native runs would disturb each other's times, and a job that outlived a killed pipeline would write beside its
successor. Every step that starts MPI jobs therefore holds this lock. The kernel releases it whenever the holder ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from manynode.errors import UsageError
from manynode.refused_writes import writes_to


@contextlib.contextmanager
def exclusive(path: Path, *, purpose: str, wait: bool = True) -> Iterator[bool]:
    """Hold an exclusive lock on ``path``; yield False at once if it is taken and ``wait`` is false."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as handle:
        with writes_to(path):  # a file system without locks
            taken = _taken(handle)
            if taken and wait:
                print(f"waiting for {path}: another {purpose} is under way", file=sys.stderr, flush=True)
                fcntl.flock(handle, fcntl.LOCK_EX)
        if taken and not wait:
            yield False
            return
        yield True


def _taken(handle: IO[str]) -> bool:
    """Take the lock unless somebody has it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


@contextlib.contextmanager
def only_here(folder: Path, *, what: str, command: str, remedy: str) -> Iterator[None]:
    """Hold the lock of a results folder; when another ``command`` has it, ``what`` is refused (:class:`UsageError`)."""
    with exclusive(folder / ".lock", purpose=what, wait=False) as mine:
        if not mine:
            raise UsageError(
                f"this {what} is already running",
                where=str(folder),
                found=f"another 'manynode {command}' holds its lock",
                remedy=f"wait for it, or {remedy}",
            )
        yield
