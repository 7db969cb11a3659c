"""Checksums inside the files that they protect: reading detects any byte changed after writing.

A file is written with a blank in place of its checksum; the SHA-256 digest of all its bytes then replaces the blank.
Reading restores the blank and compares. The checksum covers the whole file, including the parts of a Parquet file
without page checksums, and needs no second file that could get lost.
"""

from __future__ import annotations

import hashlib
import re

from manynode.errors import InputError

_PREFIX = "sha256:"
BLANK = _PREFIX + 64 * "0"
KEY = "checksum"
PARQUET_KEY = b"manynode.checksum"
# JSON and HTML: the first one, which is in front of all content. Parquet: the last one, in the footer; between its key
# and its value Thrift has a few bytes.
_TEXT = re.compile(rb'"checksum": "sha256:([0-9a-f]{64})"')
_PARQUET = re.compile(rb"manynode\.checksum.{1,8}?sha256:([0-9a-f]{64})", re.DOTALL)
_FOOTER_BYTES = 1 << 20


def sealed(data: bytes) -> bytes:
    """Return ``data`` with its checksum in place of the blank; data without a blank are a :class:`ValueError`."""
    span = _place(data)
    if span is None or data[slice(*span)] != BLANK.removeprefix(_PREFIX).encode():
        raise ValueError("the data have no blank for the checksum")
    return _with(data, span, hashlib.sha256(data).hexdigest().encode())


def checksum(data: bytes) -> str | None:
    """Return the checksum in ``data`` if it is right, or None."""
    span = _place(data)
    if span is None:
        return None
    found = data[slice(*span)]
    blank = _with(data, span, BLANK.removeprefix(_PREFIX).encode())
    return found.decode() if hashlib.sha256(blank).hexdigest().encode() == found else None


def check(data: bytes, what: str, where: str, remedy: str) -> str:
    """Return the checksum of ``data``; a missing or wrong one is an :class:`InputError`."""
    good = checksum(data)
    if good is None:
        found = "no checksum" if _place(data) is None else "a checksum that does not match its bytes"
        raise InputError(
            what,
            where=where,
            found=f"{found}: the file was damaged or changed after manynode wrote it",
            remedy=remedy,
        )
    return good


def _place(data: bytes) -> tuple[int, int] | None:
    """Return where the digits of the checksum are."""
    if data[:4] != b"PAR1":
        match = _TEXT.search(data)
        return match.span(1) if match else None
    start = max(0, len(data) - _FOOTER_BYTES)
    found = list(_PARQUET.finditer(data, start)) or list(_PARQUET.finditer(data))
    return found[-1].span(1) if found else None


def _with(data: bytes, span: tuple[int, int], digits: bytes) -> bytes:
    begin, end = span
    return data[:begin] + digits + data[end:]
