"""The origin of a result: seed, digest of the resolved experiment, versions of the tools and of the code.

A provenance contains nothing that differs between two runs of the same experiment on the same machine (no times, no
paths), to keep results byte-identical.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manynode import __version__
from manynode.paths import SHIPPED, place

_CODE = ("manynode", "phase1_profile", "phase2_nodesim", "phase3_sst", "skeletons")
_SUFFIXES = {".py", ".c", ".h", ".cpp", ".hpp", ".txt", ".yaml", ".smk"}


@functools.cache
def code_digest(*folders: str) -> str:
    """Return a digest of the source files below ``folders`` (all phases when none is named).

    Snakemake does not see changes inside an imported package, so rules carry this as a parameter.
    """
    digest = hashlib.sha256()
    for name in folders or _CODE:
        folder = place(name)
        for path in sorted(_sources(folder)):
            # The same name in a checkout and where a wheel was installed.
            shown = Path(name) / path.relative_to(folder)
            digest.update(str(shown).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _sources(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    # What a wheel has besides the packages lies in the package manynode, of which it is no source.
    shipped = SHIPPED in folder.parents
    found = []
    for where, folders, files in os.walk(folder):
        inside = Path(where)
        folders[:] = [name for name in folders if name != "__pycache__" and (shipped or inside / name != SHIPPED)]
        found += [inside / name for name in files if os.path.splitext(name)[1] in _SUFFIXES]
    return found


def provenance(*, seed: int, experiment_digest: str, tools: Mapping[str, str]) -> dict[str, Any]:
    """Return the provenance of a result."""
    return {
        "manynode": __version__,
        "code": code_digest(),
        "experiment": experiment_digest,
        "seed": seed,
        "tools": dict(sorted(tools.items())),
    }
