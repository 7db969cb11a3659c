"""Compare HPCG's skeleton with its mini-app: calls that differ from the recorded run."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from _mini_app import at_most, run_hpcg

from manynode.markers import read_marker_directory
from manynode.paths import native_program
from phase2_nodesim.conformance import first_difference, promised_calls, recorded_calls

PARAMETERS = {"nx": 16, "ny": 8, "nz": 24, "iterations": 3, "levels": 4, "preconditioner": 1}


def differs(ranks: int) -> bool:
    """Return whether any rank's peers, bytes, tags or order differ."""
    with tempfile.TemporaryDirectory() as folder:
        run_hpcg(ranks, PARAMETERS, Path(folder))
        recorded = recorded_calls(read_marker_directory(Path(folder), resolve=False))
    command = [str(native_program("manynode-skeleton")), "stream", "--app", "hpcg", "--ranks", str(ranks)]
    command += ["--parameters", json.dumps(PARAMETERS)]
    stream = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return first_difference(recorded, promised_calls(stream)) is not None


def figures() -> list[dict[str, Any]]:
    """Return, for each number of ranks, 1 if the jobs differ and 0 if not."""
    return [
        at_most(f"conformance: HPCG at {ranks} ranks differs", float(differs(ranks)), "jobs", 0)
        for ranks in (1, 2, 4, 8, 12)
    ]
