"""Derived skeletons in Python and in C++: the same expressions, grids and errors; HPCG as its skeleton in C++."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manynode.derived import grids, skeleton_file
from manynode.derived.expression import ExpressionError, Scope, parse
from manynode.derived.skeleton_model import DerivedSkeleton
from manynode.paths import ROOT, native_program

HPCG = ROOT / "tests" / "data" / "derived" / "hpcg.yaml"
MOST_RANKS = 4096
# A size has 50 bits and a tag the rest of a 64-bit number.
_SIZE_BITS = 50


def skeleton(**content: Any) -> DerivedSkeleton:
    return skeleton_file.checked({"schema": "derived-skeleton/1", "name": "toy", "body": [], **content}, "toy.yaml")


def native(
    command: str, made: DerivedSkeleton, ranks: Sequence[int], folder: Path, *,
    body: Sequence[dict[str, Any]] | None = None, **values: int,
) -> tuple[int, str]:  # fmt: skip
    """Run ``manynode-skeleton``; return its exit code and what it prints.

    ``body`` are items as C++ reads them, in place of the skeleton's: checks of so many in Python take most of the time.
    """
    content = skeleton_file.compile(made)
    text = json.dumps(content if body is None else {**content, "body": body})
    file = folder / "compiled.json"
    file.write_text(text, encoding="ascii")
    digest = skeleton_file.digest_of(text)
    parameters = json.dumps({"file": str(file), "digest": digest, "values": json.dumps(values)})
    options = ["--app", "derived", "--parameters", parameters, "--ranks", *map(str, ranks)]
    done = subprocess.run([str(native_program("manynode-skeleton")), command, *options], capture_output=True, text=True)
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr


def random_expression(draw: random.Random, depth: int) -> str:
    """Return an expression that has a value on most ranks."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(["P", "rank", "c0", "c1", "c2", "d0", "d2", "nx", "half", str(draw.randrange(20)), "null"])

    def part() -> str:
        return random_expression(draw, depth - 1)

    form = draw.randrange(13)
    if form < 4:
        return f"({part()} {draw.choice(['+', '-', '*', '//', '%', '^', '&', '|'])} {part()})"
    if form == 4:
        return f"({part()} {draw.choice(['<<', '>>'])} {draw.randrange(20)})"
    if form == 5:
        return f"({part()} {draw.choice(['<', '<=', '>', '>=', '==', '!='])} {part()})"
    if form == 6:
        return f"({part()} {draw.choice(['and', 'or'])} {part()})"
    if form == 7:
        return f"({part()} if {part()} else {part()})"
    if form == 8:
        return f"{draw.choice(['min', 'max'])}({part()}, {part()}, {part()})"
    if form == 9:
        return f"{draw.choice(['-', 'not ', '+'])}{part()}" if draw.random() < 0.5 else f"abs({part()})"
    if form == 10:
        return f"at({part()}, {part()}, {part()})"
    if form == 11:
        function = draw.choice(["log2(1 + {})", "smooth(1 + {})", "root({}, 3)", "block({}, P, rank)"])
        return function.format(f"abs({part()}) % 1000003")
    return f"({part()} < {part()} <= {part()})" if draw.random() < 0.5 else f"ceil_div({part()}, {part()})"


def without_outer(text: str) -> str:
    """Make ``not`` an operand that Python accepts anywhere."""
    return re.sub(r"not ([a-z0-9]+|P)\b(?!\()", r"(not \1)", text)


def with_expressions(texts: Sequence[str]) -> DerivedSkeleton:
    body = [
        {
            "call": "MPI_Send",
            "peer": "null",
            "bytes": f"({text}) & {2**_SIZE_BITS - 1}",
            "tag": f"({text}) >> {_SIZE_BITS} & {2 ** (64 - _SIZE_BITS) - 1}",
        }
        for text in texts
    ]
    return skeleton(
        parameters={"nx": {"default": 16}},
        definitions={"half": "nx // 2 + c1"},
        grid={"rule": "dims-create-mpich", "dimensions": 3, "periodic": [True, False, False]},
        body=body,
    )


def drawn_expressions(number: int) -> list[str]:
    draw = random.Random(20)
    texts = [without_outer(random_expression(draw, 4)) for _ in range(4 * number)]
    good = []
    for text in texts:
        try:
            parse(text, "here")
            good.append(text)
        except ExpressionError:  # "- not x" is none, and neither are expressions of too many levels
            continue
    return good[:number]


