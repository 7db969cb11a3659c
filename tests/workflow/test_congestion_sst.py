"""A congestion study on a real SST beside the same study on the engine fast: both simulate finite buffers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest

from manynode import tables
from phase3_sst.point.contract import engines

ENGINES = ("sst", "fast")
HALO = {"name": "patterns", "parameters": {"pattern": "halo3d", "bytes": 8192, "iterations": 10}}
STUDY: dict[str, Any] = {
    **{"title": "A trial", "network": pipeline.SMALL_DRAGONFLY, "seed": 3},
    "workloads": {"halo": {"application": HALO}},
    "impact": {
        **{"nodes": 8, "rotations": 2, "intensity": None},
        "congestor": {"pattern": "congestor-incast-rma", "bytes": "16 KiB", "parameters": {"messages": 8}},
    },
    "mapping": {"workload": "halo", "nodes": 8, "random_cases": 1},
}

pytestmark = pytest.mark.skipif(
    not engines.get("sst")().probe().available, reason="the engine sst cannot be used: see 'manynode doctor'"
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The study with each engine, concluded."""
    found = {}
    for engine in ENGINES:
        folder = tmp_path_factory.mktemp(engine)
        study = pipeline.write(folder, {"name": engine, "simulate": {"engine": engine}, **STUDY}, "study.yaml")
        done = pipeline.manynode("congestion", study, "--output", folder / "out", "--cores", 2)
        assert done.returncode == 0, done.stdout + done.stderr
        found[engine] = folder / "out"
    return found


def test_the_engine_of_the_study_simulates_every_situation(outputs: dict[str, Path]) -> None:
    for engine in ENGINES:
        results = list((outputs[engine] / "situations").glob("*/result.json"))
        assert len(results) > 8, "the impact's runs and the mapping's"
        assert {tables.read_json(path, "network-result/2")["engine"]["name"] for path in results} == {engine}


def test_a_congestor_costs_the_same_with_both(outputs: dict[str, Path]) -> None:
    """How many times as long the application takes: within a quarter of each other."""
    slower = {}
    for engine in ENGINES:
        runs = tables.read_table(outputs[engine] / "impact/runs.parquet", "congestion-impact-runs/1")
        means = runs.groupby("setting")["time_s"].mean()
        slower[engine] = means["IV"] / means["II"]
        stalls = runs.groupby("setting")["stall_flit_ratio"].mean()
        assert stalls["IV"] > stalls["II"], f"{engine}: routers tell of the congestor"
    assert slower["fast"] > 1.3, "there is congestion to tell of"
    assert slower["sst"] == pytest.approx(slower["fast"], rel=0.25)


def test_ranks_are_mapped_by_the_counters_of_its_routers(outputs: dict[str, Path]) -> None:
    for engine in ENGINES:
        found = pd.read_csv(outputs[engine] / "mapping/mapping-runs.csv")
        assert {"hops", "bw", "stalls", "geometric"} <= set(found["method"])
        assert (found["run_s"] > 0).all()


def test_what_only_the_engine_fast_can_do_is_refused_at_once(tmp_path: Path) -> None:
    content = {**STUDY, "name": "held", "simulate": {"engine": "sst"}, "throttling": {"nodes": 8}}
    study = pipeline.write(tmp_path, content, "study.yaml")
    done = pipeline.manynode("congestion", study, "--output", tmp_path / "out")
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert "found: engine sst" in done.stderr and "allowed: engine fast" in done.stderr
    assert not (tmp_path / "out/situations").exists()
