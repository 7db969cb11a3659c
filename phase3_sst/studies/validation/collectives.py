"""Compares measured latencies of collectives (OSU and Intel MPI benchmarks) with the experiment's network.

In: a resolved experiment with ``validation: collectives`` and an engine. Out: ``validation-collectives/1``, a row per
measured latency: collective, bytes, nodes, ranks_per_node, measured_s, simulated_s, error (simulated / measured - 1).
The simulation runs the pattern ``collective`` of skeletons/patterns, which only has that operation. The simulated
latency is the makespan of ``validation: iterations`` consecutive executions without barriers, divided by their number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from manynode.config.network import Network
from manynode.config.placement import Placement
from manynode.config.quantities import RESOLVED
from phase3_sst.point.contract import NetworkEngine
from phase3_sst.point.placement import hosts, rank_order_of
from phase3_sst.point.run_file import run_of


def compare(content: Mapping[str, Any], engine: NetworkEngine) -> pd.DataFrame:
    """Return ``validation-collectives/1``."""
    rows = []
    for row in content["validation"]["collectives"]:
        found = engine.measure(run_file(content, row), content["simulate"]["time_limit"])
        simulated = found.makespan_s / content["validation"]["iterations"]
        rows.append(
            {
                **{key: row[key] for key in ("collective", "bytes", "nodes", "ranks_per_node")},
                "measured_s": row["seconds"],
                "simulated_s": simulated,
                "error": simulated / row["seconds"] - 1,
            }
        )
    return pd.DataFrame(rows)


def run_file(content: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the run file of one measured latency, with the experiment's placement."""
    parameters: dict[str, Any] = {
        "pattern": "collective",
        "collective": row["collective"],
        "bytes": row["bytes"],
        "iterations": content["validation"]["iterations"],
    }
    placement = Placement.model_validate(content["simulate"]["placement"])
    room = Network.model_validate(content["network"], context=RESOLVED).room()
    job = {
        "name": row["collective"],
        "application": {"name": "patterns", "parameters": parameters},
        "nodes": row["nodes"],
        "ranks_per_node": row["ranks_per_node"],
        "hosts": hosts(placement, row["nodes"], room, content["seed"], set()),
        **rank_order_of(placement, row["nodes"], row["ranks_per_node"]),
    }
    return run_of(content, [job], seed=content["seed"], replicas=[0])
