"""Texts that are slow to make and never change, kept in a file between runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from manynode import tables
from manynode.errors import OutputError


def kept_text(path: Path, make: Callable[[], str]) -> str:
    """Return the text that ``make`` returns, from the file ``path`` if an earlier run has kept it there whole.

    A file that is damaged is made again. Where nothing can be written, the text is made each time.
    """
    try:
        digest, _, text = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        pass
    else:
        if digest == _digest(text):
            return text
    text = make()
    try:
        with tables.replacing(path) as temporary:
            temporary.write_text(f"{_digest(text)}\n{text}", encoding="utf-8")
    except OutputError:
        pass  # the next run makes it again
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
