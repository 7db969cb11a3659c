"""Compares measured latencies of collectives (OSU and Intel MPI benchmarks) with the experiment's network.

In: a resolved experiment with ``validation: collectives`` and an engine. Out: ``validation-collectives/1``, a row per
measured latency: collective, bytes, nodes, ranks_per_node, measured_s, simulated_s, error (simulated / measured - 1).
The simulation runs the pattern ``collective`` of skeletons/patterns, which only has that operation. The simulated
latency is the makespan of ``validation: iterations`` consecutive executions without barriers, divided by their number.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from manynode.config.resolved import Resolved
from manynode.config.validation import MeasuredCollective
from phase3_sst.point.contract import NetworkEngine
from phase3_sst.point.placement import hosts, rank_order_of
from phase3_sst.point.run_file import run_of


def compare(experiment: Resolved, engine: NetworkEngine) -> pd.DataFrame:
    """Return ``validation-collectives/1``."""
    assert experiment.validation is not None
    rows = []
    for row in experiment.validation.collectives:
        found = engine.measure(run_file(experiment, row), experiment.simulate.time_limit)
        simulated = found.makespan_s / experiment.validation.iterations
        rows.append(
            {
                **row.model_dump(include={"collective", "bytes", "nodes", "ranks_per_node"}),
                "measured_s": row.seconds,
                "simulated_s": simulated,
                "error": simulated / row.seconds - 1,
            }
        )
    return pd.DataFrame(rows)


def run_file(experiment: Resolved, row: MeasuredCollective) -> dict[str, Any]:
    """Return the run file of one measured latency, with the experiment's placement."""
    assert experiment.validation is not None
    parameters: dict[str, Any] = {
        "pattern": "collective",
        "collective": row.collective,
        "bytes": row.bytes,
        "iterations": experiment.validation.iterations,
    }
    placement = experiment.simulate.placement
    job = {
        "name": row.collective,
        "application": {"name": "patterns", "parameters": parameters},
        "nodes": row.nodes,
        "ranks_per_node": row.ranks_per_node,
        "hosts": hosts(placement, row.nodes, experiment.network.room(), experiment.seed, set(), experiment.network),
        **rank_order_of(placement, row.nodes, row.ranks_per_node),
    }
    return run_of(experiment.network, experiment.simulate.collectives, [job], seed=experiment.seed, replicas=[0])
