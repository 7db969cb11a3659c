"""Measure the speed of the fast engine at 1,024 ranks, and whether a long ping-pong reaches the line rate.

Speed is messages and events per second of processor time (user and system) of the HPCG skeleton on 64 nodes of 16
ranks, with contention. The target is that of fast_scale.py, which takes minutes. The line rate is bytes over bandwidth
over the simulated time of one direction, on the longest route of the paper's fat-tree (six links). It is also compared
with the closed formula.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _figure import figure

from manynode.paths import native_program

BANDWIDTH, LINK_LATENCY, SWITCH_LATENCY = 1.25e10, 9e-8, 1e-7
NIC_LATENCY, OVERHEAD_SEND, OVERHEAD_RECV = 3e-7, 3e-7, 3e-7
PING_PONG_BYTES = 16 << 20
SPEED_TARGET, LINE_RATE_TARGET, FORMULA_TARGET = 2e6, 0.98, 1e-4
# 96 leaves with 24 nodes, 96 second-level switches, 48 roots.
PAPER_FAT_TREE = {"kind": "fat-tree", "children": [24, 24, 4], "parents": [1, 24, 2], "parallel_links": [1, 1, 12]}


def run_file(
    application: dict[str, Any], nodes: int, ranks_per_node: int, topology: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a run on ``topology``; the default is the paper's fat-tree."""
    overhead = {"from_bytes": 0, "seconds_per_byte": 0}
    return {
        "schema": "network-run/2",
        "jobs": [{"application": application, "nodes": nodes, "ranks_per_node": ranks_per_node}],
        "network": {
            "topology": topology or PAPER_FAT_TREE,
            "link": {"bandwidth_Bps": BANDWIDTH, "latency_s": LINK_LATENCY},
            "switch_latency_s": SWITCH_LATENCY,
            "chunk_bytes": 2048,
            "host": {
                "overhead_send": [{**overhead, "seconds": OVERHEAD_SEND}],
                "overhead_recv": [{**overhead, "seconds": OVERHEAD_RECV}],
                "gap_s": 5e-8,
                "eager_limit_bytes": 16384,
                "nic_bandwidth_Bps": BANDWIDTH,
                "nic_latency_s": NIC_LATENCY,
                "reduce_bandwidth_Bps": 5e9,
            },
            "intranode": {"latency_s": 4e-7, "bandwidth_Bps": 8e9},
        },
    }


@dataclass(frozen=True)
class Simulated:
    """The first replica of result.json, processor seconds (user and system), and the most memory at once."""

    replica: dict[str, Any]
    seconds: float
    bytes: int


def simulate(run: dict[str, Any]) -> Simulated:
    """Run the engine."""
    with tempfile.TemporaryDirectory() as folder:
        description = Path(folder) / "run.json"
        description.write_text(json.dumps(run), encoding="utf-8")
        command = [str(native_program("manynode-fast")), str(description), "--output", str(Path(folder) / "out")]
        child = os.posix_spawn(command[0], command, os.environ)
        peak = 0
        while not (ended := os.wait4(child, os.WNOHANG))[0]:
            peak = max(peak, _peak_bytes(child))
            time.sleep(0.02)
        _, status, used = ended
        if status != 0:
            raise SystemExit(f"{command[0]} ended with status {status}")
        result = json.loads((Path(folder) / "out" / "result.json").read_text(encoding="utf-8"))
    return Simulated(result["replicas"][0], used.ru_utime + used.ru_stime, peak)


def _peak_bytes(process: int) -> int:
    """Return the most memory so far; ``ru_maxrss`` would count what this process had when it started the engine."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def figures() -> list[dict[str, Any]]:
    """Return speed and line rate."""
    hpcg = {"name": "hpcg", "parameters": {"nx": 16, "ny": 16, "nz": 16, "iterations": 10}}
    hpcg_run = simulate(run_file(hpcg, 64, 16))
    replica, seconds = hpcg_run.replica, hpcg_run.seconds
    ping_pong = {
        "name": "patterns",
        "parameters": {"pattern": "ping-pong", "bytes": PING_PONG_BYTES, "iterations": 1},
    }
    one_way_s = simulate(run_file(ping_pong, 2304, 1)).replica["makespan_s"] / 2
    # Rendezvous over six links and five switches: request to send, clear to send, data.
    path_s = 2 * NIC_LATENCY + 6 * LINK_LATENCY + 5 * SWITCH_LATENCY
    serial_s = PING_PONG_BYTES / BANDWIDTH
    formula_s = OVERHEAD_SEND + 3 * path_s + serial_s + OVERHEAD_RECV
    # The last sender ends when the acknowledgement is back.
    formula_s += max(0.0, path_s - OVERHEAD_RECV) / 2
    off_formula = abs(one_way_s / formula_s - 1)
    return [
        figure(
            "fast: messages per processor second, HPCG 64 x 16",
            replica["messages"] / seconds,
            "1/s",
            SPEED_TARGET,
            ">=",
        ),
        figure("fast: events per processor second, HPCG 64 x 16", replica["events"] / seconds, "1/s", None, None),
        figure("fast: ping-pong 16 MiB, share of the line rate", serial_s / one_way_s, "", LINE_RATE_TARGET, ">="),
        figure("fast: ping-pong 16 MiB, distance from the formula", off_formula, "", FORMULA_TARGET, "<="),
    ]


def main() -> int:
    """Print one line per figure; the exit code is 6 if a target does not hold."""
    everything = figures()
    for item in everything:
        target = "" if item["target"] is None else f" (target {item['comparison']} {item['target']:g})"
        print(f"{item['name']:<52} {item['value']:.6g} {item['unit']}{target}")
    return 0 if all(item["holds"] for item in everything) else 6


if __name__ == "__main__":
    sys.exit(main())
