"""Compare the makespans of the engines fast and simgrid: five patterns on three topologies, at 64 to 1,024 ranks.

Each pattern runs with short (eager) and long (rendezvous) messages, with one rank per node on 64 and on 256 nodes and
with 16 on 64 nodes, on machines of 256 nodes that are not free of contention: a fat-tree tapered two to one, a torus,
and a dragonfly with deterministic routing, so that both engines take the same links. The gap between messages is 0,
because SimGrid has none. The difference of a case is |fast - simgrid| / simgrid. SimGrid knows no packets: all messages
on a link advance together, however short. The fast engine is therefore compared twice: with the chunks of the shipped
networks (2 KiB), and with small ones, which come near to that. Usage on its own:
``python benchmarks/simgrid_agreement.py [--verbose] [--only TEXT]``, where TEXT is part of a case's name.
"""

from __future__ import annotations

import argparse
import itertools
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

BUILD = Path(os.environ.get("MANYNODE_BUILD_DIR", Path(__file__).resolve().parent.parent / "build"))
MEDIAN_TARGET, WORST_TARGET, TO_EXPLAIN = 0.05, 0.15, 0.10
CHUNK_BYTES, SMALL_CHUNK_BYTES = 2048, 256

TOPOLOGIES: dict[str, dict[str, Any]] = {
    "fat-tree": {"kind": "fat-tree", "children": [16, 16], "parents": [1, 8], "parallel_links": [1, 1]},
    "torus": {"kind": "torus", "shape": [4, 4, 4], "hosts_per_switch": 4, "links_per_direction": 2},
    "dragonfly": {
        "kind": "dragonfly",
        "groups": 8,
        "routers_per_group": 8,
        "hosts_per_router": 4,
        "local_links": 1,
        "global_links": 2,
        "routing": "minimal",
    },
}
# Bytes of a short and of a long message, and iterations.
PATTERNS: dict[str, tuple[int, int, int]] = {
    "halo3d": (2048, 1 << 20, 3),
    "halo4d": (2048, 256 << 10, 3),
    "sweep2d": (2048, 64 << 10, 1),
    "transpose": (1024, 64 << 10, 1),
    "tree-reduce": (4096, 1 << 20, 3),
}
SHAPES = ((64, 1), (256, 1), (64, 16))


@dataclass(frozen=True)
class Case:
    """One pattern with one length of messages on one machine."""

    pattern: str
    topology: str
    nodes: int
    ranks_per_node: int
    long: bool

    @property
    def size(self) -> int:
        """Bytes of a message."""
        return PATTERNS[self.pattern][1 if self.long else 0]

    @property
    def name(self) -> str:
        """The case in one line."""
        return f"{self.pattern} {self.size} B on {self.topology}, {self.nodes} x {self.ranks_per_node}"

    def run_file(self, chunk_bytes: int = CHUNK_BYTES) -> dict[str, Any]:
        """Return the run that both engines read."""
        overhead = [{"from_bytes": 0, "seconds": 3e-7, "seconds_per_byte": 0.0}]
        parameters = {"pattern": self.pattern, "bytes": self.size, "iterations": PATTERNS[self.pattern][2]}
        return {
            "schema": "network-run/2",
            "jobs": [
                {
                    "name": "main",
                    "application": {"name": "patterns", "parameters": parameters},
                    "nodes": self.nodes,
                    "ranks_per_node": self.ranks_per_node,
                }
            ],
            "network": {
                "topology": TOPOLOGIES[self.topology],
                "link": {"bandwidth_Bps": 1.25e10, "latency_s": 9e-8},
                "switch_latency_s": 1e-7,
                "chunk_bytes": chunk_bytes,
                "host": {
                    "overhead_send": overhead,
                    "overhead_recv": overhead,
                    "gap_s": 0.0,
                    "eager_limit_bytes": 16384,
                    "nic_bandwidth_Bps": 1.25e10,
                    "nic_latency_s": 3e-7,
                    "reduce_bandwidth_Bps": 5e9,
                },
                "intranode": {"latency_s": 4e-7, "bandwidth_Bps": 8e9},
            },
        }


def cases() -> list[Case]:
    """Return all cases."""
    return [
        Case(pattern, topology, nodes, ranks_per_node, long)
        for pattern, topology, (nodes, ranks_per_node), long in itertools.product(
            PATTERNS, TOPOLOGIES, SHAPES, (False, True)
        )
    ]


def makespan(engine: str, run: dict[str, Any]) -> tuple[float, float]:
    """Simulate; return the makespan and the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        description = Path(folder) / "run.json"
        description.write_text(json.dumps(run), encoding="utf-8")
        began = time.monotonic()
        command = [str(BUILD / "bin" / f"manynode-{engine}"), str(description), "--output", str(Path(folder) / "out")]
        subprocess.run(command, check=True, timeout=1800)
        seconds = time.monotonic() - began
        result = json.loads((Path(folder) / "out" / "result.json").read_text(encoding="utf-8"))
    return float(result["replicas"][0]["makespan_s"]), seconds


def compare(chosen: list[Case], verbose: bool) -> list[tuple[float, float]]:
    """Return the differences of each case, with chunks as shipped and with small ones; print each case where asked."""
    differences = []
    for case in chosen:
        fast, _ = makespan("fast", case.run_file())
        fine, _ = makespan("fast", case.run_file(SMALL_CHUNK_BYTES))
        simgrid, seconds = makespan("simgrid", case.run_file())
        differences.append((abs(fast - simgrid) / simgrid, abs(fine - simgrid) / simgrid))
        if verbose:
            remark = "  over 10 %" if differences[-1][0] > TO_EXPLAIN else ""
            print(
                f"{case.name:<52} fast {fast * 1e6:>10.2f} us  simgrid {simgrid * 1e6:>10.2f} us  "
                f"{fast / simgrid - 1:>+7.2%}  small chunks {fine / simgrid - 1:>+7.2%}  ({seconds:.1f} s){remark}",
                flush=True,
            )
    return differences


def figures(chosen: list[Case] | None = None, verbose: bool = False) -> list[dict[str, Any]]:
    """Return the median and the worst difference, with chunks as shipped and with small ones."""
    differences = compare(cases() if chosen is None else chosen, verbose)
    found = []
    for chunks, sizes in zip(
        (f"{CHUNK_BYTES} B", f"{SMALL_CHUNK_BYTES} B"), zip(*differences, strict=True), strict=True
    ):
        found.append((f"median, chunks of {chunks}", statistics.median(sizes), MEDIAN_TARGET))
        found.append((f"worst, chunks of {chunks}", max(sizes), WORST_TARGET))
    return [
        {
            "name": f"fast against simgrid, {len(differences)} cases: {name}",
            "value": value,
            "unit": "",
            "target": target,
            "comparison": "<=",
            "holds": value <= target,
        }
        for name, value, target in found
    ]


def main() -> int:
    """Print the figures; the exit code is 6 when a target does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="print each case")
    parser.add_argument("--only", default="", help="the cases whose name contains this")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if arguments.only in case.name]
    if not chosen:
        print(f"no case contains {arguments.only!r}", file=sys.stderr)
        return 2
    everything = figures(chosen, arguments.verbose)
    for item in everything:
        print(f"{item['name']:<58} {item['value']:.2%} (target {item['comparison']} {item['target']:.0%})")
    return 0 if all(item["holds"] for item in everything) else 6


if __name__ == "__main__":
    sys.exit(main())
