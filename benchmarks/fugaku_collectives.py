"""Compare collectives on Fugaku with the network fugaku: IMB on 384 nodes with 4 ranks each, published by RIKEN.

The network's host parameters were fitted to collectives on 8 nodes with a rank each (``pico_collectives.py``); nothing
was fitted to these. The job has the logical shape of the job script that is published beside the table (4 x 6 x 16
nodes, mpi-collective/job.sh of giordano/julia-on-fugaku), folded onto as many units of the machine. Fujitsu's MPI does
not say which algorithms it takes: here an allreduce has recursive doubling up to the jump of the measured times, 64
KiB, and Rabenseifner's algorithm beyond, a reduce the binomial tree. Up to 8 bytes the measured ones take the network's
barrier hardware, which cannot be simulated.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from _agreement import need
from _figure import figure
from _mini_app import manynode

from manynode.paths import ROOT

DATA = ROOT / "tests" / "data" / "calibration" / "fugaku"
NODES, RANKS_PER_NODE = 384, 4
SHAPE = "4x6x16"
# The machine's part that the job fills: axes a, b, c of a unit, and 2 x 2 x 8 units.
UNITS = [2, 3, 2, 2, 2, 8]
# IMB puts a barrier between executions (`-sync on`, its default: src_c/IMB_allreduce.c, src_cpp/MPI1/MPI1_suite.cpp of
# intel/mpi-benchmarks). Fugaku's barrier is the network's own, which all ranks leave together: one execution from a
# common start is like all.
START: dict[str, Any] = {"start": "together", "iterations": 1}
MOST_BYTES = 1 << 20
# The largest message of the first algorithm, and both.
JUMP = 1 << 16
ALGORITHMS = {"allreduce": ("recursive_doubling", "reduce_scatter_allgather"), "reduce": ("binomial", "binomial")}
MOST_MEDIAN = 20.0


def compared(collective: str, algorithm: str | None = None) -> pd.DataFrame:
    """Return measured and simulated latencies of a collective, up to ``MOST_BYTES``; ``algorithm`` replaces all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "collectives.csv"
        where = ("--nodes", NODES, "--ranks-per-node", RANKS_PER_NODE)
        manynode("measured", DATA / f"riken_imb_{collective}.csv", *where, "--output", table)
        rows = pd.read_csv(table, comment="#")
        rows = rows[rows["bytes"] <= MOST_BYTES].copy()
        short, long = ALGORITHMS[collective]
        rows["shape"] = SHAPE
        rows["algorithm"] = algorithm or np.where(rows["bytes"] <= JUMP, short, long)
        rows.to_csv(table, index=False)
        network = yaml.safe_load((ROOT / "configs" / "networks" / "fugaku.yaml").read_text())
        network["topology"]["shape"] = UNITS
        experiment = {
            "name": "fugaku-collectives",
            "application": {"name": "hpcg"},
            "nodes": [NODES],
            "ranks_per_node": RANKS_PER_NODE,
            "machine": "generic",
            "network": network,
            "simulate": {"collectives": {"rules": "openmpi"}},
            "validation": {"collectives": table.name, **START},
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
        size = 100 * frame["error"].abs()
        found.append(figure(f"{collective} on Fugaku: median error", size.median(), "%", MOST_MEDIAN, "<="))
        found.append(figure(f"{collective} on Fugaku: largest error", size.max(), "%", None, None))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collective", nargs="?", default="allreduce")
    parser.add_argument("--algorithm")
    arguments = parser.parse_args()
    print(compared(arguments.collective, arguments.algorithm).to_string(index=False))