def value_on_ranks(text: str, scope: Scope, ranks: int) -> list[int]:
    value = parse(text, "here").evaluate(scope)
    return [value] * ranks if isinstance(value, int) else [int(one) for one in value]


@pytest.mark.parametrize("persistence", [0.0, 0.7, 1.0])
def test_both_ranks_of_a_block_draw_its_size(persistence: float, tmp_path: Path) -> None:
    """Sizes of all blocks of two collectives, as C++ draws them: those of a pair are equal, and have the mean."""
    ranks, calls = 16, 3
    blocks = {"call": "MPI_Alltoallv", "sent": {"draw": "keys"}, "received": {"draw": "keys"}}
    keys = {"mean": "(1 << 20) // P", "values": [*range(900, 1100)], "persistence": persistence}
    made = skeleton(distributions={"keys": keys}, body=[{"repeat": str(calls), "do": [blocks]}, {"free": ["none"]}])
    code, output = native("stream", made, [ranks], tmp_path)
    assert code == 0, output
    lists = [re.findall(r"(?:sent|received)=\[?([\d,]+)", line) for line in output.splitlines()]
    found = np.array([[[int(size) for size in one.split(",")] for one in pair] for pair in lists])
    found = found.reshape(ranks, calls, 2, ranks)
    assert (found[:, :, 0] == found[:, :, 1].transpose(2, 1, 0)).all()
    assert found.mean() == pytest.approx(2**20 // ranks, rel=0.02) and len(np.unique(found)) > 100
    stay = float((found[:, 1:] == found[:, :-1]).mean())
    assert stay == pytest.approx(persistence, abs=0.06)


@pytest.mark.parametrize("ranks", [1, 24, 60])
def test_expressions_have_the_same_values_in_python_and_cpp(ranks: int, tmp_path: Path) -> None:
    scope = skeleton_file.scope_of(with_expressions([]), ranks, {"nx": 9})
    expected = {}
    for text in drawn_expressions(500):
        try:
            expected[text] = value_on_ranks(text, scope, ranks)
        except ExpressionError:
            continue
    assert len(expected) > 250
    code, output = native("stream", with_expressions(list(expected)), [ranks], tmp_path, nx=9)
    assert code == 0, output
    found: dict[str, list[int]] = {text: [] for text in expected}
    for line, text in zip(output.splitlines(), [*expected] * ranks, strict=True):
        size, tag = (int(number) for number in re.findall(r"(?:bytes|tag)=(\d+)", line))
        number = tag << _SIZE_BITS | size
        found[text].append(number - 2**64 if number >= 2**63 else number)
    assert found == expected


def test_expressions_have_no_value_on_the_same_ranks_in_python_and_cpp(tmp_path: Path) -> None:
    ranks = 24
    scope = skeleton_file.scope_of(with_expressions([]), ranks)
    compared = 0
    for text in drawn_expressions(500):
        failing = []
        for rank in range(ranks):
            try:
                parse(text, "here").evaluate(scope.lanes(np.array([rank])))
            except ExpressionError:
                failing.append(rank)
        if not failing:
            value_on_ranks(text, scope, ranks)
            continue
        with pytest.raises(ExpressionError):
            value_on_ranks(text, scope, ranks)
        code, output = native("stream", with_expressions([text]), [ranks], tmp_path)
        assert code == 2 and "has no value" in output, (text, output)
        assert f"on rank {failing[0]} of {ranks}" in output and "body/0/" in output, (text, output)
        if (compared := compared + 1) == 60:
            break
    assert compared >= 40


GRIDS = [
    *((rule, dimensions) for rule in ("least-surface", "dealt", "dims-create-mpich") for dimensions in (1, 2, 3, 4)),
    ("dims-create-openmpi", 3), ("line", 2), ("squarest", 2), ("hpcg", 3), ("dealt", 5),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "dimensions"), GRIDS)
def test_rules_of_grids_give_the_same_extents_in_python_and_cpp(rule: str, dimensions: int, tmp_path: Path) -> None:
    """A loop of the body has -1 iterations, an error, if C++ finds other extents than Python.

    All sizes to 1024 and 256 drawn ones beyond; with ``MANYNODE_FUZZ=all`` all sizes to 4096.
    """
    draw = random.Random(rule)
    order, ties = draw.choice([("ascending", "first"), ("unsorted", "last"), ("descending", "first")])
    section = {"rule": rule, "dimensions": dimensions, "order": order, "ties": ties}
    made = skeleton(grid=section)
    step = 64  # C++ reads the whole body for each number of ranks
    drawn = sorted(draw.sample(range(1025, MOST_RANKS + 1), 256))
    every = range(1, MOST_RANKS + 1) if os.environ.get("MANYNODE_FUZZ") == "all" else [*range(1, 1025), *drawn]
    for first in range(0, len(every), step):
        sizes = every[first : first + step]
        body = []
        for ranks in sizes:
            found = grids.extents(rule, ranks, dimensions, order, ties)  # type: ignore[arg-type]
            equal = " and ".join(f"d{axis} == {extent}" for axis, extent in enumerate(found))
            body.append({"repeat": f"0 if {equal} else -1", "when": f"P == {ranks}", "do": []})
        code, output = native("check", made, sizes, tmp_path, body=body)
        assert code == 0 and output.split() == [str(size) for size in sizes], output


