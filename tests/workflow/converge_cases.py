"""Points of the applications with synthetic timing profiles, which need no phases 1 and 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pipeline
import yaml
from scipy.stats import lognorm

from manynode.config.application import read_application
from manynode.config.loader import resolve
from manynode.tables import read_json
from manynode.timing_profile import TimingProfile, write_timing_profile
from phase3_sst.point.contract import RESULT_SCHEMA, Point, engine_of
from phase3_sst.point.convergence.converged_point import simulate_point
from phase3_sst.point.point_experiment import PointExperiment

# Small problems with many iterations: name -> parameters without the counter of iterations.
APPLICATIONS: dict[str, dict[str, int]] = {
    "hpcg": {"nx": 16, "ny": 16, "nz": 16, "levels": 4},
    "snap": {"nx": 100, "chunk": 50, "groups": 2, "inners": 2},
    "milc": {},
    "fft2d": {"elements": 4096},
    "caffe": {},
    "spmv": {},
}
MEAN_S = 1e-4


def phase(name: str, clusters: list[tuple[float, float]], spread: float, sequence: list[int] | None) -> dict[str, Any]:
    """A compute phase whose clusters (mean [s], weight) are log-normal with a relative standard deviation."""
    probability = np.linspace(0, 1, 101)
    sigma = float(np.sqrt(np.log1p(spread**2)))
    found = []
    for mean, weight in clusters:
        inner = lognorm.ppf(np.clip(probability, 0.001, 0.999), sigma, scale=mean * np.exp(-(sigma**2) / 2))
        cdf = {"time_s": [float(value) for value in inner], "probability": [float(value) for value in probability]}
        middle = float(np.mean((inner[1:] + inner[:-1]) / 2))
        found.append({"mean_s": middle, "count": 1000, "weight": weight, "cdf": cdf})
    pattern: dict[str, Any] = {"kind": "weights"}
    if sequence is not None:
        pattern = {"kind": "sequence", "sequence": sequence, "repeat": 10, "agreement": 1.0, "prefix": 0}
    mean = sum(entry["weight"] * entry["mean_s"] for entry in found)
    variance = {"between_ranks_s2": 0.0, "within_rank_s2": (spread * mean) ** 2, "total_s2": (spread * mean) ** 2}
    common = {"name": name, "count": 1000, "mean_s": mean}
    return {**common, "clusters": found, "pattern": pattern, "variance": variance}


def write_profile(path: Path, application: str, spread: float = 0.05, **special: dict[str, Any]) -> Path:
    """Write a timing profile of one class; ``special`` replaces phases by name."""
    phases = []
    for index, name in enumerate(read_application(application).phases):
        mean = 50 * MEAN_S if name == "setup" else MEAN_S * (1 + index % 3) / 2
        phases.append(special.get(name, phase(name, [(mean, 1.0)], spread, None)))
    document = {
        **{"application": {"name": application}, "engine": "synthetic", "engine_version": "1", "machine": "none"},
        **{"external": True, "nodes": 1, "ranks": 1, "simulated_ranks": [0], "compute_s": 1.0, "skipped_s": 0.0},
        "classes": [{"name": "0", "share": 1.0, "simulated_ranks": [0], "phases": phases}],
        "provenance": {},
    }
    write_timing_profile(path, TimingProfile.model_validate(json.loads(json.dumps(document))))
    return path


def hpcg_levels(spread: float = 0.05) -> dict[str, dict[str, Any]]:
    """HPCG's phases that follow the levels of a V-cycle, as phase 2 finds them: symgs 0 1 2 3 2 1 0, residual 0 1 2."""
    levels = [(MEAN_S / 8**level * 8, 0.0) for level in range(4)]
    share = [2 / 7, 2 / 7, 2 / 7, 1 / 7]
    symgs = phase(
        "symgs", [(mean, w) for (mean, _), w in zip(levels, share, strict=True)], spread, [0, 1, 2, 3, 2, 1, 0]
    )
    residual = phase("residual", [(mean, 1 / 3) for mean, _ in levels[:3]], spread, [0, 1, 2])
    return {"symgs": symgs, "residual": residual}


def point(
    folder: Path,
    application: str,
    iterations: int,
    *,
    nodes: int = 4,
    network: str = "opa100-fat-tree",
    technique: str = "ext-var",
    profile: Path | None = None,
    **simulate: Any,
) -> Point:
    """A point of an experiment, two ranks a node."""
    counter = read_application(application).iterations
    assert counter is not None
    parameters = {**APPLICATIONS[application], counter: iterations}
    given = pipeline.tiny(
        application={"name": application, "parameters": parameters},
        nodes=[nodes], ranks_per_node=2, network=network, simulate={"replicas": 3, **simulate},
    )  # fmt: skip
    experiment = resolve(yaml.safe_load(yaml.safe_dump(given)), where="test", base=pipeline.ROOT / "configs")
    if profile is None:
        special = hpcg_levels() if application == "hpcg" else {}
        profile = write_profile(folder / f"{application}.json", application, **special)
    return Point(PointExperiment.of(experiment), nodes, technique, profile, ["0"] * (nodes * 2), 7)


def whole(point: Point) -> dict[str, Any]:
    """The content of a whole experiment that has the point."""
    part = point.experiment.model_dump(mode="json")
    given = pipeline.tiny(application=part["application"], nodes=[point.nodes], ranks_per_node=2)
    content = resolve(given, where="test", base=pipeline.ROOT / "configs").content
    return {**content, **part, "application": {**content["application"], **part["application"]}}


def simulated(point: Point, folder: Path) -> dict[str, Any]:
    """Simulate the point into ``folder`` as ``manynode simulate run`` does; return result.json."""
    simulate_point(engine_of(point.experiment.simulate), point, folder)
    return read_json(folder / "result.json", RESULT_SCHEMA)


def makespans(document: dict[str, Any]) -> np.ndarray:
    """The makespans of the application under study [s], by replica."""
    return np.array([replica["jobs"][0]["makespan_s"] for replica in document["replicas"]])
