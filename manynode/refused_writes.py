"""Finds the folder of a refused write: a full disk, a quota, a read-only file system.

The system names the file on opening, but not on writing to an open file. In: an :class:`OSError` without a name, the
output of a child, or folders to try. Out: the folder, for the user's error.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from manynode import tables
from manynode.errors import OutputError

# What a write or a lock meets although the program is right.
REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG, errno.ENOLCK)
# Tried where a disk may be full: more than a file system keeps inside its own records.
_TRIED_BYTES = 1 << 16
# Words of the system that only a refused write has; a refused permission may be of another kind.
_ONLY_OF_WRITES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_SAID = re.compile("|".join(re.escape(os.strerror(number)) for number in _ONLY_OF_WRITES))
_DENIED = re.compile(r"(?:PermissionError|OSError): \[Errno (\d+)\]")


@contextlib.contextmanager
def writes_to(place: Path) -> Iterator[None]:
    """Raise :class:`OutputError` at ``place`` for a system error without a file name."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno not in REFUSALS:
            raise
        raise tables.write_error(place, error) from error


def refused(folder: Path) -> OSError | None:
    """Return why nothing can be written below ``folder`` now; None if it can, or if the folder does not exist."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIED_BYTES))
            file.flush()
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def refusal_below(folders: Iterable[Path]) -> OutputError | None:
    """Return the user's error for the first of ``folders`` that cannot be written now, or None."""
    for folder in folders:
        error = refused(folder)
        if error is not None:
            return tables.write_error(folder, error)
    return None


def said_in(lines: Iterable[str]) -> OSError | None:
    """Return the refused write reported in a child's output, or None."""
    for line in lines:
        if found := _SAID.search(line):
            number = next(number for number in _ONLY_OF_WRITES if os.strerror(number) == found[0])
            return OSError(number, found[0])
        if (denied := _DENIED.search(line)) and int(denied[1]) in REFUSALS:
            return OSError(int(denied[1]), os.strerror(int(denied[1])))
    return None


def unnamed(error: OSError, words: Sequence[str]) -> OutputError:
    """Return the user's error for a refused write without a name in a command with these ``words``.

    The error names the first unwritable folder of the command. If all are writable again, because a partial file is
    gone, it names the folder whose disk has the least room.
    """
    folders = candidates(words)
    for folder in folders:
        found = refused(folder)
        if found is not None and found.errno == error.errno:
            return tables.write_error(folder, error)
    return tables.write_error(min(folders, key=_free_bytes), error)


def candidates(words: Sequence[str]) -> list[Path]:
    """Return the folders that a command may write to: those in its ``words``, the temporary and the current one."""
    found = []
    for word in words:
        text = word.partition("=")[2] if word.startswith("--") else word
        path = Path(text)
        with contextlib.suppress(OSError, ValueError):
            if text and path.is_dir():
                found.append(path)
            elif os.sep in text and path.parent.is_dir():
                found.append(path.parent)
    for standard in (tempfile.gettempdir, os.getcwd):
        with contextlib.suppress(OSError):
            found.append(Path(standard()))
    # A step's folder is not its reader's: whole paths.
    return list(dict.fromkeys(path.resolve() for path in found)) or [Path(os.curdir)]


def _free_bytes(folder: Path) -> int:
    try:
        about = os.statvfs(folder)
    except OSError:
        return 0
    return about.f_bavail * about.f_frsize
