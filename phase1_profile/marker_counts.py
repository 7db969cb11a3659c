"""Reads marker files as a source of counters: only complete files, and only records of compute phases."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from manynode import paths
from manynode.errors import InputError
from manynode.launch import Flavour
from manynode.markers import MarkerFile, read_marker_directory


def markers_environment(directory: Path, flavour: Flavour, ranks_per_node: int | None, counters: str) -> dict[str, str]:
    """Return the environment that preloads the markers library of ``flavour`` and makes it write into ``directory``."""
    environment = {
        "LD_PRELOAD": str(paths.native_library(f"libmanynode_markers_{flavour}.so")),
        "MANYNODE_MARKERS_DIR": str(directory.resolve()),
        "MANYNODE_MARKERS_COUNTERS": counters,
    }
    if ranks_per_node is not None:
        environment["MANYNODE_MARKERS_RANKS_PER_NODE"] = str(ranks_per_node)
    return environment


def complete_markers(directory: Path) -> list[MarkerFile]:
    """Return the marker files of all ranks; an incomplete file is an :class:`InputError`."""
    files = read_marker_directory(directory, resolve=False)
    for file in files:
        for flag, found, remedy in (
            ("incomplete", "the rank ended without MPI_Finalize", "mend the application, then profile again"),
            ("truncated", "the rank made more MPI calls than were kept", "raise MANYNODE_MARKERS_MAX_RECORDS"),
        ):
            if file.metadata.get(flag):
                raise InputError(
                    "the counts of a rank are incomplete", where=str(file.path), found=found, remedy=remedy
                )
    return files


def compute_phases(file: MarkerFile) -> pd.DataFrame:
    """Return the records whose compute phase was measured: all but the first, before which there was no phase."""
    return file.records[file.records["sequence"] > 0]
