"""Compares the checksum that the application prints under an engine with that of its profiled run in phase 1.

A simulator that skips an instruction, or a bridge that mixes up data, continues with wrong numbers and plausible times.
The application prints its result in a line ``checksum: VALUE``, as the mini-apps of this project do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from manynode.errors import EngineFailedError

_LINE = re.compile(r"^\s*checksum\s*[:=]\s*(\S+)\s*$", re.MULTILINE | re.IGNORECASE)


def checksum_of(logs: Sequence[Path]) -> str | None:
    """Return the checksums in the logs of one job, all values in order, or None."""
    found = [match for path in logs if path.is_file() for match in _LINE.findall(path.read_text("utf-8", "replace"))]
    return " ".join(found) or None


def check_against_profiled(profiled: Path, directory: Path, what: str) -> str | None:
    """Return the checksum that the job in ``directory`` shares with the job of log ``profiled``.

    Phase 1 runs natively with hardware counters, else under QEMU or callgrind.

    None where either job printed none. Different ones are an :class:`EngineFailedError`.
    """
    wanted = checksum_of([profiled])
    found = checksum_of([directory / "job.log", directory / "errors.log", *sorted(directory.glob("guests-*.log"))])
    if wanted is None or found is None:
        return None
    if wanted != found:
        raise EngineFailedError(
            f"{what} computed a different result than in phase 1",
            where=str(directory),
            found=f"checksum {found}",
            allowed=f"{wanted} (in {profiled})",
            remedy="an application whose result depends on timing should not print a line 'checksum: ...'; else look "
            "for instructions that the simulator does not have in the logs there",
        )
    return found
