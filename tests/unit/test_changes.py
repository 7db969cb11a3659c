"""``--set KEY=VALUE``: its changes, that the result stands alone, its refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode.config.changes import changed, read_changes
from manynode.config.loader import load_experiment, resolve
from manynode.errors import UsageError
from manynode.paths import ROOT
from manynode.run import resolve_with

OWN_TIMES = ROOT / "configs" / "own-times.yaml"


@pytest.fixture
def file(tmp_path: Path, demo: dict[str, Any]) -> Path:
    path = tmp_path / "demo.yaml"
    path.write_text(yaml.safe_dump(demo))
    return path


def test_values_are_what_they_look_like() -> None:
    found = read_changes(["a.b=2", "c=20 Gbit/s", "d=[1, 2]", "e={kind: torus}", "f=", "g=x=y"])
    assert found == {"a.b": 2, "c": "20 Gbit/s", "d": [1, 2], "e": {"kind": "torus"}, "f": None, "g": "x=y"}


@pytest.mark.parametrize("texts", [["a"], ["=2"], ["a..b=2"], ["a=2", "a=3"], ["a=[1"]])
def test_what_is_no_change_is_refused(texts: list[str]) -> None:
    with pytest.raises(UsageError):
        read_changes(texts)


def test_a_change_reaches_into_the_network_that_the_experiment_names(file: Path, tmp_path: Path) -> None:
    content = changed(file, {"network.link.bandwidth": "20 Gbit/s", "nodes": [1, 2], "simulate.replicas": 2})
    elsewhere = tmp_path / "elsewhere" / "experiment.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_text(yaml.safe_dump(content))
    resolved = load_experiment(elsewhere).content
    assert resolved["network"]["link"]["bandwidth"] == 2.5e9
    assert resolved["nodes"] == [1, 2] and resolved["simulate"]["replicas"] == 2
    before = load_experiment(file).content
    assert resolved["network"]["topology"] == before["network"]["topology"]
    assert resolved["machine"] == before["machine"]


def test_without_changes_it_is_the_same_experiment(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.yaml"
    copy.write_text(yaml.safe_dump(changed(file, {})))
    assert load_experiment(copy).digest() == load_experiment(file).digest()


def test_another_network_by_name_and_then_a_part_of_it(file: Path) -> None:
    content = changed(file, {"network": "paper-torus"})
    assert content["network"]["topology"]["kind"] == "torus"
    with pytest.raises(UsageError, match="did you mean 'paper-torus'"):
        changed(file, {"network": "paper-tours"})


def test_paths_are_absolute_afterwards(tmp_path: Path, demo: dict[str, Any]) -> None:
    """A further job's timing profile and a network file, both named relative to the experiment."""
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "profile.json").write_text("{}")
    network = changed(_written(tmp_path, demo), {})["network"]
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(network))
    demo["network"] = "mine.yaml"
    demo["simulate"]["jobs"] = [
        {"name": "n", "application": {"name": "hpcg"}, "nodes": 2, "timing_profile": "jobs/profile.json"}
    ]
    content = changed(_written(tmp_path, demo), {"simulate.jobs.0.nodes": 4})
    job = content["simulate"]["jobs"][0]
    assert job["nodes"] == 4 and job["timing_profile"] == str(tmp_path / "jobs" / "profile.json")
    assert content["network"] == network


PROGRAM = {"application": {"command": ["./program", "3"], "guest": "./program"}}
DERIVED = {"application": {"command": ["./program", "{nx}"], "derived": "toy.skeleton.yaml"}}
OWN = {"own_times": {"phases": "own.csv", "alone": [{"phase": "compute", "mean": "1 us"}]}}


@pytest.mark.parametrize(
    ("changes", "parameters"),
    [
        (PROGRAM, {}),
        (DERIVED, {"application.parameters.nx": 16}),
        ({**DERIVED, **OWN}, {}),
        ({"known_errors": ["own.csv"]}, {}),
        ({"nodesim": {"engine": "gem5", "nodes": 2, "gem5": {"executable": "./program"}}}, {}),
    ],
)
def test_it_stands_alone_whatever_files_it_names(
    tmp_path: Path, demo: dict[str, Any], changes: dict[str, Any], parameters: dict[str, Any]
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "program").write_text("#!/bin/sh\n")
    (here / "program").chmod(0o755)
    (here / "own.csv").write_text("phase,mean,spread\ncompute,3 us,0.1\n")
    body = [{"compute": "compute"}, {"call": "MPI_Allreduce", "bytes": "nx"}]
    skeleton = {
        **{"schema": "derived-skeleton/1", "name": "toy", "program": {"command": ["program", "{nx}"], "mpi": "mpich"}},
        **{"parameters": {"nx": {"default": 8, "recorded": [8]}}, "phases": ["compute"], "body": body},
        "grid": {"rule": "least-surface", "dimensions": 1, "periodic": [False]},
    }
    (here / "toy.skeleton.yaml").write_text(yaml.safe_dump(skeleton))
    path = _written(here, {**demo, **changes})
    content = changed(path, parameters)
    elsewhere = resolve(content, where="elsewhere", base=tmp_path)
    assert elsewhere.content == resolve_with(path, parameters).content
    assert parameters or elsewhere.digest() == load_experiment(path).digest()


@pytest.mark.parametrize("key", ["machine", "nodesim.engine", "profile.repetitions"])
def test_a_change_of_what_is_measured_is_refused_where_nothing_is(key: str) -> None:
    with pytest.raises(UsageError, match="the compute times are the user's own"):
        changed(OWN_TIMES, {key: {"machine": "wide-core", "nodesim.engine": "native"}.get(key, 2)})
    other = {"machine": "wide-core", "own_times.source": "another machine's"}
    assert changed(OWN_TIMES, other)["machine"]["name"] != load_experiment(OWN_TIMES).machine.name


def _written(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("simulate.replcas", "did you mean 'replicas'"),
        ("ranks_per_node.deep", "which has no keys"),
        ("nodes.99", "no such entry"),
        ("nodes.0.deep", "which has no keys"),
        ("nodes.²", "no such entry"),
        ("simulate.\ud800", "control character"),
        ("validation", "validation"),
        ("profile.nodes.2", "nodesim"),
    ],
)
def test_a_wrong_key_is_refused(file: Path, key: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        changed(file, {key: 77})
