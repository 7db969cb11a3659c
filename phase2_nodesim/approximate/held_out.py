"""How far a job that was recorded is from what an approximate skeleton makes of smaller runs.

In: a skeleton whose runs are all smaller, and the stream of the recorded job. Out: relative errors
(:class:`~manynode.derived.skeleton_model.HeldOut`). Both jobs are counted by ``manynode-skeleton`` and simulated by the
engine ``fast``, without computation, on a tree of 100 Gbit/s with a rank on each node: there communication is all, and
every message crosses the network.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode import process
from manynode.derived.skeleton_model import HeldOut
from manynode.paths import native_program

_OVERHEAD = {"seconds": 3e-7, "from_bytes": 0, "seconds_per_byte": 0}
_NETWORK = {
    "topology": {"kind": "fat-tree", "children": [16, 16, 16], "parents": [1, 8, 8], "parallel_links": [1, 1, 1]},
    "link": {"bandwidth_Bps": 1.25e10, "latency_s": 9e-8},
    "switch_latency_s": 1e-7,
    "chunk_bytes": 2048,
    "host": {
        "overhead_send": [_OVERHEAD],
        "overhead_recv": [_OVERHEAD],
        "gap_s": 5e-8,
        "eager_limit_bytes": 16384,
        "nic_bandwidth_Bps": 1.25e10,
        "nic_latency_s": 3e-7,
        "reduce_bandwidth_Bps": 5e9,
    },
    "intranode": {"latency_s": 4e-7, "bandwidth_Bps": 8e9},
}


@dataclass(frozen=True)
class Job:
    """What a job of a skeleton does in all; the time is in seconds."""

    messages: int
    bytes: int
    peers: float
    makespan_s: float


def job(application: str, parameters: Mapping[str, Any], ranks: int) -> Job:
    """Count and simulate a job of a skeleton."""
    words = ["stream", "--app", application, "--parameters", json.dumps(dict(parameters)), "--ranks", str(ranks)]
    counted = process.run([native_program("manynode-skeleton"), *words, "--sink", "count"], what="manynode-skeleton")
    peers: dict[str, int] = defaultdict(int)
    messages = size = 0
    # The last table: sender, receiver, messages, bytes.
    for line in counted.output.rpartition("sender")[2].splitlines()[1:]:
        sender, receiver, number, sent = line.split()
        if sender != receiver:
            peers[sender] += 1
            messages, size = messages + int(number), size + int(sent)
    run = {
        "schema": "network-run/2",
        "jobs": [
            {"application": {"name": application, "parameters": dict(parameters)}, "nodes": ranks, "ranks_per_node": 1}
        ],
        "network": _NETWORK,
    }
    with tempfile.TemporaryDirectory() as folder:
        description, output = Path(folder, "run.json"), Path(folder, "out")
        description.write_text(json.dumps(run), encoding="utf-8")
        process.run([native_program("manynode-fast"), description, "--output", output], what="manynode-fast")
        result = json.loads((output / "result.json").read_text(encoding="utf-8"))
    return Job(messages, size, sum(peers.values()) / ranks, float(result["replicas"][0]["makespan_s"]))


def errors(lifted: Job, recorded: Job, ranks: int, base: int) -> HeldOut:
    """Return the relative errors of a job that a run of ``base`` ranks stands for."""

    def error(ours: float, theirs: float) -> float:
        return ours / theirs - 1 if theirs else float(ours > 0)

    found = {
        "volume": error(lifted.bytes, recorded.bytes),
        "messages": error(lifted.messages, recorded.messages),
        "peers": error(lifted.peers, recorded.peers),
        "makespan": error(lifted.makespan_s, recorded.makespan_s),
    }
    rounded = {name: round(value, 4) for name, value in found.items()}
    return HeldOut.model_validate({"ranks": ranks, "from": base, **rounded})
