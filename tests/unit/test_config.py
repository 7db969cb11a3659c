"""Experiment files: valid ones are resolved to SI units, mistakes are named with place and remedy."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from manynode import cli
from manynode.config import generate
from manynode.config.loader import load_experiment, resolve
from manynode.config.resolved import read_yaml, resolve_json
from manynode.errors import ManynodeError, UsageError
from manynode.reference import commands

ROOT = Path(__file__).resolve().parent.parent.parent


def resolved(content: dict[str, Any]) -> dict[str, Any]:
    return resolve(content, where="test", base=ROOT).content


def message(content: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as caught:
        resolved(content)
    assert caught.value.exit_code == 2
    return caught.value.render()


def test_quantities_become_si_floats(demo: dict[str, Any]) -> None:
    content = resolved(demo)
    assert content["network"]["link"]["bandwidth"] == 12.5e9
    assert content["network"]["link"]["latency"] == pytest.approx(90e-9)
    assert content["machine"]["frequency"] == 2.3e9


def test_parameters_of_the_application_are_completed_with_defaults(demo: dict[str, Any]) -> None:
    del demo["application"]["parameters"]["levels"]
    assert resolved(demo)["application"]["parameters"]["levels"] == 4


def test_a_resolved_experiment_reads_back_as_itself(demo: dict[str, Any]) -> None:
    content = resolved(demo)
    again = resolve_json(json.loads(json.dumps(content)), "test")
    assert again.model_dump(mode="json")["network"] == content["network"]


def test_the_digest_of_a_section_changes_with_that_section_only(demo: dict[str, Any]) -> None:
    before = resolve(demo, where="test", base=ROOT)
    demo["simulate"]["replicas"] += 1
    after = resolve(demo, where="test", base=ROOT)
    assert before.digest("profile", "nodesim") == after.digest("profile", "nodesim")
    assert before.digest("simulate") != after.digest("simulate")


@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "configs").glob("*.yaml")))
def test_every_shipped_experiment_is_valid_and_fits_the_schema(name: str) -> None:
    path = ROOT / "configs" / name
    load_experiment(path)
    jsonschema.validate(yaml.safe_load(path.read_text()), json.loads(generate.json_schema()))


GENERATED = generate.generated_files(commands.page(cli.app))


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_generated_files_are_in_step_with_the_declarations(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == GENERATED[path], "run 'make docs'"


def test_an_unknown_key_names_its_place_and_the_nearest_right_one(demo: dict[str, Any]) -> None:
    demo["simulate"]["replcas"] = 3
    assert "simulate: replcas: unknown key; did you mean 'replicas'?" in message(demo)


def test_an_unknown_key_inside_the_network_names_the_nearest_right_one(demo: dict[str, Any]) -> None:
    demo["network"] = read_yaml(ROOT / "configs/networks/opa100-fat-tree.yaml", "network")
    demo["network"]["host"]["eager_limt"] = "8 KiB"
    assert "network: host: eager_limt: unknown key; did you mean 'eager_limit'?" in message(demo)


@pytest.mark.parametrize("latency", ["90", "90 GB", 90, "ninety ns", "-5 ns", "1e400 s", "90 ns; rm -rf /", None, [1]])
def test_a_wrong_quantity_is_refused_with_an_example(demo: dict[str, Any], latency: object) -> None:
    demo["network"] = read_yaml(ROOT / "configs/networks/opa100-fat-tree.yaml", "network")
    demo["network"]["link"]["latency"] = latency
    assert "network: link: latency" in message(demo)


@pytest.mark.parametrize("nodes", [[-1], [0], [], [1, 1], "4", [1.5], [True]])
def test_wrong_node_counts_are_refused(demo: dict[str, Any], nodes: object) -> None:
    demo["nodes"] = nodes
    text = message(demo)
    assert "nodes" in text


def test_more_nodes_than_the_network_has_room_for_are_refused(demo: dict[str, Any]) -> None:
    demo["nodes"] = [4096]
    assert "has room for 2304" in message(demo)


def test_an_unknown_machine_names_the_known_ones(demo: dict[str, Any]) -> None:
    demo["machine"] = "brodwell"
    text = message(demo)
    assert "did you mean 'broadwell'?" in text


def test_an_application_that_does_not_exist_is_named(demo: dict[str, Any]) -> None:
    demo["application"]["name"] = "hpgc"
    assert "did you mean 'hpcg'?" in message(demo)


@pytest.mark.parametrize(("name", "value"), [("nx", 0), ("nx", "16"), ("iterations", 0), ("nx", True), ("nxx", 16)])
def test_wrong_parameters_of_the_application_are_refused(demo: dict[str, Any], name: str, value: object) -> None:
    demo["application"]["parameters"][name] = value
    assert f"application: parameters: {name}" in message(demo)


def test_a_missing_program_is_refused_before_anything_runs(demo: dict[str, Any]) -> None:
    demo["application"] = {"command": ["./no-such-program"]}
    assert "no program './no-such-program'" in message(demo)


def test_a_machine_name_cannot_leave_its_folder(demo: dict[str, Any]) -> None:
    demo["machine"] = "../networks/opa100-fat-tree"
    assert "unknown machine" in message(demo)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\na: 2\n", "given twice"),
        ("- 1\n- 2\n", "not a mapping"),
        ("a: [1, 2\n", "not valid YAML"),
        ("a: !!python/object/apply:os.system ['true']\n", "not valid YAML"),
        ("", "not a mapping"),
        ("{1: 2, [3]: 4}", ""),
    ],
)
def test_a_file_that_is_no_experiment_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_experiment(path)
    assert words in caught.value.render()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_experiment(tmp_path / "none.yaml")


_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
)
_keys = st.sampled_from(
    ["name", "nodes", "application", "machine", "network", "profile", "nodesim", "simulate", "seed"]
)


@settings(max_examples=150, deadline=None)
@given(changes=st.dictionaries(_keys, _values, min_size=1, max_size=4))
def test_no_change_of_an_experiment_brings_a_traceback(changes: dict[str, Any]) -> None:
    content = {**read_yaml(ROOT / "configs/demo.yaml", "the demo"), **changes}
    try:
        resolved(content)
    except ManynodeError as error:
        assert error.render()


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=400))
def test_no_bytes_bring_a_traceback(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "x.yaml"
    path.write_bytes(data)
    with pytest.raises(UsageError):
        load_experiment(path)


def test_turns_are_for_the_native_engine(demo: dict[str, Any]) -> None:
    demo["nodesim"] = {"engine": "valgrind", "nodes": 4, "turns": True}
    assert "nodesim: turns: has no effect with engine: valgrind" in message(demo)
    demo["nodesim"]["engine"] = "native"
    assert resolved(demo)["nodesim"]["turns"]


def test_processor_time_is_for_the_native_engine_and_one_thread(demo: dict[str, Any]) -> None:
    demo["nodesim"] = {"engine": "valgrind", "nodes": 4, "clock": "processor"}
    assert "nodesim: clock: has no effect with engine: valgrind" in message(demo)
    demo["nodesim"]["engine"] = "native"
    assert resolved(demo)["nodesim"]["clock"] == "processor"
    demo["application"]["threads"] = 2
    assert "nodesim: clock: processor counts one thread of a rank" in message(demo)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_damaged_experiment_file_brings_no_traceback(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = bytearray((ROOT / "configs/demo.yaml").read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("fuzz") / "x.yaml"
    path.write_bytes(bytes(text))
    try:
        load_experiment(path)
    except ManynodeError as error:
        assert error.render()


def test_the_template_of_a_machine_file_is_a_machine_with_every_key() -> None:
    from manynode.config.generate import machine_yaml
    from manynode.config.machine import Core, Machine

    text = machine_yaml()
    generic = read_yaml(ROOT / "configs" / "machines" / "generic.yaml", "the machine")
    filled = {**yaml.safe_load(text), "name": "generic", "description": generic["description"]}
    assert Machine.model_validate(filled) == Machine.model_validate(generic)
    shown = set(re.findall(r"^ *(?:# )?(\w+):", text, re.M))
    assert {*Machine.model_fields, *Core.model_fields} <= shown
