"""Measure the overhead of the markers library on one MPI call.

Runs ``marker_calls`` (built into build/bin) with and without the library, alternating, and compares the medians of the
batches. The first batches of a run, with cold pages and caches, are included. Prints one line per figure.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from manynode.paths import native_library, native_program

CALLS, BATCHES, REPETITIONS = 10_000, 100, 5
TARGET_US = 1.0


def batch_times_ns(preload: Path | None) -> list[float]:
    """Run the program once and return the nanoseconds per call of each batch."""
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        if preload is not None:
            environment |= {
                "LD_PRELOAD": str(preload),
                "MANYNODE_MARKERS_DIR": folder,
                "MANYNODE_MARKERS_COUNTERS": "time",
            }
        command = [str(native_program("marker_calls")), str(CALLS), str(BATCHES)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
        if preload is not None and not list(Path(folder).glob("rank-*.mnmk")):
            raise RuntimeError("the markers library recorded nothing")
    return [float(line) for line in done.stdout.split()]


def library() -> Path:
    """Return the markers library that fits the MPI library ``marker_calls`` is linked with."""
    linked = subprocess.run(["ldd", str(native_program("marker_calls"))], capture_output=True, text=True, check=True)
    flavour = "mpich" if "libmpich" in linked.stdout else "openmpi"
    return native_library(f"libmanynode_markers_{flavour}.so")


def figures() -> list[dict[str, object]]:
    """Return the overhead per call [us], as the median over paired runs."""
    differences = []
    for _ in range(REPETITIONS):
        without = statistics.median(batch_times_ns(None))
        with_markers = statistics.median(batch_times_ns(library()))
        differences.append((with_markers - without) / 1000)
    value = statistics.median(differences)
    return [
        {
            "name": "markers: overhead per MPI call (time only)",
            "value": round(value, 4),
            "unit": "us",
            "target": TARGET_US,
            "comparison": "<=",
            "holds": value <= TARGET_US,
        }
    ]


if __name__ == "__main__":
    results = figures()
    for figure in results:
        verdict = "holds" if figure["holds"] else "MISSED"
        print("{name}: {value} {unit} (target {comparison} {target} {unit}): ".format(**figure) + verdict)
    sys.exit(0 if all(figure["holds"] for figure in results) else 6)
