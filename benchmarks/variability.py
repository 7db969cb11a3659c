"""Check Chunduri et al.'s model on simulated runs: 10-fold R2, and the share of kept predictions within their error.

Four applications run 300 times each on 16 nodes of a dragonfly of 64. Each run has newly drawn nodes and newly drawn
background jobs (all-to-alls, random rings, the applications themselves). The network has credits and output buffers of
two packets, like routers with hardly any.

``python benchmarks/variability.py --folder FOLDER`` keeps the simulations and resumes where it stopped. ``--features
paper`` takes the seven features of the paper.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from _agreement import need
from _figure import figure

from manynode import tables
from manynode.config.network import Network
from manynode.config.resolved import checked
from manynode.config.simulate import SimulateSection
from manynode.config.skeleton import resolve_skeleton
from phase3_sst.studies.congestion.contract import Workload
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.variability import drawn_runs
from phase3_sst.studies.congestion.variability.runs_table import SCHEMA
from phase3_sst.studies.congestion.variability.train import AUTO, Options
from phase3_sst.studies.congestion.variability.training_report import Trained, trained
from phase3_sst.studies.congestion.variability.variability_findings import R2_WANTED, WITHIN_WANTED, quality
from phase3_sst.studies.congestion.variability.variability_settings import VariabilitySection

NETWORK = {
    "name": "small-dragonfly",
    "topology": {
        "kind": "dragonfly", "groups": 4, "routers_per_group": 4, "hosts_per_router": 4, "global_links": 3,
        "routing": "ugal",
    },
    "link": {"bandwidth": "100 Gbit/s", "latency": "90 ns"},
    "switch_latency": "110 ns",
    "chunk": "8 KiB",
    "flow_control": "credits",
    "output_buffer": "16 KiB",
    "host": {
        "overhead_send": "350 ns", "overhead_recv": "350 ns", "overhead_per_byte": "0.02 ns/B", "gap": "10 ns",
        "eager_limit": "8 KiB", "nic_bandwidth": "100 Gbit/s", "nic_latency": "150 ns", "reduce_bandwidth": "5 GB/s",
    },
    "intranode": {"latency": "300 ns", "bandwidth": "8 GB/s"},
}  # fmt: skip
APPLICATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "fft2d": ("fft2d", {"iterations": 10}),
    "halo": ("patterns", {"pattern": "halo3d", "bytes": 65536, "iterations": 10}),
    "hpcg": ("hpcg", {"iterations": 6}),
    "milc": ("milc", {"iterations": 20}),
}
BACKGROUND = {
    "congestors": [
        {"name": "patterns", "parameters": {"pattern": "transpose", "iterations": 20}},
        {"name": "patterns", "parameters": {"pattern": "random-ring", "iterations": 50}},
    ],
    "bytes": ["2 KiB", "64 KiB"],
}


def simulate(each: int, folder: Path) -> pd.DataFrame:
    """Return the runs of the campaign; runs already in ``folder`` are read from there."""
    network = checked(Network, NETWORK, "benchmark", "the network")
    workloads = {
        name: Workload(name, skeleton, resolve_skeleton(skeleton, dict(parameters), name), 1, None)
        for name, (skeleton, parameters) in APPLICATIONS.items()
    }
    settings = VariabilitySection.model_validate({"nodes": [16], "runs": each, "background": BACKGROUND})
    content = network.model_dump(mode="json")
    machine = Runs(network, content, SimulateSection().model_dump(mode="json"), 1, 0.95, workloads, folder)
    rows = []
    for run in drawn_runs.situations(workloads, settings, network.room(), machine.seed):
        if machine.missing([run]):
            machine.run(run)
        if (why := machine.failed(run)) is not None:
            print(f"{run.name}: {why}", file=sys.stderr)
            continue
        rows.append(drawn_runs.row(run, machine.result(run), content, settings.flit))
    runs = pd.DataFrame(rows)
    tables.write_table(folder / "runs.parquet", SCHEMA, runs)
    return runs


def measured(each: int, folder: Path, features: str) -> Trained:
    """Return the model of the campaign and its validation."""
    return trained(simulate(each, folder), Options(features=features, trees=100), "the benchmark")


def figures() -> list[dict[str, Any]]:
    """Return R2 and the share of kept predictions within their error."""
    need("fast")
    with tempfile.TemporaryDirectory() as folder:
        overall = measured(300, Path(folder), AUTO).summary.iloc[0]
    return [
        figure("variability: 10-fold R2", float(overall["r2"]), "", R2_WANTED, ">="),
        figure("variability: kept predictions within error", float(overall["within_kept"]), "", WITHIN_WANTED, ">="),
    ]


def main() -> None:
    """Print the quality of the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="of each application")
    parser.add_argument("--folder", type=Path, required=True, help="folder that keeps the simulations")
    parser.add_argument("--features", default=AUTO, help="paper or auto")
    options = parser.parse_args()
    found = measured(options.runs, options.folder, options.features)
    for line in quality(found):
        print(line)
    print(found.summary.to_string())
    print(found.tables["use-cases"][1].to_string())


if __name__ == "__main__":
    main()
