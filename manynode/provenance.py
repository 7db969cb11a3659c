"""The origin of a result: seed, digest of the resolved experiment, versions of the tools and of the code.

A provenance contains nothing that differs between two runs of the same experiment on the same machine (no times, no
paths), to keep results byte-identical.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manynode import __version__
from manynode.paths import ROOT

_CODE = ("manynode", "phase1_profile", "phase2_nodesim", "phase3_sst", "skeletons")
_SUFFIXES = {".py", ".c", ".h", ".cpp", ".hpp", ".txt", ".yaml", ".smk"}


@functools.cache
def code_digest(*folders: str) -> str:
    """Return a digest of the source files below ``folders`` (all phases when none is named).

    Snakemake does not see changes inside an imported package, so rules carry this as a parameter.
    """
    digest = hashlib.sha256()
    for folder in folders or _CODE:
        for path in sorted(_sources(ROOT / folder)):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _sources(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    return [p for p in folder.rglob("*") if p.suffix in _SUFFIXES and "__pycache__" not in p.parts and p.is_file()]


def provenance(*, seed: int, experiment_digest: str, tools: Mapping[str, str]) -> dict[str, Any]:
    """Return the provenance of a result."""
    return {
        "manynode": __version__,
        "code": code_digest(),
        "experiment": experiment_digest,
        "seed": seed,
        "tools": dict(sorted(tools.items())),
    }
