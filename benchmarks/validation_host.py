"""A validation on this host: HPCG measured natively on 1, 2 and 4 ranks against its projection by the native engine.

Each rank stands for a node. This host's shared memory is their network, for which the network file has round figures.
If ranks exceed idle cores, the measured machine differs from the projected one, whose nodes have a core of their own:
the error is then that of the question, not of the method. The runs are marked, and the breakdown is measured, too.
Measured runs of the sizes alternate.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from _figure import figure
from _mini_app import manynode, run_hpcg

NODES = (1, 2, 4)
RUNS = 10
HPCG = {"nx": 24, "ny": 24, "nz": 24, "levels": 4, "iterations": 15}
# Round figures of messages through shared memory.
NETWORK = {
    "name": "shared-memory",
    "topology": {"kind": "fat-tree", "children": [8], "parents": [1], "parallel_links": [1]},
    "link": {"bandwidth": "8 GB/s", "latency": "20 ns"},
    "switch_latency": "0 ns",
    "chunk": "2 KiB",
    "host": {
        "overhead_send": "200 ns",
        "overhead_recv": "200 ns",
        "overhead_per_byte": "0 ns/B",
        "gap": "10 ns",
        "eager_limit": "64 KiB",
        "nic_bandwidth": "8 GB/s",
        "nic_latency": "20 ns",
        "reduce_bandwidth": "5 GB/s",
    },
    "intranode": {"latency": "200 ns", "bandwidth": "8 GB/s"},
}
EXPERIMENT = {
    "name": "validation-host",
    "title": "HPCG on this host: projected and measured",
    "application": {"name": "hpcg", "parameters": HPCG},
    "nodes": [*NODES, 8],
    "ranks_per_node": 1,
    "machine": "generic",
    "network": NETWORK,
    "profile": {"nodes": [2], "repetitions": 2},
    "nodesim": {"engine": "native", "nodes": 2},
    "simulate": {"replicas": 10},
    "validation": {"measured": "measured.csv"},
}


@contextlib.contextmanager
def polite(crowded: bool) -> Iterator[None]:
    """Let waiting ranks sleep if they outnumber the cores: otherwise they keep the others from computing."""
    if crowded:
        os.environ["MANYNODE_MARKERS_POLITE"] = "1"
    try:
        yield
    finally:
        os.environ.pop("MANYNODE_MARKERS_POLITE", None)


def measure(folder: Path) -> None:
    """Run HPCG on every number of ranks and write measured.csv."""
    for replica in range(RUNS):
        for nodes in NODES:
            markers = folder / f"markers-{nodes}" / str(replica)
            markers.mkdir(parents=True)
            with polite(nodes > (os.cpu_count() or 1)):
                run_hpcg(nodes, HPCG, markers)
    rows = []
    for nodes in NODES:
        own = [folder / f"markers-{nodes}" / str(replica) for replica in range(RUNS)]
        manynode("measured", *own, "--nodes", nodes, "--output", folder / f"measured-{nodes}.csv")
        rows.append(pd.read_csv(folder / f"measured-{nodes}.csv", comment="#"))
    pd.concat(rows).fillna(0.0).to_csv(folder / "measured.csv", index=False)


def figures() -> list[dict[str, Any]]:
    """Return each technique's errors, and whether its interval meets the measurement's; print the breakdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure(folder)
        (folder / "experiment.yaml").write_text(yaml.safe_dump(EXPERIMENT, sort_keys=False))
        manynode("run", folder / "experiment.yaml", "--cores", 1, "--directory", folder)
        results = folder / "results" / "validation-host"
        points = pd.read_parquet(results / "validation.parquet")
        summary = pd.read_parquet(results / "validation_summary.parquet")
        parts = pd.read_parquet(results / "validation_breakdown.parquet")
    print(points.to_string(), summary.to_string(), sep="\n")
    print(parts[parts["technique"] == "ext-var"].drop(columns="technique").to_string())
    found = [
        figure(f"{row.technique}, {row.nodes} ranks: error", 100 * row.error, "%", None, None)
        for row in points.itertuples()
    ]
    return found + [
        figure(f"{row.technique}: mean error", 100 * row.mean_absolute, "%", None, None) for row in summary.itertuples()
    ]


if __name__ == "__main__":
    for one in figures():
        print(one["name"], f"{one['value']:.1f} {one['unit']}")
