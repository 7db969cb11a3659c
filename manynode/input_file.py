"""Reads a user's file whole, if it is a regular file of bounded size.

A FIFO or a device would hang its reader, and a huge file would fill the memory: both are refused before they are
opened. All code that opens or looks for a file named by a user goes through this module.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from manynode.errors import InputError, ManynodeError, UsageError

MOST_BYTES = 2 * 2**30
_Made = TypeVar("_Made")

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe (FIFO)",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def check(
    path: Path, what: str, *, most_bytes: int = MOST_BYTES, error: type[ManynodeError] = InputError
) -> os.stat_result:
    """Return the status of a regular file of at most ``most_bytes``; of anything else, raise ``error``."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as problem:
        raise _unreadable(path, what, problem, error) from None
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        raise error(
            f"{what} cannot be read",
            where=str(path),
            found=_KINDS.get(kind, "not a regular file"),
            allowed="a regular file",
            remedy="correct the path" if kind == stat.S_IFDIR else "write the content to a file and give its path",
        )
    if status.st_size > most_bytes:
        raise error(
            f"{what} is too large", where=str(path), found=f"{status.st_size} bytes", allowed=f"{most_bytes} bytes"
        )
    return status


def beside(base: Path, name: str) -> Path | None:
    """Return the regular file ``name``, relative to ``base`` or else to the working directory; None without one."""
    return next((path for path in (base / name, Path(name)) if is_file(path)), None)


def existing(base: Path, name: str, what: str, *, where: str, kind: str = "a path", remedy: str | None = None) -> Path:
    """Return what :func:`beside` finds; a file that is nowhere is a :class:`UsageError`, in which ``what`` names it."""
    found = beside(base, name)
    if found is None:
        raise UsageError(
            f"{what} does not exist",
            where=where,
            found=name,
            allowed=f"{kind}, relative to the experiment's folder or to the working directory",
            remedy=remedy,
        )
    return found


def read_bytes(
    path: Path, what: str, *, most_bytes: int = MOST_BYTES, error: type[ManynodeError] = InputError
) -> bytes:
    """Return the content of the file, called ``what`` in messages; raise ``error`` if it cannot be read."""
    check(path, what, most_bytes=most_bytes, error=error)
    try:
        return path.read_bytes()
    except OSError as problem:
        raise _unreadable(path, what, problem, error) from None


def read_text(path: Path, what: str, *, most_bytes: int = MOST_BYTES, error: type[ManynodeError] = InputError) -> str:
    """Return the text of a file in UTF-8, without a byte order mark and with ``\\n`` at the end of each line."""
    return _text(read_bytes(path, what, most_bytes=most_bytes, error=error), path, what, error)


def read_unpacked(path: Path, what: str, *, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file that may be compressed by gzip."""
    data = read_bytes(path, what, most_bytes=most_bytes)
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as unpacked:
            data = unpacked.read(most_bytes + 1 if most_bytes < sys.maxsize else -1)
    except (OSError, EOFError, zlib.error) as problem:
        raise InputError(f"{what} cannot be unpacked", where=str(path), found=str(problem)) from None
    if len(data) > most_bytes:
        raise InputError(
            f"{what} is too large", where=str(path), found="more when unpacked", allowed=f"{most_bytes} bytes"
        )
    return data


def read_output(path: Path, what: str) -> str:
    """Return the text that another program printed, as :func:`read_text` does; the file may be compressed by gzip.

    Names of files and hosts in other encodings than UTF-8 are read as Latin-1.
    """
    data = read_unpacked(path, what)
    try:
        return _text(data, path, what, InputError)
    except InputError:
        if b"\0" in data:
            raise
        return _lines_of(data.decode("latin-1"))


def _text(data: bytes, path: Path, what: str, error: type[ManynodeError]) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            f"{what} is not text",
            where=str(path),
            found=f"byte {problem.object[problem.start]:#04x} at place {problem.start} ({problem.reason})",
            allowed="text in UTF-8",
            remedy="save it as UTF-8",
        ) from None
    return _lines_of(text)


def _lines_of(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_file(path: Path) -> bool:
    """Return whether there is anything to read at ``path``; an impossible name is not an error.

    A FIFO counts: reading it gives a better error than "does not exist".
    """
    return os.path.exists(path) and not os.path.isdir(path)


def kept_until_changed(make: Callable[[Path], _Made]) -> Callable[[Path], _Made]:
    """Return ``make`` with what it made of each file kept until the file is another one, or is gone."""

    @functools.lru_cache(maxsize=4096)
    def kept(path: Path, _version: object) -> _Made:
        return make(path)

    @functools.wraps(make)
    def made(path: Path) -> _Made:
        try:
            status = os.stat(path)
        except OSError:
            return make(path)
        return kept(path, (status.st_mtime_ns, status.st_size, status.st_ino))

    return made


@kept_until_changed
def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _unreadable(path: Path, what: str, problem: Exception, error: type[ManynodeError]) -> ManynodeError:
    found = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return error(f"{what} cannot be read", where=str(path), found=found, remedy="check the path")
