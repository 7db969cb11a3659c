"""flow_control: auto in whole runs: what the points get, what repeats the trials, what the report says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pipeline import rules, run, write

from manynode import tables

pytestmark = pytest.mark.long

# Long messages around a ring: buffers fill, and a chunk that waits holds up those behind it.
RING = {"kind": "torus", "shape": [8], "hosts_per_switch": 1, "links_per_direction": 1}


def experiment(**changes: Any) -> dict[str, Any]:
    """FFT2d's transposes on 8 nodes, without a measured time."""
    rows = [{"phase": name, "mean": "5 us"} for name in ("setup", "rows", "columns", "check")]
    network = {"name": "ring", "topology": RING, "link": {"bandwidth": "10 Gbit/s", "latency": "90 ns"}}
    network |= {"host": {"nic_bandwidth": "10 Gbit/s"}, "input_buffer": "8 KiB", "output_buffer": "8 KiB"}
    return {
        **{"name": "choice", "application": {"name": "fft2d", "parameters": {"elements": 16384, "iterations": 4}}},
        **{"nodes": [2, 8], "ranks_per_node": 2, "techniques": ["ext-const"], "machine": "broadwell"},
        **{"network": network, "own_times": {"phases": rows}, "simulate": {"replicas": 1}, **changes},
    }


def choice(results: Path, name: str = "flow-control") -> dict[str, Any]:
    return tables.read_json(results / "simulate" / f"{name}.json", "flow-control/1")


@pytest.fixture(scope="module")
def congested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished experiment."""
    folder = tmp_path_factory.mktemp("congested")
    done = run(write(folder, experiment()), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_where_credits_matter_all_points_have_them_as_if_they_were_stated(congested: Path, tmp_path: Path) -> None:
    results = congested / "results/choice"
    found = choice(results)
    assert found["flow_control"] == "credits" and found["trials"][0]["difference"] > 0.01
    assert json.loads((results / "provenance.json").read_text())["flow_control"] == "credits"
    report = re.sub(r"\s+", " ", (results / "report.html").read_text())
    assert "switches have finite buffers and back-pressure" in report
    stated = experiment()
    stated["network"] |= {"flow_control": "credits", "most_chunks": found["most_chunks"]}
    done = run(write(tmp_path, stated), tmp_path, ["--until", "phase3_simulate_point"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "results/choice/simulate/flow-control.json").exists(), "nothing was left open"
    for nodes in (2, 8):
        place = f"results/choice/simulate/ext-const/nodes-{nodes}/links.parquet"
        own, other = (tables.read_table(folder / place, "link-load/3") for folder in (congested, tmp_path))
        assert own.equals(other) and (own["credit_stall_s"] > 0).any() == (nodes == 8)


def test_another_number_of_replicas_and_a_smaller_size_repeat_no_trial(congested: Path) -> None:
    changed = experiment(nodes=[2, 4, 8])
    changed["simulate"]["replicas"] = 2
    done = run(write(congested, changed), congested, ["--dry-run"])
    assert "phase3_simulate_point" in rules(done.stdout)
    assert "phase3_choose_flow_control" not in rules(done.stdout)
    larger = experiment(nodes=[2, 4])
    done = run(write(congested, larger), congested, ["--dry-run"])
    assert "phase3_choose_flow_control" in rules(done.stdout)


def test_a_study_whose_variants_need_credits_has_them_in_all(tmp_path: Path) -> None:
    changed = experiment(nodes=[2])
    # Two neighbours never wait; where the 16 ranks of the study's job share the ring, they do.
    values = ["10 Gbit/s", "1000 Gbit/s"]
    changed["network"]["topology"] = {**RING, "shape": [12]}
    changed["sensitivity"] = {"parameters": {"rate": {"keys": ["network.link.bandwidth"], "values": values}}}
    changed["sensitivity"]["nodes"] = [8]
    done = run(write(tmp_path, changed), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results/choice"
    assert choice(results)["flow_control"] == "none"
    studies = choice(results, "flow-control-studies")
    assert studies["flow_control"] == "credits" and "rate" in studies["reason"]
    report = re.sub(r"\s+", " ", (results / "report.html").read_text())
    assert "The variants of the studies have finite buffers" in report


def test_the_largest_points_begin_first(tmp_path: Path) -> None:
    stated = experiment(nodes=[1, 2, 4, 8])
    stated["network"] |= {"flow_control": "none", "most_chunks": 64}
    done = run(write(tmp_path, stated), tmp_path, ["--cores", 1, "--until", "phase3_simulate_point"])
    assert done.returncode == 0, done.stdout + done.stderr
    log = (tmp_path / "results/choice/logs/snakemake.log").read_text()
    assert re.findall(r"wildcards: technique=ext-const, nodes=(\d+)", log) == ["8", "4", "2", "1"]
