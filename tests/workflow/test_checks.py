"""Checks before the first step: `config check` and `run` refuse the same, and report missing engines separately."""

from __future__ import annotations

import copy
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pipeline
import pytest
import yaml

from manynode.checks import GROUP, check_experiment
from manynode.config.loader import resolve
from manynode.errors import EngineMissingError, InputError, UsageError

TORUS = {"kind": "torus", "shape": [2, 2], "hosts_per_switch": 2}


def experiment(changes: dict[str, Any]) -> dict[str, Any]:
    """The tiny experiment with its network in it, and values changed by keys with dots."""
    content = copy.deepcopy(pipeline.tiny())
    networks = pipeline.ROOT / "configs" / "networks"
    content["network"] = yaml.safe_load((networks / f"{content['network']}.yaml").read_text())
    machines = pipeline.ROOT / "configs" / "machines"
    content["machine"] = yaml.safe_load((machines / f"{content['machine']}.yaml").read_text())
    for key, value in changes.items():
        section = content
        *way, last = key.split(".")
        for part in way:
            section = section.setdefault(part, {})
        section[last] = value
    return content


def missing(changes: dict[str, Any]) -> dict[str, EngineMissingError]:
    """Return what the phases lack for the tiny experiment with changes; raise the error of a wrong one."""
    resolved = resolve(experiment(changes), where="the file", base=pipeline.ROOT)
    return check_experiment(resolved, "the file")


def study(**parameters: dict[str, Any]) -> dict[str, Any]:
    return {"sensitivity": {"parameters": parameters}}


JOB = {"name": "other", "application": {"name": "patterns", "parameters": {"pattern": "shift"}}, "nodes": 2}

REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "engine of phase 3": ({"simulate.engine": "slow"}, ("simulate: engine", "fast, simgrid, sst")),
    "engine of phase 2": ({"nodesim.engine": "valgrnd"}, ("nodesim: engine", "did you mean 'valgrind'")),
    "collective": ({"simulate.collectives": {"allreduce": "bogus"}}, ("collectives.allreduce", "bogus", "ring")),
    "slow node": ({"simulate.slow_node": {"node": 999, "factor": 2.0}}, ("slow_node: node", "999")),
    "slow node of the smallest job": ({"simulate.slow_node": {"node": 1}}, ("0 to 0", "1 nodes")),
    "grid of the mini-app": ({"application.parameters.nx": 10}, ("hpcg on 1 rank", "nx", "10", "multiple of 4")),
    "ranks on a node": ({"ranks_per_node": 37}, ("ranks_per_node: 37 ranks do not fit a node of 36 cores",)),
    "threads on a node": ({"ranks_per_node": 12, "application.threads": 4}, ("12 ranks of 4 threads", "36 cores")),
    "ranks of a job": ({"simulate.jobs": [{**JOB, "ranks_per_node": 37}]}, ("jobs: other: ranks_per_node: 37",)),
    "ranks of the skeleton": (
        {"application": {"name": "fft2d", "parameters": {"elements": 4}}, "nodes": [2, 4, 8]},
        ("8 nodes", "elements", "at least 8"),
    ),
    "ranks of the mini-app": (
        {"application": {"name": "fft2d", "parameters": {"elements": 2}}, "profile.nodes": [2, 4], "nodes": [1]},
        ("fft2d on 4 ranks", "elements"),
    ),
    "offset": ({"simulate.placement": {"offset": 999999}}, ("offset", "999999")),
    "hosts of the largest job": (
        {"simulate.placement": {"nodes": "listed", "hosts": [0, 1]}},
        ("2 for 4 nodes", "placement: hosts"),
    ),
    "slots of the smallest job": (
        {"simulate.placement": {"rank_order": "listed", "slots": [1, 0, 2, 3]}},
        ("placement: slots", "4 for 1 ranks"),
    ),
    "cable": (
        {"network.slow_links": [{"between": ["host-0", "leaf-77"], "bandwidth_share": 0.5}]},
        ("there is no such link", "leaf-77"),
    ),
    "pattern of a job": (
        {"simulate.jobs": [{**JOB, "application": {"name": "patterns", "parameters": {"pattern": "bogus"}}}]},
        ("unknown pattern", "bogus"),
    ),
    "ranks of a job's pattern": (
        {"simulate.jobs": [{**JOB, "nodes": 1}]},
        ("distance of a shift", "distance"),
    ),
    "value of a study": (
        study(reduce={"keys": ["simulate.collectives.allreduce"], "values": ["ring", "bogus"]}),
        ("collectives.allreduce", "reduce=bogus"),
    ),
    "values of a study together": (
        study(
            chunk={"keys": ["network.chunk"], "values": ["2 KiB", "8 KiB"]},
            buffer={"keys": ["network.input_buffer"], "values": ["16 KiB", "4 KiB"]},
        ),
        ("input_buffer", "cannot hold a chunk"),
    ),
    "node of a study": (
        study(slow={"keys": ["simulate.slow_node.node"], "values": [0, 3]}) | {"sensitivity.nodes": [2]},
        ("slow_node: node", "0 to 1"),
    ),
    "parameter of the pre-flight check": (
        {"simulate.preflight": {"vary": {"simulate.replicas": [1, 2]}}},
        ("simulate.replicas", "no part of phase 3"),
    ),
    "collective to validate": (
        {
            "validation.collectives": [
                {"collective": "bcast", "bytes": 8, "nodes": 4, "ranks_per_node": 1, "seconds": 1.0}
            ],
            "simulate.placement": {"nodes": "listed", "hosts": [0, 1, 2, 3]},
            "nodes": [1],
            "simulate.collectives": {"bcast": "bogus"},
        },
        ("collectives.bcast", "bogus"),
    ),
    "flow control of simgrid": (
        {"simulate.engine": "simgrid", "network.flow_control": "credits"},
        ("network.flow_control",),
    ),
    "slow links of sst": (
        {
            "simulate.engine": "sst",
            "network.slow_links": [{"between": ["host-0", "leaf-0"], "bandwidth_share": 0.5}],
        },
        ("sst engine cannot slow down single links",),
    ),
    "rates of sst": (
        {
            "simulate.engine": "sst",
            "network.topology": TORUS,
            "network.link_classes": {"dim1-plus": {"bandwidth": "10 Gbit/s", "latency": "1 us"}},
            "nodes": [2],
        },
        ("two directions of a cable",),
    ),
    "what the confirming engine cannot do": (
        study(bandwidth={"keys": ["network.link.bandwidth"], "values": ["20 Gbit/s", "100 Gbit/s"]})
        | {"network.contention": False, "sensitivity.confirm": {"engine": "sst"}},
        ("sst engine cannot leave contention out",),
    ),
    "core of gem5": ({"nodesim.engine": "gem5", "machine.core.dispatch_width": 16}, ("wider than gem5's",)),
    "memory of gem5": (
        {"nodesim.engine": "gem5", "machine.memory.latency": "1 ns"},
        ("faster than the caches before it",),
    ),
}


