"""Shared by the comparisons of two engines: cases, the run that both read, differences, figures, the command line.

A case is a pattern of ``skeletons/patterns`` with one length of messages on one machine. Engines are called through
their interface (``phase3_sst.engines``). The difference of a case is |engine - reference| / reference of the makespan.
The gap between messages is 0, because not every engine has one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from _figure import Skipped, figure

from phase3_sst.point.contract import engines

MEDIAN_TARGET, WORST_TARGET, TO_EXPLAIN = 0.05, 0.15, 0.10
CHUNK_BYTES = 2048
GBIT = 1.25e8  # bytes per second

# Bytes of a short and of a long message, and iterations.
PATTERNS: dict[str, tuple[int, int, int]] = {
    "halo3d": (2048, 1 << 20, 3),
    "halo4d": (2048, 256 << 10, 3),
    "sweep2d": (2048, 64 << 10, 1),
    "transpose": (1024, 64 << 10, 1),
    "tree-reduce": (4096, 1 << 20, 3),
}


@dataclass(frozen=True)
class Case:
    """One pattern with one length of messages on one machine."""

    pattern: str
    size: int
    machine: str
    topology: dict[str, Any] = field(compare=False)  # the name of the machine distinguishes cases
    nodes: int = 64
    ranks_per_node: int = 1
    rate_Gbit: float = 100

    @property
    def name(self) -> str:
        """Return the case in one line."""
        rate = "" if self.rate_Gbit == 100 else f", {self.rate_Gbit:g} Gb/s"
        return f"{self.pattern} {self.size} B on {self.machine}, {self.nodes} x {self.ranks_per_node}{rate}"

    def run_file(self, chunk_bytes: int = CHUNK_BYTES, flow_control: str = "none") -> dict[str, Any]:
        """Return the run that both engines read."""
        parameters = {"pattern": self.pattern, "bytes": self.size, "iterations": PATTERNS[self.pattern][2]}
        return run_file(
            {"name": "patterns", "parameters": parameters},
            self.topology,
            self.nodes,
            self.ranks_per_node,
            rate_Bps=self.rate_Gbit * GBIT,
            chunk_bytes=chunk_bytes,
            flow_control=flow_control,
        )


def run_file(
    application: dict[str, Any],
    topology: dict[str, Any],
    nodes: int,
    ranks_per_node: int,
    *,
    rate_Bps: float = 100 * GBIT,
    link_latency_s: float = 9e-8,
    chunk_bytes: int = CHUNK_BYTES,
    flow_control: str = "none",
) -> dict[str, Any]:
    """Return a run of one job without compute times; links and NICs have the same rate."""
    overhead = [{"from_bytes": 0, "seconds": 3e-7, "seconds_per_byte": 0.0}]
    return {
        "schema": "network-run/2",
        "jobs": [{"name": "main", "application": application, "nodes": nodes, "ranks_per_node": ranks_per_node}],
        "network": {
            "topology": topology,
            "link": {"bandwidth_Bps": rate_Bps, "latency_s": link_latency_s},
            "switch_latency_s": 1e-7,
            "chunk_bytes": chunk_bytes,
            "flow_control": flow_control,
            "host": {
                "overhead_send": overhead,
                "overhead_recv": overhead,
                "gap_s": 0.0,
                "eager_limit_bytes": 16384,
                "nic_bandwidth_Bps": rate_Bps,
                "nic_latency_s": 3e-7,
                "reduce_bandwidth_Bps": 5e9,
            },
            "intranode": {"latency_s": 4e-7, "bandwidth_Bps": 8e9},
        },
        "seed": 1,
        "replicas": [0],
    }


def missing(engine: str) -> str | None:
    """Return why ``engine`` cannot run, None if it can."""
    if engine not in engines.names():
        return f"there is no engine {engine}"
    probe = engines.get(engine)().probe()
    return None if probe.available else f"the engine {engine} is not installed ({probe.remedy})"


def need(*names: str) -> None:
    """Skip the measurement if an engine is missing."""
    if reasons := [reason for name in names if (reason := missing(name))]:
        raise Skipped("; ".join(reasons))


def makespan(engine: str, run: dict[str, Any]) -> tuple[float, float]:
    """Simulate; return the makespan [s] and the time of the simulation [s]."""
    began = time.monotonic()
    measured = engines.get(engine)().measure(run, 1800)
    return measured.makespan_s, time.monotonic() - began


def of_differences(
    label: str, sizes: Sequence[float], worst_target: float | None = WORST_TARGET
) -> list[dict[str, Any]]:
    """Return the figures of the median and of the worst difference; a target of None is no target."""
    return [
        figure(f"{label}: median", statistics.median(sizes), "", MEDIAN_TARGET, "<="),
        figure(f"{label}: worst", max(sizes), "", worst_target, None if worst_target is None else "<="),
    ]


def main(
    description: str | None, cases: Sequence[Case], figures: Callable[[Sequence[Case], bool], list[dict[str, Any]]]
) -> int:
    """Print the figures of the cases chosen on the command line; the exit code is 6 if a target does not hold."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--verbose", action="store_true", help="print each case")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    arguments = parser.parse_args()
    chosen = [case for case in cases if arguments.only in case.name]
    if not chosen:
        print(f"no case contains {arguments.only!r}", file=sys.stderr)
        return 2
    everything = figures(chosen, arguments.verbose)
    for item in everything:
        target = "" if item["target"] is None else f" (target {item['comparison']} {item['target']:.0%})"
        print(f"{item['name']:<62} {item['value']:.2%}{target}")
    return 0 if all(item["holds"] for item in everything) else 6
