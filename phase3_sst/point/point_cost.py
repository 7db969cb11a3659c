"""What a simulation costs on this host: wall time, processor time and memory of the engine's processes.

Kept beside the logs and not among the results: no two runs cost the same, and results have the same bytes.
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
    """Return where the cost of a point stands in a results folder (``rules.smk`` says the same)."""
    return results / "logs" / "phase3_simulate_point" / f"{technique}-{nodes}.cost.csv"


@contextlib.contextmanager
def recorded(path: Path | None) -> Iterator[None]:
    """Write what the child processes of the block cost to ``path``, when there is one: a line of CSV.

    Memory is that of the largest single process, this one's at its start included (it is the child's until its program
    is loaded).
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