def test_a_grid_that_differs_would_be_found(tmp_path: Path) -> None:
    body = [{"repeat": "0 if d0 == 5 else -1", "when": "P == 12", "do": []}]
    made = skeleton(grid={"rule": "line", "dimensions": 1})
    code, output = native("check", made, [11, 12], tmp_path, body=body)
    assert code == 2 and "body/0/repeat" in output


@pytest.mark.parametrize("layout", ["first-fastest", "last-fastest"])
def test_ranks_have_the_same_places_in_python_and_cpp(layout: str, tmp_path: Path) -> None:
    made = skeleton(
        grid={"rule": "dealt", "dimensions": 3, "layout": layout, "periodic": [True, False, True]},
        body=[{"call": "MPI_Send", "peer": f"at({x}, {y}, {z})", "bytes": "(c0 * d1 + c1) * d2 + c2"}
              for x in (-1, 0, 2) for y in (-1, 1) for z in (0, 1)],
    )  # fmt: skip
    ranks = 36
    scope = skeleton_file.scope_of(made, ranks)
    code, output = native("stream", made, [ranks], tmp_path)
    assert code == 0
    expected = [
        (value_on_ranks(str(item.peer), scope, ranks)[rank], value_on_ranks(str(item.bytes), scope, ranks)[rank])
        for rank in range(ranks) for item in made.body
    ]  # fmt: skip
    found = [tuple(map(int, re.findall(r"(?:peer|bytes)=(-?\d+)", line))) for line in output.splitlines()]
    assert found == expected


@pytest.mark.parametrize("ranks", [1, 8, 12, 27, 64])
@pytest.mark.parametrize("local", [(16, 16, 16), (8, 24, 40)])
def test_hpcg_as_it_is_derived_makes_the_calls_of_its_skeleton(
    ranks: int, local: tuple[int, int, int], tmp_path: Path
) -> None:
    parameters = dict(zip(("nx", "ny", "nz"), local, strict=True)) | {"iterations": 3}
    code, output = native("stream", skeleton_file.read(HPCG), [ranks], tmp_path, **parameters)
    assert code == 0
    command = [str(native_program("manynode-skeleton")), "stream", "--app", "hpcg", "--ranks", str(ranks)]
    done = subprocess.run([*command, "--parameters", json.dumps(parameters)], capture_output=True, text=True)
    assert output == done.stdout and len(output) > 1000


def test_hpcg_as_it_is_derived_computes_as_long_as_its_skeleton(tmp_path: Path) -> None:
    """The phases have the same numbers, and the draws of their times are keyed by them."""
    made = skeleton_file.read(HPCG)
    cdf = {"time_s": [1e-4, 2e-4, 5e-4], "probability": [0, 0.7, 1]}
    clusters = [{"mean_s": 2e-4, "count": 9, "weight": 1.0, "cdf": cdf}]
    phase = {"count": 9, "mean_s": 2e-4, "clusters": clusters, "pattern": {"kind": "weights"}}
    phases = [{"name": name, **phase} for name in made.phases]
    profile = tmp_path / "profile.json"
    profile.write_text(
        json.dumps({"schema": "timing-profile/1", "classes": [{"name": "0", "share": 1.0, "phases": phases}]})
    )
    file = tmp_path / "compiled.json"
    values = {"iterations": 3}
    parameters = {
        "derived": {
            "file": str(file),
            "digest": skeleton_file.write_compiled(file, made),
            "values": json.dumps(values),
        },
        "hpcg": values,
    }
    outputs = []
    for application, given in parameters.items():
        options = ["--app", application, "--parameters", json.dumps(given), "--ranks", "8", "--sink", "goal"]
        command = [str(native_program("manynode-skeleton")), "stream", *options, "--timing-profile", str(profile)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] and len(re.findall(r"calc \d{5,}", outputs[0])) > 500
