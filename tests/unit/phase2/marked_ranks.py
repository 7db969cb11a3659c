"""Recordings of ranks, made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode.markers import MarkerFile

NOTHING = {
    "phase": "", "phase_inherited": False, "peer": -1, "peer2": -1, "bytes": 0, "bytes2": 0, "tag": -1,
    "communicator": 0, "any_source": False, "request": -1, "error": False, "warm_up": False, "compute_s": 1e-6,
    "node": 0,
}  # fmt: skip
WAIT: dict[str, Any] = {"communicator": -1}


def marked(rank: int, size: int, *rows: tuple[str, dict[str, Any]], **metadata: Any) -> MarkerFile:
    """Return the recording of a rank, with MPI_Init and MPI_Finalize; a call site is the call's number."""
    details = [0]
    records = []
    for number, (operation, values) in enumerate([("MPI_Init", WAIT), *rows, ("MPI_Finalize", WAIT)]):
        words = values.get("detail", [])
        where = {"rank": rank, "sequence": number, "call_site_name": str(number)}
        own = {"operation": operation, "detail": len(details) if words else 0}
        records.append({**NOTHING, **where, **values, **own})
        details += [len(words), *words] if words else []
    known = {"rank": rank, "world_size": size, "incomplete": False, "truncated": False, **metadata}
    return MarkerFile(Path(f"rank-{rank:06}.mnmk"), known, pd.DataFrame(records), np.array(details, np.int64))


def split(number: int, *members: int) -> tuple[str, dict[str, Any]]:
    return "MPI_Comm_split", {"detail": [number, 0, len(members), len(members), *members]}


def barrier(number: int) -> tuple[str, dict[str, Any]]:
    return "MPI_Barrier", {"communicator": number}
