"""The run file ``node-run/1`` of ranks whose events are counted, without times (``phase2_nodesim/qemu/model``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SCHEMA = "node-run/1"
RUN_FILE = "MANYNODE_NODE_RUN"
"""The variable that names the run file to the plugin."""


def counting_run_file(*, ranks: int, threads: int, directory: Path) -> dict[str, Any]:
    """Return the run file of a job whose instructions, loads, stores and branches are counted, without times."""
    return {
        "schema": SCHEMA,
        "ranks": ranks,
        "threads": threads,
        "first_rank": 0,
        "directory": str(directory.resolve()),
        "node": None,
    }
