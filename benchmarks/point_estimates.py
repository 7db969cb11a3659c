"""Compare the estimates of 'manynode simulate estimate' with the points' real cost: five applications, 8 and 64 nodes.

A point is one replica under the engine fast with two ranks on a node, uniform compute times and enough iterations for a
measurable time. One more point has 16 ranks on each of 1,024 nodes, for its memory. Memory estimates below 80 MB are
unreliable, because the system counts the memory of this process when it starts the engine. Each estimate and each run
has a process of its own.

Usage on its own: ``python benchmarks/point_estimates.py`` prints every case.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
from pathlib import Path
from typing import Any

import yaml
from _agreement import need

from manynode.config.application import read_application
from manynode.config.loader import resolve
from manynode.paths import ROOT
from phase3_sst.analysis.estimates.trial import bare_run, tried
from phase3_sst.engines.fast.engine import FastEngine

ITERATIONS = {"hpcg": 200, "snap": 20, "milc": 400, "fft2d": 100, "caffe": 400}
# Application, nodes, ranks on each, iterations.
LARGE = ("hpcg", 1024, 16, 5)
CASES = [*((name, nodes, 2, count) for name, count in ITERATIONS.items() for nodes in (8, 64)), LARGE]

Case = tuple[str, int, int, int]


def content(case: Case) -> dict[str, Any]:
    """Return the resolved experiment of a point."""
    application, nodes, ranks_per_node, iterations = case
    given = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    counter = read_application(application).iterations
    given["application"] = {"name": application, "parameters": {counter: iterations}}
    given |= {"nodes": [nodes], "ranks_per_node": ranks_per_node}
    return resolve(given, where=application, base=ROOT / "configs").content


def profile(application: str) -> dict[str, Any]:
    """Return a timing profile in which every phase takes 90 to 110 us, evenly."""
    cluster = {"mean_s": 1e-4, "count": 2, "weight": 1.0}
    cluster["cdf"] = {"time_s": [0.9e-4, 1.1e-4], "probability": [0.0, 1.0]}
    variance = {"between_ranks_s2": 0.0, "within_rank_s2": 0.0, "total_s2": 0.0}
    phases = [
        {
            "name": name,
            "count": 2,
            "mean_s": 1e-4,
            "clusters": [cluster],
            "pattern": {"kind": "weights"},
            "variance": variance,
        }
        for name in read_application(application).phases
    ]
    head = {"schema": "timing-profile/1", "application": {}, "engine": "none", "engine_version": "1", "machine": "none"}
    sizes = {"external": True, "nodes": 1, "ranks": 1, "simulated_ranks": [0], "compute_s": 1.0, "skipped_s": 0.0}
    classes = [{"name": "0", "share": 1.0, "simulated_ranks": [0], "phases": phases}]
    return {**head, **sizes, "classes": classes, "provenance": {}}


def estimated(case: Case) -> tuple[float, float]:
    """Return the estimate of a point: processor time [s] and memory [B]."""
    found = tried(content(case), case[1], 60.0)
    return found.seconds(case[3]), found.memory_bytes


def measured(case: Case) -> tuple[float, float]:
    """Return the cost of a point: processor time [s] and memory [B]."""
    run = bare_run(content(case), case[1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.json"
        path.write_text(json.dumps(profile(case[0])))
        FastEngine().measure({**run, "jobs": [{**run["jobs"][0], "timing_profile": str(path)}]})
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024.0


def compare() -> list[tuple[Case, tuple[float, float], tuple[float, float]]]:
    """Return each case with its estimate and its cost."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return [(case, pool.apply(estimated, (case,)), pool.apply(measured, (case,))) for case in CASES]


def figures() -> list[dict[str, Any]]:
    """Return the largest factor between estimate and measurement, for time and for memory."""
    need("fast")
    found = compare()
    times = [took[0] / said[0] for _, said, took in found]
    memory = [took[1] / said[1] for case, said, took in found if case == LARGE]
    rows = []
    for name, ratios in (("processor time", times), ("memory of 16,384 ranks", memory)):
        worst = max(max(ratio, 1 / ratio) for ratio in ratios)
        common = {"unit": "times", "target": 2.0, "comparison": "<=", "holds": worst <= 2.0}
        rows.append({"name": f"point estimate, {name}: worst factor", "value": worst, **common})
    return rows


if __name__ == "__main__":
    for (name, nodes, ranks_per_node, _), said, took in compare():
        print(
            f"{name:6} {nodes:4} x {ranks_per_node:2}: "
            f"{said[0]:7.2f} s estimated, {took[0]:7.2f} s taken ({took[0] / said[0]:.2f}); "
            f"{said[1] / 1e6:6.0f} MB estimated, {took[1] / 1e6:6.0f} MB taken ({took[1] / said[1]:.2f})",
            flush=True,
        )
