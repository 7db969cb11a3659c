"""Explains a failed job under QEMU from its log."""

from __future__ import annotations

import re
from pathlib import Path

from manynode.errors import EngineFailedError

_MODEL = re.compile(r"^.*manynode node model: (.*)$", re.MULTILINE)
_ILLEGAL = re.compile(r"uncaught target signal 4 \(Illegal instruction\)")
_LOADING = re.compile(
    r"^.*(?:Could not load plugin|requires newer QEMU|plugin requires).*$", re.MULTILINE | re.IGNORECASE
)


def explanation(error: EngineFailedError, log: Path) -> EngineFailedError:
    """Return ``error``, or a clearer one where the log tells the reason."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return error
    if match := _MODEL.search(text):
        return EngineFailedError(
            "the node model stopped the run",
            where=str(log),
            found=match[1],
            remedy="mend what it names, then run again",
        )
    if _ILLEGAL.search(text):
        return EngineFailedError(
            "the program has instructions that QEMU does not emulate",
            where=str(log),
            found="an illegal instruction (AVX-512, in most cases)",
            remedy="build the program, and the libraries it brings, for at most x86-64-v3: -march=x86-64-v3",
        )
    if match := _LOADING.search(text):
        return EngineFailedError(
            "QEMU does not load the node model's plugin",
            where=str(log),
            found=match[0].strip(),
            remedy="install a QEMU that docs/how-to/qemu.md names, or build the native part again",
        )
    return error
