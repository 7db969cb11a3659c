"""Measure the cost of the engine sst's motif: the same traffic by motifs written by hand and by ours, run in pairs.

All exchange faces with up to six neighbours and end each iteration with an allreduce of SST. Our motif runs the pattern
halo3d, not periodic, with SST's allreduce (``collectives`` sst). It is compared with ember's own Halo3D, which computes
in each iteration, sends blocking and waits for each message, and with plain_motif.cpp beside this file, which makes the
same calls as the pattern and queues an iteration at a time. Number and length of the messages are checked. Eight nodes
of eight ranks on one router leave little work for the network. The three run one after the other, in changing order.
Each round gives a ratio of wall times and one of processor times; both include starting SST.

Usage on its own: ``python benchmarks/sst_motif.py [--rounds N] [--iterations N] [--verbose]``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _figure import Skipped, figure, program

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build"))
LIBRARY = BUILD / "lib" / "sst" / "libmanynode.so"
PLAIN_LIBRARY = BUILD / "lib" / "sst-benchmark" / "libplain.so"
MACHINE = ROOT / "tests" / "data" / "sst" / "one_router.py"
TARGET = 1.05
EXTENT, NODES, RANKS_PER_NODE = 4, 8, 8
CELLS = 16  # along each edge of a rank's cube of doubles


@dataclass(frozen=True)
class Times:
    """The time of one simulation."""

    wall_s: float
    processor_s: float


def run_file(iterations: int) -> dict[str, Any]:
    """Return the run of our motif; its machine serves ember's as well."""
    parameters = {
        **{"pattern": "halo3d", "neighbours": 6, "periodic": False, "bytes": CELLS * CELLS * 8},
        **{"allreduce_bytes": 8, "iterations": iterations, "grid": f"{EXTENT}x{EXTENT}x{EXTENT}"},
    }
    overhead = [{"from_bytes": 0, "seconds": 3e-7, "seconds_per_byte": 0.0}]
    host = {
        **{"overhead_send": overhead, "overhead_recv": overhead, "gap_s": 0.0, "eager_limit_bytes": 8192},
        **{"nic_bandwidth_Bps": 1.25e10, "nic_latency_s": 1e-9, "reduce_bandwidth_Bps": 1e10},
    }
    return {
        "schema": "network-run/2",
        "jobs": [
            {
                "application": {"name": "patterns", "parameters": parameters},
                "nodes": NODES,
                "ranks_per_node": RANKS_PER_NODE,
            }
        ],
        "network": {
            "topology": {"kind": "fat-tree", "children": [NODES], "parents": [1], "parallel_links": [1]},
            "link": {"bandwidth_Bps": 1.25e10, "latency_s": 1e-7},
            "switch_latency_s": 1e-7,
            "chunk_bytes": 2048,
            "host": host,
            "intranode": {"latency_s": 1e-7, "bandwidth_Bps": 1e10},
        },
    }


def hand_written(iterations: int) -> dict[str, list[dict[str, Any]]]:
    """Return the motifs of the same traffic, by name."""
    halo = {
        **{"name": "ember.Halo3DMotif", "arg.iterations": iterations, "arg.doreduce": 1, "arg.computetime": 1000},
        **{"arg.nx": CELLS, "arg.ny": CELLS, "arg.nz": CELLS, "arg.datatype_width": 8, "arg.fields_per_cell": 1},
        **{"arg.pex": EXTENT, "arg.pey": EXTENT, "arg.pez": EXTENT},
    }
    plain = {"name": "plain.HaloMotif", "arg.iterations": iterations, "arg.extent": EXTENT}
    begin = {"name": "ember.InitMotif"}
    return {"ember's Halo3D": [begin, halo], "the same calls": [begin, {**plain, "arg.bytes": CELLS * CELLS * 8}]}


def simulate(folder: Path, motifs: list[dict[str, Any]] | None) -> Times:
    """Run SST with our motif, or with others."""
    libraries = f"{LIBRARY.parent}:{PLAIN_LIBRARY.parent}"
    command = ["sst", f"--add-lib-path={libraries}", str(MACHINE), "--", str(folder / "run.json"), str(folder / "out")]
    command.append("sst")
    if motifs is not None:
        (folder / "motifs.json").write_text(json.dumps(motifs), encoding="utf-8")
        command.append(str(folder / "motifs.json"))
    before = os.times()
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder)
    wall_s = time.monotonic() - began
    after = os.times()
    processor_s = after.children_user - before.children_user + after.children_system - before.children_system
    return Times(wall_s, processor_s)


def check_traffic(folder: Path, iterations: int) -> None:
    """Check that our motif has sent the same messages as the others: two for each pair of neighbours."""
    job = json.loads((folder / "out" / "part-0.json").read_text(encoding="utf-8"))["jobs"][0]
    messages = iterations * 2 * 3 * EXTENT * EXTENT * (EXTENT - 1)
    assert (job["messages"], job["bytes"]) == (messages, messages * CELLS * CELLS * 8), job
    assert job["finished"] == NODES * RANKS_PER_NODE, job


def measure(rounds: int, iterations: int, verbose: bool) -> dict[str, list[Times]]:
    """Return the ratios of ours to each of the others, of all rounds but the first."""
    others = hand_written(iterations)
    ratios: dict[str, list[Times]] = {name: [] for name in others}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "run.json").write_text(json.dumps(run_file(iterations)), encoding="utf-8")
        names: list[str | None] = [None, *others]
        for number in range(rounds + 1):
            names = [*names[1:], names[0]]
            times = {chosen: simulate(folder, None if chosen is None else others[chosen]) for chosen in names}
            check_traffic(folder, iterations)
            ours = times[None]
            for other in others if number > 0 else ():  # the first one reads the libraries from the disk
                their = times[other]
                ratios[other].append(Times(ours.wall_s / their.wall_s, ours.processor_s / their.processor_s))
            if verbose:
                spent = (
                    f"{key or 'ours'} {value.wall_s:.3f} s ({value.processor_s:.2f})" for key, value in times.items()
                )
                print("; ".join(spent), flush=True)
    return ratios


def figures(rounds: int = 20, iterations: int = 300, verbose: bool = False) -> list[dict[str, Any]]:
    """Return the medians and the spreads."""
    program("sst", "build sst-core and sst-elements as their installation guide says")
    if not LIBRARY.exists():
        raise Skipped(f"{LIBRARY} has not been built; run 'make build' with SST installed")
    subprocess.run(
        ["cmake", "--build", str(BUILD), "--target", "manynode_plain_motif"], check=True, capture_output=True
    )
    found = []
    for other, ratios in measure(rounds, iterations, verbose).items():
        for clock in ("wall", "processor"):
            values = [getattr(ratio, f"{clock}_s") for ratio in ratios]
            quartiles = statistics.quantiles(values, n=4)
            found.append(figure(f"sst: our motif / {other}, {clock} time, median", quartiles[1], "", TARGET, "<="))
            name = f"sst: our motif / {other}, {clock} time, half within"
            found.append(figure(name, quartiles[2] - quartiles[0], "", None, None))
    return found


def main() -> int:
    """Print the figures; the exit code is 6 if a target does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--verbose", action="store_true", help="print each round")
    arguments = parser.parse_args()
    everything = figures(arguments.rounds, arguments.iterations, arguments.verbose)
    for item in everything:
        print(f"{item['name']:<66} {item['value']:.3f}" + ("" if item["holds"] else "  DOES NOT HOLD"))
    return 0 if all(item["holds"] for item in everything) else 6


if __name__ == "__main__":
    sys.exit(main())