@pytest.mark.parametrize(("changes", "words"), REFUSED.values(), ids=REFUSED)
def test_what_a_later_step_would_refuse_is_refused_at_once(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        missing(changes)
    for word in words:
        assert word in caught.value.render()
    assert "the file" in caught.value.render()


@pytest.mark.parametrize("engine", ["fast", "simgrid", "sst"])
def test_what_is_right_passes_whatever_is_installed(engine: str) -> None:
    lacking = missing({"simulate.engine": engine})
    assert set(lacking) <= {"simulate"}


def test_every_phase_is_asked() -> None:
    assert {entry.name for entry in entry_points(group=GROUP)} == {"profile", "nodesim", "simulate"}


def test_a_damaged_timing_profile_of_a_job_is_input_data(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text("{}")
    with pytest.raises(InputError) as caught:
        missing({"simulate.jobs": [{**JOB, "nodes": 3, "timing_profile": str(profile)}]})
    assert str(profile) in caught.value.render()


def test_without_a_skeleton_the_engines_are_asked_for_all_the_same() -> None:
    program = str(pipeline.ROOT / "build" / "bin" / "hpcg")
    with pytest.raises(UsageError, match="network engine"):
        missing({"application": {"command": [program]}, "simulate.engine": "slow"})


def fails(done: Any, code: int, *words: str) -> None:
    text = done.stdout + done.stderr
    assert done.returncode == code and "Traceback" not in text, text
    for word in words:
        assert word in text


def test_check_and_run_refuse_alike_before_the_first_step(tmp_path: Path) -> None:
    path = pipeline.write(tmp_path, experiment({"simulate.collectives": {"allreduce": "bogus"}}))
    fails(pipeline.manynode("config", "check", path), 2, "collectives.allreduce", str(path))
    fails(pipeline.run(path, tmp_path), 2, "collectives.allreduce", str(path))
    assert not (tmp_path / "results").exists()


def test_without_the_native_build_that_is_what_lacks(tmp_path: Path) -> None:
    nowhere = {"MANYNODE_BUILD_DIR": str(tmp_path / "nowhere")}
    right = pipeline.write(tmp_path, experiment({}), "right.yaml")
    fails(pipeline.manynode("config", "check", right, env=nowhere), 4, "valid", "has not been built", "make build")
    wrong = pipeline.write(tmp_path, experiment({"simulate.engine": "slow"}), "wrong.yaml")
    fails(pipeline.manynode("config", "check", wrong, env=nowhere), 2, "simulate: engine")


def test_a_missing_engine_is_told_before_the_first_step(tmp_path: Path) -> None:
    content = experiment({"simulate.engine": "sst", "simulate.sst": {"executable": "no-such-sst"}})
    path = pipeline.write(tmp_path, content)
    fails(pipeline.manynode("config", "check", path), 4, "valid", "no-such-sst")
    fails(pipeline.run(path, tmp_path), 4, "no-such-sst")
    assert not (tmp_path / "results").exists()
    # What stops before that engine is asked for, runs.
    done = pipeline.run(path, tmp_path, ["--dry-run", "--until", "phase1_classify_ranks"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_of_several_experiments_the_last_is_checked_before_the_first_starts(tmp_path: Path) -> None:
    right = pipeline.write(tmp_path, experiment({"name": "right"}), "right.yaml")
    wrong = pipeline.write(tmp_path, experiment({"name": "wrong", "simulate.engine": "slow"}), "wrong.yaml")
    fails(pipeline.run(right, tmp_path, [wrong]), 2, "simulate: engine", str(wrong))
    assert not (tmp_path / "results").exists()
