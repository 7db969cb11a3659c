"""Controls as the page shows them: bounds in the key's unit, and a range for maps that Axis reads."""

from __future__ import annotations

from typing import Any

import pytest

from phase3_sst.explore.axis import Axis
from phase3_sst.explore.controls import Control
from phase3_sst.explore.server.described import described


def control(kind: str, value: Any, **more: Any) -> Control:
    return Control(key="simulate.key", label="key", kind=kind, group="run", help="what it is", value=value, **more)


def suggested(one: Control) -> Axis:
    axis = described(one)["axis"]
    return Axis.model_validate({"keys": [one.key], **axis})


def test_bounds_are_written_in_the_unit_of_the_key() -> None:
    found = described(control("quantity", "100 Gbit/s", dimension="bandwidth", least=1.25e5, most=1e15, scale="log"))
    assert (found["at_least"], found["at_most"]) == ("1 Mbit/s", "8000 Tbit/s")
    found = described(control("number", 4, least=1, most=float("inf"), whole=True))
    assert (found["at_least"], found["at_most"]) == ("1", None)


@pytest.mark.parametrize(
    ("one", "ends"),
    [
        (
            control("quantity", "100 Gbit/s", dimension="bandwidth", least=1.25e5, most=1e15, scale="log"),
            ("25 Gbit/s", "400 Gbit/s"),
        ),
        (control("quantity", "90 ns", dimension="time", least=0.0, most=2e-7, scale="log"), ("22.5 ns", "200 ns")),
        (control("number", 64, whole=True, least=1, most=100, scale="log"), (16, 100)),
        (control("number", 1, whole=True, least=1, most=2304, scale="log"), (1, 4)),
        (control("number", 10, start=5, whole=True, least=1, scale="log"), (2, 20)),
        (control("number", 1.5, least=1.0, scale="linear"), (1.0, 6.0)),
        (control("number", 0, whole=True, least=0, scale="linear"), (0, 1)),
    ],
)
def test_a_range_around_the_value_is_suggested_within_the_bounds(one: Control, ends: tuple[Any, Any]) -> None:
    axis = suggested(one)
    assert (axis.low, axis.high) == ends
    assert axis.scale == one.scale and len(axis.written) >= 2


def test_choices_are_the_values_of_an_axis_and_structures_are_none() -> None:
    assert suggested(control("choice", "a", choices=["a", "b", None])).written == ("a", "b")
    for kind, value in (("choice", "a"), ("bool", True), ("text", "a"), ("structure", {})):
        assert described(control(kind, value, choices=["a"] if kind == "choice" else []))["axis"] is None


def test_a_key_without_a_value_has_an_axis_without_a_range() -> None:
    axis = described(control("quantity", None, dimension="size", optional=True, scale="log"))["axis"]
    assert axis == {"kind": "size", "scale": "log", "n": 8}
