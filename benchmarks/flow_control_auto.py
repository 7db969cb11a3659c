"""Compare the engine fast with flow_control: auto with SST on drawn machines: five applications, 64 to 256 ranks.

Each machine (fat-trees with odd shapes and tapers, tori, dragonflies, 25 to 200 Gbit/s) is drawn with a seed; each
application runs on it with constant compute times of 20 us per phase. The trials choose flow control and chunks as in
an experiment. Without SST the reference is the engine fast with credits and the finest cut of messages, which shows the
choice alone; the figures then say so. The time of the trials stands beside the time of one replica.

Usage on its own: ``python benchmarks/flow_control_auto.py [--machines N] [--reference fast]``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from _agreement import missing, need
from _figure import figure

from manynode.config.application import read_application
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.paths import ROOT
from manynode.timing_profile import write_timing_profile
from phase2_nodesim.own_times import timing_profile
from phase3_sst.checks.flow_control import Situation, choose
from phase3_sst.point.contract import Measurement, Point, engines
from phase3_sst.point.flow_choice import decided
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.run_file import run_description

MACHINES = 6
MEDIAN_TARGET, WORST_TARGET = 0.02, 0.08
APPLICATIONS: Mapping[str, Mapping[str, int]] = {
    "hpcg": {"nx": 32, "ny": 32, "nz": 32, "iterations": 4},
    "snap": {"nx": 200, "ny": 8, "nz": 8, "chunk": 50, "outers": 1, "inners": 3},
    "milc": {"nx": 8, "ny": 8, "nz": 8, "nt": 8, "iterations": 6},
    "fft2d": {"elements": 32768, "iterations": 5},
    "caffe": {"iterations": 4},
}


def machine(random: np.random.Generator) -> tuple[dict[str, Any], int, int]:
    """Return a drawn network, the job's nodes and ranks on each."""
    kind = str(random.choice(["fat-tree", "torus", "dragonfly"]))
    pick = lambda *values: int(random.choice(values))  # noqa: E731
    if kind == "fat-tree":
        leaf, leaves, up = pick(6, 8, 12), pick(6, 8, 11), pick(2, 3, 4, 6)
        topology: dict[str, Any] = {"children": [leaf, leaves], "parents": [1, up], "parallel_links": [1, 1]}
        hosts = leaf * leaves
    elif kind == "torus":
        shape, each = [pick(3, 4, 5), pick(3, 4), pick(2, 3, 4)], pick(1, 2)
        topology = {"shape": shape, "hosts_per_switch": each, "links_per_direction": pick(1, 2)}
        topology["routing"] = "dimension-order-plus"  # merlin's
        hosts = each * shape[0] * shape[1] * shape[2]
    else:
        groups, routers, each = pick(5, 7, 9), pick(3, 4), pick(2, 3)
        # As many global links as the group has to the others, or twice as many.
        links = -(-(groups - 1) // routers) * pick(1, 2)
        topology = {"groups": groups, "routers_per_group": routers, "hosts_per_router": each, "global_links": links}
        topology |= {"local_links": 1, "routing": "minimal-by-source"}  # merlin's
        hosts = groups * routers * each
    rate = f"{pick(25, 100, 200)} Gbit/s"
    network = {
        "name": kind,
        "topology": {"kind": kind, **topology},
        "link": {"bandwidth": rate, "latency": "90 ns"},
        "host": {"nic_bandwidth": rate, "gap": "0 ns"},
    }
    nodes = min(hosts, 64)
    return network, nodes, pick(*[count for count in (1, 2, 4) if 64 <= nodes * count <= 256] or [4])


def experiment(network: dict[str, Any], nodes: int, ranks_per_node: int, name: str) -> Resolved:
    """Return the experiment of an application on a drawn machine."""
    rows = [{"phase": phase, "mean": "20 us"} for phase in read_application(name).phases]
    content = {
        **{"name": "drawn", "application": {"name": name, "parameters": dict(APPLICATIONS[name])}, "nodes": [nodes]},
        **{"ranks_per_node": ranks_per_node, "techniques": ["ext-const"], "machine": "epyc-9754"},
        **{"network": network, "own_times": {"phases": rows}},
    }
    return resolve(content, where="a drawn machine", base=ROOT)


def measured(point: Point, engine: str, **network: Any) -> tuple[Measurement, float]:
    """Return one replica of a point on its network with changes, and the seconds that the simulation took."""
    changed = point.experiment.network.model_copy(update=network)
    described = Point(
        point.experiment.model_copy(update={"network": changed}),
        *(point.nodes, point.technique, point.timing_profile, point.class_of_rank, point.seed),
    )
    began = time.monotonic()
    found = engines.get(engine)().measure(run_description(described, [0]), 1800)
    return found, time.monotonic() - began


def figures(machines: int = MACHINES, reference: str | None = None) -> list[dict[str, Any]]:
    """Return median and worst difference of auto, those of always none, and what the trials cost."""
    need("fast")
    against = reference or ("fast" if missing("sst") else "sst")
    apart: list[float] = []
    free: list[float] = []
    costs: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(machines):
            network, nodes, each = machine(np.random.default_rng([24, number]))
            for name in APPLICATIONS:
                one = experiment(network, nodes, each, name)
                path = Path(folder) / "profile.json"
                write_timing_profile(path, timing_profile(one, external=True, provenance={}))
                classes = ["0"] * (nodes * each)
                point = Point(PointExperiment.of(one), nodes, "ext-const", path, classes, seed=1)
                began = time.monotonic()
                choice = choose(iter([Situation(name, point)]), engines.get("fast")())
                trials = time.monotonic() - began
                picked = decided(point.experiment, choice).network
                own, seconds = measured(point, "fast", flow_control=picked.flow_control, most_chunks=picked.most_chunks)
                none, _ = measured(point, "fast", flow_control="none")
                true, _ = measured(point, against, flow_control="credits", most_chunks=128)
                apart.append(abs(own.makespan_s / true.makespan_s - 1))
                free.append(abs(none.makespan_s / true.makespan_s - 1))
                costs.append(trials / seconds)
                print(
                    f"{name:<6} {nodes} x {each} {network['name']:<10} {network['link']['bandwidth']:<11}"
                    f" {choice['flow_control']:<8} {choice['most_chunks']:>4} chunks {apart[-1]:>7.2%}"
                    f" (none: {free[-1]:.2%}); trials {trials:.1f} s, a replica {seconds:.1f} s"
                    f"{''.join(f'; {warning}' for warning in choice['warnings'])}",
                    flush=True,
                )
    label = f"fast (auto) against {against}{' with credits' if against == 'fast' else ''}, {len(apart)} cases"
    return [
        figure(f"{label}: median", statistics.median(apart), "", MEDIAN_TARGET, "<="),
        figure(f"{label}: worst", max(apart), "", WORST_TARGET, "<="),
        figure(f"flow_control: none against {against}: worst", max(free), "", None, None),
        figure("trials over one replica of so few iterations, median", statistics.median(costs), "", None, None),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=MACHINES)
    parser.add_argument("--reference", choices=["sst", "fast"])
    arguments = parser.parse_args()
    for row in figures(arguments.machines, arguments.reference):
        print(f"{row['name']}: {row['value']:.4g} {row['unit']}")
    sys.exit(0)
