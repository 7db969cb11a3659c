"""Measure SST's cost as the machine grows: HPCG on 64 nodes of 16 ranks, on 1,024 and on 4,096 nodes of one.

The run is five iterations of the HPCG skeleton (16^3 points a rank) without compute times on three-level fat-trees with
full bisection, on two threads. Figures: wall time, processor time per message, and the greatest resident set of one
process of SST, which must leave room in 24 GiB. The fast engine counts the messages of the same run. Skipped by name
without SST.

Usage on its own: ``python benchmarks/sst_scale.py [--only TEXT]``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from _agreement import need, run_file
from _figure import figure
from fast_messages import PAPER_FAT_TREE
from fast_scale import FAT_TREE_4608

from manynode import process
from manynode.config.simulate import SimulateSection
from manynode.config.sst import SstSection
from manynode.paths import native_program
from phase3_sst.point.contract import engines

ENGINE = "sst"
SECONDS_TARGET, BYTES_TARGET = 300.0, 24 * 2**30
THREADS = 2
TIME_LIMIT_S = 4 * 3600.0
HPCG = {"name": "hpcg", "parameters": {"nx": 16, "ny": 16, "nz": 16, "iterations": 5}}
# Nodes, ranks per node, topology.
SIZES: tuple[tuple[int, int, dict[str, Any]], ...] = (
    (64, 16, PAPER_FAT_TREE),
    (1024, 1, PAPER_FAT_TREE),
    (4096, 1, FAT_TREE_4608),
)


class Cost(NamedTuple):
    """The cost of one run: wall and processor time [s], the greatest resident set of a process [B]."""

    wall_s: float
    processor_s: float
    memory_bytes: int


def cost(engine: str, run: dict[str, Any]) -> Cost:
    """Simulate in a process of its own, whose children are the engine's alone."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_cost, (engine, run))


def _cost(engine: str, run: dict[str, Any]) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    settings = SstSection(threads=THREADS)
    engines.get(engine).with_settings(SimulateSection(engine="sst", sst=settings)).measure(run, TIME_LIMIT_S)
    seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds, processor, used.ru_maxrss * 1024)


def messages(run: dict[str, Any]) -> int:
    """Return the number of messages of the run, counted by the fast engine."""
    with tempfile.TemporaryDirectory() as folder:
        description, output = Path(folder) / "run.json", Path(folder) / "out"
        description.write_text(json.dumps(run), encoding="utf-8")
        process.run([native_program("manynode-fast"), description, "--output", output], what="manynode-fast")
        return int(json.loads((output / "result.json").read_text(encoding="utf-8"))["replicas"][0]["messages"])


def figures(only: str = "") -> list[dict[str, Any]]:
    """Return time, memory and the cost of a message at each size; without SST, skip."""
    need(ENGINE)
    found = []
    for nodes, ranks_per_node, topology in SIZES:
        name = f"sst, HPCG {nodes} x {ranks_per_node}"
        if only not in name:
            continue
        run = run_file(HPCG, topology, nodes, ranks_per_node)
        spent, count = cost(ENGINE, run), messages(run)
        target = SECONDS_TARGET if ranks_per_node > 1 else None
        found += [
            figure(f"{name}: wall time", spent.wall_s, "s", target, "<=" if target else None),
            figure(f"{name}: memory of a process", spent.memory_bytes, "B", BYTES_TARGET, "<="),
            figure(f"{name}: processor time per message", spent.processor_s / count * 1e6, "us", None, None),
            figure(f"{name}: messages", count, "", None, None),
        ]
        for item in found[-4:]:
            print(f"{item['name']:<58} {item['value']:.6g} {item['unit']}", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Print one line per figure; the exit code is 6 if a target does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only sizes whose name contains this")
    everything = figures(parser.parse_args().only)
    return 0 if all(item["holds"] for item in everything) else 6


if __name__ == "__main__":
    sys.exit(main())
