"""Measure the fast engine at 65,536 and at 1,048,576 ranks: speed, memory, and growth of the cost of a message.

The run is the HPCG skeleton (16^3 points a rank) with 10 iterations on 4,096 nodes of 16 ranks, with contention and
without compute times. All ranks then communicate at once, the hardest case for the event queue and the caches. The cost
of a message is compared with that of the same program on 64 nodes, twice. With neighbouring nodes, the messages of the
larger job cross more links. With nodes drawn from the whole machine, routes are nearly equally long. Each crossing is
an event: the first comparison contains the network's growth, the second only the engine's.

Then five iterations of a 3-D halo and an allreduce run on 65,536 nodes of 16 ranks. All networks are three-level
fat-trees with full bisection. The measurement takes about ten minutes. Memory is the engine's greatest resident set.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from _figure import figure
from fast_messages import run_file

from manynode.paths import native_program

SPEED_TARGET, SECONDS_TARGET, BYTES_TARGET = 2e6, 180.0, 8e9
COST_TARGET = 1.5
MILLION_BYTES_TARGET = 24 * 2**30
HPCG = {"name": "hpcg", "parameters": {"nx": 16, "ny": 16, "nz": 16, "iterations": 10}}
HALO = {
    "name": "patterns",
    "parameters": {"pattern": "halo3d", "bytes": 2048, "allreduce_bytes": 8, "iterations": 5},
}
FAT_TREE_4608 = {"kind": "fat-tree", "children": [24, 24, 8], "parents": [1, 24, 4], "parallel_links": [1, 1, 6]}
FAT_TREE_65536 = {"kind": "fat-tree", "children": [32, 32, 64], "parents": [1, 32, 32], "parallel_links": [1, 1, 1]}


class Cost(NamedTuple):
    """The cost of one run."""

    messages: int
    events: int
    seconds: float
    bytes: int

    @property
    def of_message(self) -> float:
        """Return the processor seconds per message."""
        return self.seconds / self.messages

    @property
    def of_event(self) -> float:
        """Return the processor seconds per event."""
        return self.seconds / self.events


def cost(run: dict[str, Any]) -> Cost:
    """Run the engine; return messages, processor seconds and the greatest resident set [B] of this one process."""
    with tempfile.TemporaryDirectory() as folder:
        description, output = Path(folder) / "run.json", Path(folder) / "out"
        description.write_text(json.dumps(run), encoding="utf-8")
        child = subprocess.Popen([str(native_program("manynode-fast")), str(description), "--output", str(output)])
        _, status, usage = os.wait4(child.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise RuntimeError(f"the fast engine failed with exit code {os.waitstatus_to_exitcode(status)}")
        child.returncode = 0
        replica = json.loads((output / "result.json").read_text(encoding="utf-8"))["replicas"][0]
    return Cost(replica["messages"], replica["events"], usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def drawn(run: dict[str, Any]) -> dict[str, Any]:
    """Return ``run`` with its job on hosts drawn from the 4,608."""
    job = run["jobs"][0]
    return {**run, "jobs": [{**job, "hosts": random.Random(7).sample(range(4608), job["nodes"])}]}


def figures() -> list[dict[str, Any]]:
    """Return speed, time, memory and growth."""
    small = cost(run_file(HPCG, 64, 16))
    large = cost(run_file(HPCG, 4096, 16, FAT_TREE_4608))
    million = cost(run_file(HALO, 65536, 16, FAT_TREE_65536))
    small_drawn = cost(drawn(run_file(HPCG, 64, 16, FAT_TREE_4608)))
    large_drawn = cost(drawn(run_file(HPCG, 4096, 16, FAT_TREE_4608)))
    return [
        figure(
            "fast, 65,536 ranks: messages per processor second",
            large.messages / large.seconds,
            "1/s",
            SPEED_TARGET,
            ">=",
        ),
        figure("fast, 65,536 ranks: processor seconds", large.seconds, "s", SECONDS_TARGET, "<="),
        figure("fast, 65,536 ranks: memory", large.bytes, "B", BYTES_TARGET, "<="),
        figure(
            "fast: cost of a message at 65,536 ranks over 1,024",
            large.of_message / small.of_message,
            "",
            COST_TARGET,
            "<=",
        ),
        figure("fast: cost of an event there", large.of_event / small.of_event, "", None, None),
        figure(
            "fast: cost of a message, both on drawn nodes",
            large_drawn.of_message / small_drawn.of_message,
            "",
            COST_TARGET,
            "<=",
        ),
        figure("fast, 65,536 ranks: events per message", large.events / large.messages, "", None, None),
        figure("fast, 1,024 ranks: events per message", small.events / small.messages, "", None, None),
        figure("fast, 1,024 ranks: messages per processor second", small.messages / small.seconds, "1/s", None, None),
        figure("fast, 1,048,576 ranks: memory", million.bytes, "B", MILLION_BYTES_TARGET, "<="),
        figure("fast, 1,048,576 ranks: processor seconds", million.seconds, "s", None, None),
        figure("fast, 1,048,576 ranks: messages per second", million.messages / million.seconds, "1/s", None, None),
    ]


if __name__ == "__main__":
    for item in figures():
        print(f"{item['name']:<58} {item['value']:.6g} {item['unit']}")
    sys.exit(0)
