"""Quantities and machine files."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from phase2_cases import MACHINES, machine
from pydantic import Field, ValidationError

from manynode.config.caches import Cache
from manynode.config.machine import Machine
from manynode.config.quantities import RESOLVED, Latency, PositiveBytes, Section, written


class Example(Section):
    latency: Latency = Field(default=written("90 ns"), description="a latency")
    size: PositiveBytes = Field(description="a size")


def content() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((MACHINES / "broadwell.yaml").read_text())
    return loaded


def test_a_string_becomes_an_si_float() -> None:
    got = Example.model_validate({"size": "64 KiB"})
    assert got.size == 65536.0 and got.latency == pytest.approx(90e-9)
    assert Example.model_validate(got.model_dump(), context=RESOLVED) == got


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": 64}, "write a number and a unit"),
        ({"size": "64"}, "write a number and a unit"),
        ({"size": True}, "write a number and a unit"),
        ({"size": None}, "write a number and a unit"),
        ({"size": "64 ns"}, "is not a size"),
        ({"size": "-1 B"}, "greater than or equal to 1 B"),
        ({"size": "1 B", "latency": "2 s"}, "less than or equal to 1 s"),
        ({"size": "1 B", "latncy": "2 s"}, "Extra inputs"),
        ({"size": "inf B"}, "not a quantity"),
    ],
)
def test_a_wrong_quantity_says_what_is_right(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Example.model_validate(given)


def test_a_resolved_document_keeps_its_bounds() -> None:
    with pytest.raises(ValidationError, match="greater than or equal"):
        Example.model_validate({"size": 0.0}, context=RESOLVED)


def test_the_schema_describes_strings_with_bounds() -> None:
    schema = Example.model_json_schema()["properties"]["latency"]
    assert schema["type"] == "string"
    assert schema["default"] == "90 ns"
    assert schema["x-bounds"] == ">= 0 ns, <= 1 s"


@pytest.mark.parametrize("path", sorted(MACHINES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_machine_file_is_valid_and_named_like_its_file(path: Any) -> None:
    node = machine(path.stem)
    assert node.name == path.stem and node.description
    assert Machine.model_validate(json.loads(node.model_dump_json()), context=RESOLVED) == node


def test_broadwell_is_the_node_of_the_paper() -> None:
    node = machine()
    assert (node.cores(), node.frequency) == (36, 2.3e9)
    assert node.memory_cycles() == pytest.approx(207)
    assert node.last_level_share(36) == 2.5 * 2**20


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (("caches", "last_level", "size"), "128 KiB", "last_level: size"),
        (("caches", "last_level", "latency"), 3, "last_level: latency"),
        (("caches", "l2", "line"), "128 B", "line must be that of l1d"),
        (("caches", "l1d", "line"), "48 B", "power of two"),
        (("caches", "l1d", "size"), "32000.5 B", "whole number"),
        (("core", "dispatch_width"), 0, "greater than or equal to 1"),
        (("core", "sustained_width"), 4.5, "at most dispatch_width .found 4.5 and 4"),
        (("core", "dispatch_efficiency"), 1.5, "less than or equal to 1"),
        (("memory", "latency"), "90", "number and a unit"),
        (("cores_per_socket",), -1, "greater than or equal to 1"),
        (("caches", "l2", "replacement"), "adaptive", "only last_level has other policies"),
        (("caches", "l1d", "replacement"), "random", "only last_level has other policies"),
        (("caches", "l2", "line_fill"), 0.5, "l2: line_fill must be 0 .found 0.5.: only l1d has it"),
        (
            ("caches", "last_level", "write_interval"),
            2,
            "last_level: write_interval must be 0 .found 2.: only l2 has it",
        ),
        (
            ("caches", "l2", "other_traffic"),
            "20 GB/s",
            "l2: other_traffic must be empty .found 2e.10.: only last_level",
        ),
        (("caches", "last_level", "other_traffic"), "0 GB/s", "greater than or equal to 8 Mbit/s"),
        (("caches", "last_level", "replacement"), "plru", "'lru', 'random' or 'adaptive'"),
    ],
)
def test_an_impossible_machine_is_refused(where: tuple[str, ...], value: Any, message: str) -> None:
    changed = content()
    at = changed
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = value
    with pytest.raises(ValidationError, match=message):
        Machine.model_validate(changed)


def test_a_cache_holds_a_line_for_each_way() -> None:
    with pytest.raises(ValidationError, match="ways"):
        Cache.model_validate({"size": "1 KiB", "associativity": 32, "latency": 4})


@given(st.dictionaries(st.sampled_from(["name", "frequency", "core", "caches", "memory", "x"]), st.text() | st.none()))
def test_a_fuzzed_machine_is_only_ever_a_validation_error(changes: dict[str, Any]) -> None:
    try:
        Machine.model_validate({**content(), **changes})
    except ValidationError as error:
        assert str(error)


def test_duelling_needs_sets_for_both_policies() -> None:
    small = content()
    small["caches"]["last_level"] |= {"replacement": "adaptive", "associativity": 256, "size": "1 MiB"}
    assert Machine.model_validate(small).caches.last_level.replacement == "adaptive"
    small["caches"]["last_level"]["size"] = "1008 KiB"
    with pytest.raises(ValidationError, match=r"at least 64 sets.*found 63"):
        Machine.model_validate(small)
