"""Expressions of derived skeletons mean what Python's mean, for all ranks at once, and never wrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manynode.derived.arithmetic import LEAST, MOST, Value
from manynode.derived.expression import ANY, NULL, ExpressionError, Scope, may_name, parse
from manynode.derived.grids import Grid, coordinate_names

RANKS = np.arange(24, dtype=np.int64)
GRID = Grid((4, 3, 2), (False, True, False), "first-fastest")


def scope(**values: Value) -> Scope:
    definitions = {"half": parse("nx // 2", "definitions/half"), "share": parse("nx // c0", "definitions/share")}
    names: dict[str, Value] = {"P": 24, "rank": RANKS, "nx": 16, **coordinate_names(GRID, RANKS), **values}
    return Scope(names, grid=GRID, definitions=definitions)


def value(text: str, **values: Value) -> Value:
    return parse(text, "here").evaluate(scope(**values))


def test_what_is_the_same_for_all_ranks_is_one_number() -> None:
    assert value("P * nx // 5 + half") == 84
    assert value("1 if P > 1 else rank") == 1
    assert value("P > 1 or rank") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 // -2", -4), ("-7 % 3", 2), ("-7 % -3", -1), ("ceil_div(7, 2)", 4), ("ceil_div(-7, 2)", -3),
        ("2 + 3 * 4 - 1", 13), ("(2 + 3) * 4", 20), ("1 << 3 | 1", 9), ("6 ^ 3 & 2", 4), ("-16 >> 2", -4),
        ("1 < 2 < 3", 1), ("1 < 3 < 2", 0), ("3 < 2 < 1 // 0", 0), ("not 0", 1), ("not 3 == 3", 0), ("+5", 5),
        ("3 and 5", 1), ("0 or 7", 1), ("0 and 1 // 0", 0), ("1 or 1 // 0", 1), ("0 or 0", 0), ("5 if 0 else 6", 6),
        ("1 if 0 else 2 if 0 else 3", 3), ("min(4, 2, 3)", 2), ("max(4, 2)", 4), ("abs(-3)", 3), ("log2(1)", 0),
        ("log2(1023)", 9), ("log2(1024)", 10), ("root(26, 3)", 2), ("root(27, 3)", 3), ("root(0, 2)", 0),
        ("root(9223372036854775807, 2)", 3037000499), ("root(9223372036854775807, 62)", 2), ("smooth(1)", 1),
        ("smooth(7)", 6), ("smooth(1000)", 1000), ("smooth(1009)", 1000), ("block(10, 4, 0)", 3),
        ("block(10, 4, 1)", 3), ("block(10, 4, 2)", 2), ("any", ANY), ("null", NULL),
        ("-9223372036854775807 - 1", LEAST), ("(-9223372036854775807 - 1) % -1", 0),
    ],
)  # fmt: skip
def test_operators_and_functions(text: str, expected: int) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("1 // (P - 24)", "division by zero (with 1, 0)"),
        ("1 % 0", "division by zero"),
        ("9223372036854775807 + 1", "beyond 64 bits"),
        ("-9223372036854775807 - 2", "beyond 64 bits"),
        ("4294967296 * 2147483648", "beyond 64 bits"),
        ("1 << 63", "beyond 64 bits"),
        ("(-9223372036854775807 - 1) // -1", "beyond 64 bits"),
        ("abs(-9223372036854775807 - 1)", "beyond 64 bits"),
        ("-(-9223372036854775807 - 1)", "beyond 64 bits"),
        ("1 << 64", "0 to 63 bits"),
        ("1 >> -1", "0 to 63 bits"),
        ("log2(0)", "at least 1"),
        ("root(-1, 2)", "at least 0"),
        ("root(1, 0)", "a power of at least 1"),
        ("smooth(0)", "at least 1"),
        ("block(10, 4, 4)", "no part of this number"),
        ("block(10, 0, 0)", "at least 1 part"),
        ("on(4, 0, 0)", "no such place on the grid"),
    ],
)
def test_what_has_no_value_is_an_error_with_its_place(text: str, mistake: str) -> None:
    with pytest.raises(ExpressionError) as error:
        value(text)
    assert mistake in str(error.value) and "where: here" in str(error.value)
    # The same for values that differ between ranks, and the message names the first rank concerned.
    with pytest.raises(ExpressionError, match="on rank 7"):
        value(f"({text}) if rank >= 7 else rank")


def test_values_by_rank_are_those_of_each_rank_alone() -> None:
    texts = ["rank * rank - nx", "c0 if c1 else -c2", "c0 > 0 and nx // c0 > 5", "0 < c0 < d0 - 1",
             "share if c0 else -1", "-c1",
             "c0 == 0 or 10 // c0 > 3", "block(100, P, rank)", "at(1, 1, 0)", "on(c0, 0, c2)", "smooth(rank + 1)",
             "log2(rank + 1)", "root(rank, 2)", "rank << c0", "-rank >> 1", "min(rank, 5, c1)", "rank % (c0 - 7)",
             "1 // c0 if c0 else (2 // c1 if c1 else 3)", "not c0", "ceil_div(rank, 5)", "rank ^ nx"]  # fmt: skip
    for text in texts:
        together = value(text)
        assert isinstance(together, np.ndarray) and together.dtype == np.int64 and together.shape == (24,)
        for rank in RANKS:
            assert together[rank] == parse(text, "here").evaluate(scope().lanes(np.array([rank]))), (text, rank)


def test_at_wraps_on_periodic_axes_and_is_null_beyond_the_edge_of_others() -> None:
    assert np.array_equal(value("at(0, 0, 0)"), RANKS)
    left = value("at(-1, 0, 0)")
    assert isinstance(left, np.ndarray)
    assert all(left[rank] == (NULL if rank % 4 == 0 else rank - 1) for rank in RANKS)
    up = value("at(0, 1, 0)")
    assert isinstance(up, np.ndarray)
    assert all(up[rank] == rank + (4 if rank // 4 % 3 < 2 else -8) for rank in RANKS)


def test_blocks_are_evaluated_on_lanes_of_ranks_and_k() -> None:
    lanes = np.repeat(RANKS[:2], 3)
    k = np.tile(np.arange(3, dtype=np.int64), 2)
    sizes = parse("rank * 10 + k + half", "here").evaluate(scope().lanes(lanes).bound(k=k))
    assert isinstance(sizes, np.ndarray)
    assert sizes.tolist() == [8, 9, 10, 18, 19, 20]
    assert parse("i * half", "here").evaluate(scope().bound(i=3)) == 24


@pytest.mark.parametrize(
    "text",
    ["", "a.b", "1, 2", "2 ** 3", "0x10", "012", "1_000", "[1]", "min(1,)", "True", "None", "not", "1 + not 2", "at",
     "min", "min(1)", "min(x=1)", "f(1)", "a\nb", "1 #", "1 / 2", "~1", "'a'", "a := 1", "1 is 1", "1 in 2", "1 <> 2",
     "lambda: 1", "*a", "min(*a)", "1 if 2", "(1", "9223372036854775808", "log2(1, 2)", "(a)(b)", "-" * 101 + "1",
     "(" * 300 + "1" + ")" * 300],
)  # fmt: skip
def test_what_is_no_expression_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ExpressionError, match="where: body/3/bytes"):
        parse(text, "body/3/bytes")


def test_unknown_names_and_wrong_uses_of_the_grid_are_found_before_evaluation() -> None:
    with pytest.raises(ExpressionError, match="did you mean 'iterations'"):
        parse("iteratons + 1", "here").check({"iterations", "P"}, 0)
    with pytest.raises(ExpressionError, match="a grid, which the file lacks"):
        parse("at(1)", "here").check(set(), 0)
    with pytest.raises(ExpressionError, match="3 arguments, one for each axis"):
        parse("on(1, 2)", "here").check(set(), 3)
    parse("min(at(1, 0), any)", "here").check(set(), 2)
    with pytest.raises(ExpressionError, match="unknown name ny"):
        value("ny")


def test_names_of_the_language_cannot_be_given_to_others() -> None:
    assert all(map(may_name, ["nx", "_a", "c", "d", "Pp", "c0x", "minimum"]))
    taken = ["P", "rank", "k", "c0", "d12", "any", "null", "min", "at", "if", "and", "a-b", "2a", ""]
    assert not any(map(may_name, taken))


@given(st.integers(LEAST, MOST), st.integers(LEAST, MOST))
@settings(max_examples=300, deadline=None)
def test_arithmetic_is_exact_or_an_error(a: int, b: int) -> None:
    names: dict[str, Value] = {"a": np.array([0, a], dtype=np.int64), "b": np.array([1, b], dtype=np.int64)}
    for text, exact in (
        ("a + b", a + b), ("a - b", a - b), ("a * b", a * b), ("a // b", a // b if b else None),
        ("a % b", a % b if b else None), ("-a", -a), ("abs(a)", abs(a)), ("a ^ b", a ^ b), ("min(a, b)", min(a, b)),
    ):  # fmt: skip
        if exact is None or not LEAST <= exact <= MOST:
            with pytest.raises(ExpressionError):
                parse(text, "here").evaluate(Scope(names))
        else:
            found = parse(text, "here").evaluate(Scope(names))
            assert isinstance(found, np.ndarray) and int(found[1]) == exact, text
