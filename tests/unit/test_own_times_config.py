"""The section ``own_times``: what it reads, and the error for each mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode.config.loader import load_experiment, resolve
from manynode.config.own_times_template import template
from manynode.config.resolved import read_yaml
from manynode.errors import ManynodeError, UsageError

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "configs" / "own-times.yaml"
PHASES = "setup initial zero pack symgs residual dot direction spmv update checksum".split()


def rows(**changes: dict[str, Any]) -> list[dict[str, Any]]:
    """A row of 1 ms for each phase of HPCG, with changes by phase."""
    return [{"phase": name, "mean": "1 ms", **changes.get(name, {})} for name in PHASES]


def refused(own: dict[str, Any], base: Path = ROOT, **further: Any) -> str:
    """The message for the example with another section."""
    content = {**read_yaml(EXAMPLE, "the experiment"), "own_times": own, **further}
    with pytest.raises(ManynodeError) as caught:
        resolve(content, where="test", base=base)
    return caught.value.render()


def test_the_example_holds_its_table_and_names_it() -> None:
    own = load_experiment(EXAMPLE).own_times
    assert own is not None and own.source == "own-times.csv" and own.machine == "our cluster"
    assert {row.phase: row.mean for row in own.phases}["symgs"] == pytest.approx(60e-6)
    assert [row.phase for row in own.phases] == PHASES
    again = load_experiment(EXAMPLE)
    assert again.digest("own_times") == load_experiment(EXAMPLE).digest("own_times")
    assert again.content["own_times"]["phases"][4] == {
        **{"phase": "symgs", "mean": pytest.approx(60e-6), "spread": 0.02, "between_ranks": 0.5, "class": None}
    }


CLASSES = {"inner": {"share": 0.75}, "outer": {"share": 0.25, "ranks": [0, -1]}}
BOTH = [row | {"class": name} for row in rows() for name in CLASSES]


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({}, ["give 'phases'", "'alone'"]),
        ({"phases": rows()[:-2]}, ["no row for update, checksum", "mean: 0 s"]),
        ({"phases": [*rows(), {"phase": "symgz", "mean": "1 s"}]}, ["symgz", "did you mean 'symgs'?"]),
        ({"phases": rows(symgs={"mean": 0.001})}, ["mean", "unit"]),
        ({"phases": rows(symgs={"mean": "0.001"})}, ["mean", "unit"]),
        ({"phases": rows(symgs={"mean": "-1 ms"})}, ["mean", "greater than or equal to"]),
        ({"phases": rows(symgs={"mean": "1 GB"})}, ["mean", "1 GB"]),
        ({"phases": rows(symgs={"spread": -0.1})}, ["spread", "greater than or equal to 0"]),
        ({"phases": rows(symgs={"between_ranks": 0.5})}, ["between_ranks", "without a spread"]),
        ({"phases": rows(symgs={"mean": "0 s", "spread": 0.1})}, ["takes no time"]),
        ({"phases": rows(symgs={"class": "inner"})}, ["'inner' does not exist", "'classes' declares them"]),
        ({"phases": [*rows(), rows()[0]]}, ["setup is given twice for all classes"]),
        ({"phases": BOTH[:-1], "classes": CLASSES}, ["checksum has no row for class 'outer'"]),
        ({"phases": [*BOTH, rows()[0]], "classes": CLASSES}, ["for all classes and for a class too"]),
        ({"phases": rows(), "classes": {"a": {"share": 0.5}}}, ["shares add up to 0.5"]),
        (
            {"phases": rows(), "classes": {"a": {"share": 1.0, "ranks": [0]}, "b": {"share": 0.0, "ranks": [0]}}},
            ["rank 0 is also of class 'a'"],
        ),
        ({"alone": rows()}, ["the technique ext-const needs times beside external ranks", "leave ext-const, ext-var"]),
        ({"alone": BOTH, "phases": BOTH, "classes": CLASSES}, ["alone", "no classes"]),
        ({"phases": "nowhere.csv"}, ["does not exist", "nowhere.csv"]),
    ],
)
def test_a_mistake_is_named_with_its_place(own: dict[str, Any], words: list[str]) -> None:
    message = refused(own)
    for word in ["own_times", *words]:
        assert word in message, message


@pytest.mark.parametrize(
    ("further", "word"),
    [
        ({"techniques": ["no-ext-const"]}, "needs times of a node that runs alone"),
        ({"simulate": {"profile_bootstrap": 5}}, "no samples"),
        ({"simulate": {"tail": True}}, "tail"),
    ],
)
def test_what_needs_measurements_is_refused(further: dict[str, Any], word: str) -> None:
    assert word in refused({"phases": rows()}, **further)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("phase,mean\nsymgs\n", ["own.csv:2", "1 values"]),
        ("phase,mean\nsymgs,\n", ["own.csv:2, column mean", "gap"]),
        ("phase,mean\nsymgs,1.2\n", ["own.csv:2", "unit", "1.2 ms"]),
        ("phase,mean\nsymgs,-3 us\n", ["own.csv:2", "greater than or equal"]),
        ("phase,mean,spread\nsymgs,3 us,much\n", ["own.csv:2, column spread", "'much'"]),
        ("phase,maen\nsymgs,3 us\n", ["unknown column", "did you mean 'mean'?"]),
        ("phase,spread\nsymgs,3\n", ["a column is missing", "'mean'"]),
        ("# nothing\nphase,mean\n", ["no rows"]),
    ],
)
def test_a_mistake_in_a_table_is_named_with_its_line(tmp_path: Path, text: str, words: list[str]) -> None:
    (tmp_path / "own.csv").write_text(text)
    message = refused({"phases": "own.csv"}, tmp_path)
    for word in words:
        assert word in message, message


def test_a_spread_in_percent_and_empty_cells_are_read(tmp_path: Path) -> None:
    table = "\n".join(["phase,mean,spread,class", *(f"{name},2 us,3 %," for name in PHASES)])
    (tmp_path / "own.csv").write_text(table)
    content = {**read_yaml(EXAMPLE, "the experiment"), "own_times": {"phases": "own.csv"}}
    own = resolve(content, where="test", base=tmp_path).own_times
    assert own is not None and {(row.mean, row.spread, row.class_) for row in own.phases} == {(2e-6, 0.03, None)}


def test_times_of_another_machine_may_have_more_ranks_than_the_experiments_machine_has_cores() -> None:
    """The cores of the machine that was measured are not known here."""
    own = {"phases": rows(), "machine": "our cluster"}
    content = {**read_yaml(EXAMPLE, "the experiment"), "own_times": own, "ranks_per_node": 128}
    assert resolve(content, where="test", base=EXAMPLE.parent).ranks_per_node == 128
    assert "do not fit a node" in refused({"phases": rows()}, ranks_per_node=128)


def test_the_template_has_a_row_for_each_phase_and_is_refused_until_it_is_filled_in(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(template("hpcg"))
    assert "own.csv:6, column mean" in refused({"phases": "own.csv"}, tmp_path)
    (tmp_path / "own.csv").write_text(template(str(EXAMPLE)).replace(",,,\n", ",3 us,,\n"))
    content = {**read_yaml(EXAMPLE, "the experiment"), "own_times": {"phases": "own.csv"}}
    own = resolve(content, where="test", base=tmp_path).own_times
    assert own is not None and [row.phase for row in own.phases] == PHASES
    for name in ("no-such", "patterns"):
        with pytest.raises(UsageError):
            template(name)


def test_the_phases_of_a_derived_skeleton_are_those_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "toy.skeleton.yaml").write_text(yaml.safe_dump({
        **{"schema": "derived-skeleton/1", "name": "toy", "program": {"command": ["true"], "mpi": "mpich"}},
        **{"phases": ["a, b", "#1"], "body": [{"compute": "a, b"}, {"compute": "#1"}]},
        "grid": {"rule": "least-surface", "dimensions": 1, "periodic": [False]},
    }))  # fmt: skip
    content = {**read_yaml(EXAMPLE, "the experiment"), "application": {"derived": "toy.skeleton.yaml"}}
    content["application"]["command"] = ["true"]
    (tmp_path / "my.yaml").write_text(yaml.safe_dump({**content, "own_times": {"phases": "own.csv"}}))
    (tmp_path / "own.csv").write_text(template(str(tmp_path / "my.yaml")).replace(",,,\n", ",3 us,,\n"))
    own = load_experiment(tmp_path / "my.yaml").own_times
    assert own is not None and [row.phase for row in own.phases] == ["a, b", "#1"]
    content["own_times"] = {"phases": [{"phase": "a, b", "mean": "1 s"}]}
    with pytest.raises(UsageError, match="a compute phase has no time"):
        resolve(content, where="test", base=tmp_path)
