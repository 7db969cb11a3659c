"""The element library ``libmanynode.so`` and the SST that it was built against.

SST loads a library that was built against another release or prefix, and then crashes or uses objects of another
layout. Therefore the build writes ``built-against.json`` beside the library, and only a matching SST is started.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.errors import EngineMissingError

_VERSION = re.compile(r"Version\s*\(([^)]*)\)")

# The elements: the motif, and the link control of the NICs.
LIBRARIES = ("libmanynode.so", "libmanynodelink.so")
RECORD = "built-against.json"

_REMEDY = "run 'make build' with that sst-config first on PATH, or name the SST that the library was built against"


@dataclass(frozen=True)
class Fingerprint:
    """Identifies an SST: version, prefix and the bytes of its ember, which the library extends.

    Two builds of one version can differ: objects have another layout with and without MPI.
    """

    version: str
    prefix: str
    sst_sha256: str
    ember_sha256: str


@dataclass(frozen=True)
class Built:
    """The build's record: the SST that it found, and a library to preload into MPI processes, if needed.

    MPICH 4.0.2 computes the minimum of unsigned numbers as if signed, which breaks SST with several processes.
    """

    against: Fingerprint
    mpi_preload: Path | None


def read_record(folder: Path) -> Built:
    """Return the build's record."""
    path = folder / RECORD
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        against = Fingerprint(
            read_version(str(record["version"])),
            *(str(record[key]) for key in ("prefix", "sst_sha256", "ember_library_sha256")),
        )
        preload = record.get("mpi_preload")
        return Built(against, Path(preload) if preload and Path(preload).is_file() else None)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineMissingError(
            "the record of the element library's SST is missing",
            where=str(path),
            found=f"{type(error).__name__}: {error}",
            allowed="the record that the build leaves beside the library",
            remedy=_REMEDY,
        ) from None


def check_fits(folder: Path, record: Fingerprint, here: Fingerprint) -> None:
    """Raise an error for a library that was built against another SST than ``here``."""
    for name, words, then, now in (
        ("version", "version", record.version, here.version),
        ("prefix", "prefix", record.prefix, here.prefix),
        ("sst_sha256", "another build of sst", record.sst_sha256[:12], here.sst_sha256[:12]),
        ("ember_library_sha256", "another build of libember.so", record.ember_sha256[:12], here.ember_sha256[:12]),
    ):
        if then != now:
            raise EngineMissingError(
                "the element library was built against another SST",
                where=f"{folder / RECORD}: {name}",
                found=f"{words} {then!r}",
                allowed=f"{now!r}, that of the sst that would run it",
                remedy=_REMEDY,
            )


def read_version(output: str) -> str:
    """Return the version in the output of ``sst --version``, such as ``14.1.0``; ``-dev`` for a development version."""
    match = _VERSION.search(output)
    return match[1].strip() if match else output.strip() or "unknown"
