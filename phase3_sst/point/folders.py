"""Binds the files of a study's points to their folders. A folder's name has the digest of everything that the point
depends on. Files of two such folders cannot be exchanged unnoticed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from manynode import artefacts

_PLACE = re.compile(r"(situations|points/[^/]+)/[^/]+-[0-9a-f]{12}/[^/]+\.(json|parquet)")


@contextlib.contextmanager
def bound(study: Path) -> Iterator[None]:
    """Bind the files of the points in a study's folder while the context is open."""

    def identity_of(place: str) -> artefacts.Identity | None:
        return artefacts.Identity("of its folder", traced=False) if _PLACE.fullmatch(place) else None

    with artefacts.bound(study, identity_of):
        yield
