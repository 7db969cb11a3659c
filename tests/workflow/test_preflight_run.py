"""The pre-flight check with the real engine: networks that reach their rates pass, others are refused by name."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pipeline
import pytest
import yaml

from manynode import tables

NETWORKS = pipeline.ROOT / "configs" / "networks"


def network(**changes: Any) -> dict[str, Any]:
    """The demo's network with changes to its sections."""
    content: dict[str, Any] = yaml.safe_load((NETWORKS / "opa100-fat-tree.yaml").read_text())
    for section, values in changes.items():
        content[section] = {**content[section], **values} if isinstance(values, dict) else values
    return content


def preflight(folder: Path, *options: object, **changes: Any) -> Any:
    """``manynode simulate preflight`` of the tiny experiment."""
    experiment = pipeline.write(folder, pipeline.tiny(**changes))
    return pipeline.manynode("simulate", "preflight", "--experiment", experiment, *options)


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(NETWORKS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_network_passes(tmp_path: Path, path: Path) -> None:
    done = preflight(tmp_path, "--output", tmp_path / "preflight.json", network=path.stem)
    assert done.returncode == 0, done.stdout + done.stderr
    checks = tables.read_json(tmp_path / "preflight.json", "preflight/1")["checks"]
    assert [check["name"].split(",")[0] for check in checks] == ["line rate", "bisection"]
    assert all(check["passed"] for check in checks)


@pytest.mark.parametrize(
    ("host", "limit"),
    [
        ({"nic_bandwidth": "25 Gbit/s"}, "network.host.nic_bandwidth limits"),
        ({"overhead_per_byte": "1 ns/B"}, "network.host overhead per byte (of sender and receiver) limits"),
        ({"overhead_per_byte": "0 ns/B"}, "network.link.bandwidth limits"),
    ],
)
def test_what_limits_is_named_and_is_no_failure(tmp_path: Path, host: dict[str, str], limit: str) -> None:
    done = preflight(tmp_path, network=network(host=host))
    assert done.returncode == 0, done.stdout + done.stderr
    assert limit in done.stdout


def test_a_tapered_tree_is_held_to_its_cut(tmp_path: Path) -> None:
    topology = {"children": [8, 4], "parents": [1, 2], "parallel_links": [1, 1]}
    done = preflight(tmp_path, network=network(topology=topology))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "links of the bisection" in done.stdout


def test_a_network_that_cannot_reach_its_line_rate_ends_the_run_before_the_first_point(tmp_path: Path) -> None:
    """A latency of 90 us in place of 90 ns: a million times a message's length would be needed."""
    experiment = pipeline.write(tmp_path, pipeline.tiny(network=network(link={"latency": "90 us"})))
    done = pipeline.run(experiment, tmp_path, ["--until", "phase3_check_network"])
    assert done.returncode == 6, done.stdout + done.stderr
    for words in ("pre-flight check: line rate", "network.link.latency", "% of", "enabled: false"):
        assert words in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "results" / "tiny" / "simulate" / "preflight.json").exists()


@pytest.mark.long
def test_a_new_verdict_repeats_no_point_and_one_that_fails_stops_the_run(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished.parent.parent, tmp_path, dirs_exist_ok=True)
    results = tmp_path / "results" / "tiny"
    verdict, points = results / "simulate" / "preflight.json", sorted(results.glob("simulate/*/nodes-*/result.json"))
    before = pipeline.tables(results), [path.stat().st_mtime_ns for path in points]
    verdict.unlink()
    done = pipeline.run(tmp_path / "experiment.yaml", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (pipeline.tables(results), [path.stat().st_mtime_ns for path in points]) == before
    # One rank on each node: no message stays within a node.
    vary = {"network.intranode.bandwidth": ["8 GB/s", "80 GB/s"]}
    content = pipeline.tiny(nodes=[1, 2, 4], simulate={"replicas": 3, "preflight": {"vary": vary}})
    done = pipeline.run(pipeline.write(tmp_path, content), tmp_path)
    assert done.returncode == 6 and "network.intranode.bandwidth" in done.stderr, done.stdout + done.stderr
    assert pipeline.rules((results / "logs" / "snakemake.log").read_text()) == {"phase3_check_network"}
    assert not verdict.exists() and not list(results.glob("simulate/*/nodes-2"))


def test_a_sweep_of_links_beyond_the_nics_is_refused_and_the_nic_named(tmp_path: Path) -> None:
    vary = ["--vary", "network.link.bandwidth", "--values"]
    assert preflight(tmp_path, *vary, "20 Gbit/s,100 Gbit/s").returncode == 0
    done = preflight(tmp_path, *vary, "20 Gbit/s,100 Gbit/s,1000 Gbit/s")
    assert done.returncode == 6, done.stdout + done.stderr
    assert "network.host.nic_bandwidth 100 Gbit/s limits" in done.stderr
    assert "100 Gbit/s to 1000 Gbit/s" in done.stderr


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("network.link.latency", "90 ns,500 ns"),
        ("network.host.overhead_send", "350 ns,500 ns"),
        ("network.host.nic_bandwidth", "50 Gbit/s,100 Gbit/s"),
        ("application.parameters.nx", "8,16"),
        ("simulate.collectives.allreduce", "recursive_doubling,ring"),
    ],
)
def test_parameters_that_matter_are_seen_to_matter(tmp_path: Path, key: str, values: str) -> None:
    done = preflight(tmp_path, "--vary", key, "--values", values)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{key} moves the result" in done.stdout


def test_a_parameter_that_moves_nothing_is_refused(tmp_path: Path) -> None:
    """One rank on each node: there is no message within a node."""
    done = preflight(tmp_path, "--vary", "network.intranode.bandwidth", "--values", "8 GB/s,80 GB/s")
    assert done.returncode == 6, done.stdout + done.stderr
    assert "network.intranode.bandwidth moves the result" in done.stderr and "0.00%" in done.stderr


def test_an_experiment_can_name_what_must_matter(tmp_path: Path) -> None:
    simulate = {"preflight": {"vary": {"network.intranode.latency": ["300 ns", "600 ns"]}}}
    done = preflight(tmp_path, simulate=simulate)
    assert done.returncode == 6 and "network.intranode.latency" in done.stderr
    assert "passed  line rate" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--vary", "network.link.bandwith", "--values", "1 GB/s,2 GB/s"], "did you mean 'bandwidth'?"),
        (["--vary", "network.link.bandwidth", "--values", "1 GB/s"], "--values"),
        (["--vary", "network.link.bandwidth", "--values", "1 GB/s,fast"], "network: link: bandwidth"),
        (["--vary", "machine.core.frequency", "--values", "1 GHz,2 GHz"], "cannot vary"),
    ],
)
def test_a_wrong_request_is_a_usage_error(tmp_path: Path, options: list[str], words: str) -> None:
    done = preflight(tmp_path, *options)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr and "Traceback" not in done.stderr
