"""The element library ``libmanynode.so`` and the SST that it was built against.

SST loads a library that was built against another release or prefix and then crashes, or computes with objects of
another layout; so the build leaves ``built-against.json`` beside the library, and nothing is started that does not
agree with it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.errors import EngineMissingError

_VERSION = re.compile(r"Version\s*\(([^)]*)\)")

# The motif, and the link control of the NICs.
LIBRARIES = ("libmanynode.so", "libmanynodelink.so")
RECORD = "built-against.json"

_REMEDY = "run 'make build' with that sst-config first on PATH, or name the SST that the library was built against"


@dataclass(frozen=True)
class Fingerprint:
    """What tells one SST from another: version, prefix and the bytes of its ember, which the library is part of.

    Two builds of one version differ when they were configured otherwise: with or without MPI, objects are laid out
    differently.
    """

    version: str
    prefix: str
    sst_sha256: str
    ember_sha256: str


@dataclass(frozen=True)
class Built:
    """What the build noted: the SST that it found, and a library to preload into processes with MPI, if need be.

    MPICH 4.0.2 takes the least of unsigned numbers as if they had a sign, which breaks SST with several processes.
    """

    against: Fingerprint
    mpi_preload: Path | None


def read_record(folder: Path) -> Built:
    """Return what the build noted."""
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
            "it is not known which SST the element library was built against",
            where=str(path),
            found=f"{type(error).__name__}: {error}",
            allowed="the record that the build leaves beside the library",
            remedy=_REMEDY,
        ) from None


def check_fits(folder: Path, record: Fingerprint, here: Fingerprint) -> None:
    """Refuse a library that was built against another SST than the one ``here``."""
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


@functools.cache
def file_digest(path: Path, _modified_ns: int) -> str:
    """Return the SHA-256 of a file, computed anew only when it has changed: a library has some 100 MB."""
    with open(path, "rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
