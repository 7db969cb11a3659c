"""The reference page of derived skeletons has every key, call, function and rule, and its example is right."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from manynode.config import yaml_text
from manynode.derived import expression, skeleton_file, skeleton_model
from manynode.derived.call_forms import CALL_FORMS
from manynode.derived.grids import RULES
from manynode.derived.skeleton_model import Family
from manynode.paths import ROOT

PAGE = (ROOT / "docs" / "reference" / "derived-skeletons.md").read_text(encoding="utf-8")
MODELS = [
    skeleton_model.DerivedSkeleton, skeleton_model.ProgramSection, skeleton_model.Parameter,
    skeleton_model.GridSection, skeleton_model.Distribution, skeleton_model.CommunicatorSection, skeleton_model.Doubt,
    skeleton_model.Item, skeleton_model.Approximate, skeleton_model.RecordedRun, skeleton_model.HeldOut,
    skeleton_model.Growth,
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_every_key_is_described(model: type) -> None:
    for name, field in model.model_fields.items():  # type: ignore[attr-defined]
        assert f"`{field.alias or name}`" in PAGE, name


def test_every_call_has_its_keys() -> None:
    table = {}
    for row in re.findall(r"^\| (MPI_.*) \|$", PAGE, re.M):
        calls, required, optional = (cell.strip() for cell in row.split("|"))
        for call in calls.split(", "):
            table[call] = (set(re.findall(r"`(\w+)`", required)), set(re.findall(r"`(\w+)`", optional)))
    blocking = {name: form for name, form in CALL_FORMS.items() if "request" not in form.required}
    assert table == {name: (set(form.required), set(form.optional)) for name, form in blocking.items()}


def test_every_function_and_rule_is_described() -> None:
    for name in (*expression._FUNCTIONS, *expression._PLACES):
        assert f"`{name}(" in PAGE
    rules = PAGE.partition("| rule |")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \| [^|]*\|$", rules, re.M) == [
        "least-surface", "dealt", "dims-create-mpich", "dims-create-openmpi", "line", "squarest", "hpcg",
    ]  # fmt: skip
    assert all(f"| `{rule}` |" in PAGE for rule in RULES)


def test_every_family_of_growth_is_described() -> None:
    table = PAGE.partition("| family |")[2].partition("\n## ")[0]
    assert all(f"`{family}`" in table for family in get_args(Family))


def test_the_example_is_right() -> None:
    example = PAGE.partition('```yaml title="stencil.yaml"\n')[2].partition("```")[0]
    skeleton = skeleton_file.checked(yaml_text.parse(example), "example")
    assert skeleton.name == "stencil" and skeleton_file.scope_of(skeleton, 12).value("d1") == 4
