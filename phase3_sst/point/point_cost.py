"""Records the cost of a simulation on this host: wall time, processor time and memory of the engine's processes.

The cost is kept beside the logs, not among the results: it differs between runs, and results must be byte-identical.
"""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from manynode import tables

COST_COLUMNS = ("wall_s", "processor_s", "memory_bytes")


def cost_file(results: Path, technique: str, nodes: int) -> Path:
    """Return the path of a point's cost in a results folder (``rules.smk`` uses the same path)."""
    return results / "logs" / "phase3_simulate_point" / f"{technique}-{nodes}.cost.csv"


@contextlib.contextmanager
def recorded(path: Path | None) -> Iterator[None]:
    """Write the cost of the block's child processes to ``path`` as a line of CSV; do nothing without a path.

    Memory is that of the largest process. This process at its start counts too: a child has its size until the child's
    program is loaded.
    """
    began = time.monotonic()
    yield
    if path is None:
        return
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Linux counts ru_maxrss in KiB.
    values = (time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
    with tables.replacing(path) as part:
        part.write_text(f"{','.join(COST_COLUMNS)}\n{','.join(f'{value:.6g}' for value in values)}\n", encoding="utf-8")
