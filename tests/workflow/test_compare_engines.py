"""``manynode compare-engines`` with real engines: its files, that it resumes, its refusals."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest

from manynode import tables
from phase3_sst.point.contract import engines
from phase3_sst.studies.compare.comparison_files import DOCUMENT_SCHEMA, SCHEMAS

pytestmark = pytest.mark.long


def has_sst() -> bool:
    return "sst" in engines.names() and engines.get("sst")().probe().available


def compare(folder: Path, *options: object, env: dict[str, str] | None = None, **changes: Any) -> Any:
    experiment = pipeline.write(folder, pipeline.tiny(nodes=[1, 8], **changes))
    arguments = ("compare-engines", experiment, "--output", folder / "out", "--cores", 2, *options)
    return pipeline.manynode(*arguments, env=env)


def fails(done: subprocess.CompletedProcess, code: int, *words: str) -> None:
    text = done.stdout + done.stderr
    assert done.returncode == code, text
    assert "Traceback" not in text
    for word in words:
        assert word in text, f"{word!r} is not in:\n{text}"


def test_every_table_is_there_for_every_point(compared: Path) -> None:
    document = tables.read_json(compared / "comparison.json", DOCUMENT_SCHEMA)
    assert [engine["name"] for engine in document["engines"]] == ["fast", "simgrid"]
    assert "SimGrid" in document["engines"][1]["version"]
    for name, schema in SCHEMAS.items():
        # One node of one rank loads no link.
        frame = tables.read_table(compared / f"{name}.parquet", schema)
        assert len(frame[["technique", "nodes"]].drop_duplicates()) == (2 if "link" in name else 4)
    assert len(pd.read_csv(compared / "makespans.csv")) == 4
    text = (compared / "comparison.md").read_text()
    assert "## fast against simgrid" in text and "ext-var | 8" in text


def test_both_engines_replay_the_same_compute_times_and_agree_on_a_small_job(compared: Path) -> None:
    """HPCG on 8 nodes has hardly any contention: both models are LogGPS, within 1 % (measured: 0.01 %)."""
    compute = pd.read_parquet(compared / "compute.parquet")
    assert compute["equal"].all() and (compute["largest_s"] < 1e-9).all()
    assert (compute["compared"] == 3 * compute["nodes"]).all()
    spans = pd.read_parquet(compared / "makespans.parquet")
    assert (spans["difference"].abs() < 0.01).all()
    assert (spans["low"] <= spans["difference"]).all() and (spans["difference"] <= spans["high"]).all()


def test_the_engines_load_the_same_links(compared: Path) -> None:
    links = pd.read_parquet(compared / "links.parquet")
    assert (links["bytes"] == links["reference_bytes"]).all()
    assert (links["pearson"].dropna() > 0.9999).all()
    assert (links["remark"] != "").eq(links["pearson"].isna()).all()


def test_the_breakdown_adds_up_to_the_engines_own(compared: Path) -> None:
    breakdown = pd.read_parquet(compared / "breakdown.parquet")
    for engine, column in (("fast", "seconds"), ("simgrid", "reference_seconds")):
        own = pd.read_parquet(compared / engine / "results" / "tiny" / "breakdown.parquet")
        own = own.set_index(["technique", "nodes", "operation"])["seconds"]
        other = breakdown.set_index(["technique", "nodes", "operation"])[column]
        assert (own - other.reindex(own.index)).abs().max() < 1e-12


def test_each_engine_has_its_own_whole_results_and_what_they_cost(compared: Path) -> None:
    for engine in ("fast", "simgrid"):
        assert (compared / engine / "results" / "tiny" / "report.html").is_file()
    cost = pd.read_parquet(compared / "cost.parquet")
    assert len(cost) == 8 and (cost[["wall_s", "processor_s", "memory_bytes"]] > 0).all(axis=None)


def test_the_same_again_runs_nothing_and_writes_the_same_bytes(compared: Path) -> None:
    kept = [path for path in sorted(compared.iterdir()) if path.is_file() and path.suffix]
    before = {path.name: path.read_bytes() for path in kept}
    done = pipeline.manynode(
        *("compare-engines", compared.parent / "experiment.yaml", "--engines", "fast,simgrid", "--output", compared),
        *("--set", "ranks_per_node=1"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "phase3_simulate_point" not in done.stdout and "phase2_simulate_node" not in done.stdout
    assert {path.name: path.read_bytes() for path in kept} == before


@pytest.mark.skipif(not has_sst(), reason="SST is not installed: the engine sst is not compared")
def test_sst_computes_for_the_same_time_to_the_nanosecond(finished: Path, tmp_path: Path) -> None:
    topology = {"kind": "fat-tree", "children": [4, 2], "parents": [1, 4], "parallel_links": [1, 1]}
    few = {"techniques": ["ext-var"], "network": {"name": "small", "topology": topology}}
    done = compare(tmp_path, "--engines", "fast,sst", "--measurements-from", finished, **few)
    assert done.returncode == 0, done.stdout + done.stderr
    compute = pd.read_parquet(tmp_path / "out" / "compute.parquet")
    assert len(compute) == 2 and (compute["largest_s"] < 1e-9).all()
    assert (pd.read_parquet(tmp_path / "out" / "makespans.parquet")["difference"].abs() < 0.15).all()


def test_an_unknown_engine(tmp_path: Path) -> None:
    fails(compare(tmp_path, "--engines", "fast,simgird"), 2, "unknown network engine", "did you mean 'simgrid'")
    assert not (tmp_path / "out").exists()


def test_one_engine_is_no_comparison(tmp_path: Path) -> None:
    fails(compare(tmp_path, "--engines", "fast"), 2, "between different engines", "at least two of")


def test_engines_that_are_not_installed_are_skipped_by_name(tmp_path: Path) -> None:
    """A build without any program: no engine is left, and the message says how to get each."""
    (tmp_path / "empty").mkdir()
    env = {**os.environ, "MANYNODE_BUILD_DIR": str(tmp_path / "empty")}
    fails(compare(tmp_path, "--engines", "fast,simgrid", env=env), 4, "needs two engines", "libsimgrid-dev")


def test_wrong_changes(tmp_path: Path) -> None:
    for change, words in (
        ("simulate.replcas=2", "did you mean 'replicas'"),
        ("simulate.replicas", "KEY=VALUE"),
        ("simulate.engine=sst", "name them with --engines"),
        ("ranks_per_node.deep=1", "which has no keys"),
        ("nodes.7=1", "0 to 1"),
    ):
        fails(compare(tmp_path, "--set", change), 2, words)


def test_a_program_without_a_skeleton(tmp_path: Path) -> None:
    fails(compare(tmp_path, application={"command": ["/bin/true"]}), 2, "has no skeleton")


def test_an_experiment_that_is_none(tmp_path: Path) -> None:
    fails(pipeline.manynode("compare-engines", tmp_path / "absent.yaml"), 2, "cannot be read")
