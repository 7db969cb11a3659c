"""A ping-pong between two nodes, by the program of a network engine."""

from __future__ import annotations

import json
from pathlib import Path

from manynode import process
from manynode.config.network import Network
from phase3_sst.point.run_file import network_description


def half_round_trip(program: Path, folder: Path, network: Network, size: int) -> float:
    """Return half a round trip of ``size`` bytes between nodes 0 and 1 [s]; ``folder`` is made."""
    application = {"name": "patterns", "parameters": {"pattern": "ping-pong", "iterations": 1, "bytes": size}}
    run = {
        "schema": "network-run/2",
        "jobs": [{"application": application, "nodes": 2, "ranks_per_node": 1}],
        "network": network_description(network),
    }
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    process.run([program, folder / "run.json", "--output", folder / "out"], what=program.name)
    result = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
    return float(result["replicas"][0]["makespan_s"]) / 2
