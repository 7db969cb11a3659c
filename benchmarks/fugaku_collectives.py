"""Compare collectives on Fugaku with the network tofu-d: IMB on 384 nodes with 4 ranks each, published by RIKEN.

The network's host parameters were fitted to ping-pongs of the same machine; nothing was fitted to the collectives. The
algorithms are MPICH's defaults. Fujitsu's MPI has others, some of which use the network's barrier hardware; they cannot
be simulated. Iterations are few, because a reduction of megabytes by 1,536 ranks takes long.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from _agreement import need
from _figure import figure

DATA = Path(__file__).resolve().parent.parent / "tests" / "data" / "calibration" / "fugaku"
NODES, RANKS_PER_NODE = 384, 4
ITERATIONS = 2
MOST_BYTES = 1 << 20


def manynode(*arguments: object) -> str:
    """Run the command line; return its output."""
    command = [sys.executable, "-m", "manynode", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compared(collective: str, **algorithms: str) -> pd.DataFrame:
    """Return measured and simulated latencies of a collective, up to ``MOST_BYTES``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "collectives.csv"
        where = ("--nodes", NODES, "--ranks-per-node", RANKS_PER_NODE)
        manynode("measured", DATA / f"riken_imb_{collective}.csv", *where, "--output", table)
        rows = pd.read_csv(table, comment="#")
        rows[rows["bytes"] <= MOST_BYTES].to_csv(table, index=False)
        experiment = {
            "name": "fugaku-collectives",
            "application": {"name": "hpcg"},
            "nodes": [NODES],
            "ranks_per_node": RANKS_PER_NODE,
            "machine": "generic",
            "network": "tofu-d",
            "simulate": {"collectives": algorithms},
            "validation": {"collectives": table.name, "iterations": ITERATIONS},
        }
        (folder / "experiment.yaml").write_text(yaml.safe_dump(experiment, sort_keys=False))
        until = ("--until", "phase3_validate_collectives")
        manynode("run", folder / "experiment.yaml", "--cores", 1, "--directory", folder, *until)
        return pd.read_parquet(folder / "results" / "fugaku-collectives" / "validation_collectives.parquet")


def figures() -> list[dict[str, Any]]:
    """Return median and worst error by collective, and print every size."""
    need("fast")
    found = []
    for collective in ("allreduce", "reduce"):
        frame = compared(collective)
        print(frame[["collective", "bytes", "measured_s", "simulated_s", "error"]].to_string(index=False))
        for name, value in (("median", frame["error"].median()), ("largest", frame["error"].abs().max())):
            found.append(figure(f"{collective} on Fugaku: {name} error", 100 * value, "%", None, None))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collective", nargs="?", default="allreduce")
    parser.add_argument("--algorithm", default="auto")
    arguments = parser.parse_args()
    print(compared(arguments.collective, **{arguments.collective: arguments.algorithm}).to_string(index=False))
