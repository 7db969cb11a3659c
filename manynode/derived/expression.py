"""The expressions of derived skeletons: a subset of Python's, over 64-bit integers, for all ranks at once.

In: the text of an expression and a :class:`Scope` with the values of names. Out: an ``int`` where the value is the same
for all ranks, else an int64 array with a value for each. Comparisons, ``and``, ``or`` and ``not`` give 0 or 1. What is
not needed is not evaluated: ``x // c0 if c0 > 0 else 0`` divides only where c0 > 0. Mistakes are
:class:`ExpressionError` with the place of the expression. ``skeletons/derived/expression.cpp`` is the same in C++.
"""

from __future__ import annotations

import ast
import functools
import keyword
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manynode.derived import arithmetic
from manynode.derived.arithmetic import ArithmeticMistake, Array, Value
from manynode.derived.grids import Grid
from manynode.errors import InputError, nearest

ANY, NULL = -2, -3
"""MPI_ANY_SOURCE and MPI_PROC_NULL as peers."""

CONSTANTS = {"any": ANY, "null": NULL}
MOST_CHARACTERS = 4000
MOST_LEVELS = 100

_BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: arithmetic.add,
    ast.Sub: arithmetic.subtract,
    ast.Mult: arithmetic.multiply,
    ast.FloorDiv: arithmetic.floor_divide,
    ast.Mod: arithmetic.modulo,
    ast.BitXor: lambda a, b: a ^ b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.LShift: arithmetic.shift_left,
    ast.RShift: arithmetic.shift_right,
}
_COMPARISONS: dict[type[ast.cmpop], Any] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
# Name -> least and largest number of arguments, function.
_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Value]]] = {
    "min": (2, 100, arithmetic.minimum),
    "max": (2, 100, arithmetic.maximum),
    "abs": (1, 1, arithmetic.absolute),
    "ceil_div": (2, 2, arithmetic.ceil_div),
    "log2": (1, 1, arithmetic.floor_log2),
    "root": (2, 2, arithmetic.floor_root),
    "smooth": (1, 1, arithmetic.smooth),
    "block": (3, 3, arithmetic.block),
}
_PLACES = ("at", "on")  # functions of the grid: an argument for each axis

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = re.compile(r"P|rank|k|any|null|[cd][0-9]+|at|on|" + "|".join(_FUNCTIONS))
# What Python would accept beyond the subset and the tree does not show.
_FOREIGN = re.compile(r"[^A-Za-z0-9_ +\-*/%^&|<>=!(),]|,\s*\)")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_])[0-9][A-Za-z0-9_]*")
_PLAIN_NUMBER = re.compile(r"0|[1-9][0-9]*")


class ExpressionError(InputError):
    """A wrong expression, or one that has no value for some rank."""


def may_name(name: str) -> bool:
    """Say whether a parameter, a definition or an index may have this name."""
    return bool(_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name) and not keyword.iskeyword(name)


@dataclass(frozen=True)
class Expression:
    """A parsed expression; ``where`` is its place in the file, such as ``body/5/do/0/bytes``."""

    text: str
    where: str
    tree: ast.expr
    names: frozenset[str]
    """The names that it uses, without constants and functions."""

    def check(self, known: Collection[str], dimensions: int) -> None:
        """Raise :class:`ExpressionError` for a name that is not known here, or a wrong use of the grid."""
        for name in sorted(self.names - set(known)):
            near = nearest(name, known)
            raise ExpressionError(
                f"an expression uses a name that is not known here: {name}",
                where=self.where,
                found=self.text,
                allowed=", ".join(sorted(known)),
                remedy=f"did you mean {near!r}?" if near else None,
            )
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Call) or _called(node) not in _PLACES:
                continue
            if not dimensions or len(node.args) != dimensions:
                axes = f"{dimensions} arguments, one for each axis" if dimensions else "a grid, which the file lacks"
                raise _error(f"{_called(node)}() needs {axes}", self.text, self.where)

    def evaluate(self, scope: Scope) -> Value:
        """Return the value for all ranks of ``scope``; the first rank without one is an :class:`ExpressionError`."""
        try:
            return _evaluate(self.tree, scope)
        except ArithmeticMistake as mistake:
            rank = scope.rank_of_lane(mistake.lane)
            operands = ", ".join(map(str, mistake.operands))
            who = "" if rank is None else f" on rank {rank}"
            raise _error(f"{mistake.what} (with {operands}{who})", self.text, self.where) from None


class Scope:
    """Values of names: single numbers, or int64 arrays of one length, an entry for each rank ("lane")."""

    def __init__(
        self,
        values: Mapping[str, Value],
        *,
        grid: Grid | None = None,
        definitions: Mapping[str, Expression] | None = None,
    ) -> None:
        self.grid = grid
        self._values = dict(values)
        self._definitions = definitions or {}
        self._known: dict[str, Value] = {}
        self._whole: Scope | None = None
        self._chosen: Array | None = None

    def bound(self, **values: Value) -> Scope:
        """Return the scope with further names, such as a loop's index or ``k``."""
        return self._derived(self._chosen, self._whole or self, {**(self._values if self._whole else {}), **values})

    def lanes(self, chosen: Array) -> Scope:
        """Return the scope of the chosen lanes (indices; one may occur several times)."""
        before = self._chosen
        values = {} if self._whole is None else {name: pick(value, chosen) for name, value in self._values.items()}
        derived = self._derived(chosen if before is None else before[chosen], self._whole or self, values)
        derived.grid = self.grid and self.grid.pick(chosen)
        return derived

    def _derived(self, chosen: Array | None, whole: Scope, values: Mapping[str, Value]) -> Scope:
        derived = Scope(values, grid=self.grid, definitions=self._definitions)
        derived._whole, derived._chosen = whole, chosen
        return derived

    def value(self, name: str) -> Value:
        """Return the value of a name; definitions are evaluated when they are first used."""
        found = self._values.get(name)
        if found is None:
            found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._from_whole(name)
        return found

    def _from_whole(self, name: str) -> Value:
        if self._whole is not None:
            try:
                value = self._whole.value(name)
                return value if self._chosen is None else pick(value, self._chosen)
            except ExpressionError:
                if name not in self._definitions or self._chosen is None:
                    raise
        # On these lanes it may have a value, though not on all.
        if (definition := self._definitions.get(name)) is not None:
            return definition.evaluate(self)
        known = [*self._values, *self._definitions]
        raise ExpressionError(f"unknown name {name}", found=name, allowed=", ".join(known))

    def rank_of_lane(self, lane: int | None) -> int | None:
        """Return the rank that a lane belongs to, if the scope knows ranks."""
        if lane is None:
            return None
        try:
            ranks = self.value("rank")
        except ExpressionError:
            return None
        return ranks if isinstance(ranks, int) else int(ranks[lane])


def pick(value: Value, chosen: Array) -> Value:
    """Return the chosen entries of an array; a single number stays one."""
    return value if isinstance(value, int) else value[chosen]


def parse(text: str | int, where: str) -> Expression:
    """Return the parsed expression; one outside the language is an :class:`ExpressionError` at ``where``."""
    text = str(text).strip()
    try:
        return Expression(text, where, *_parsed(text))
    except ExpressionError as error:
        raise ExpressionError(
            error.what, where=where, found=error.found, allowed=error.allowed, remedy=error.remedy
        ) from None


# The same expressions are in many items of a skeleton, and are tried again and again while one is derived.
@functools.lru_cache(maxsize=1 << 14)
def _parsed(text: str) -> tuple[ast.expr, frozenset[str]]:
    """Return the tree of an expression and the names that it uses."""
    if len(text) > MOST_CHARACTERS:
        raise _error(f"an expression is longer than {MOST_CHARACTERS} characters", text[:80])
    if (foreign := _FOREIGN.search(text)) is not None:
        raise _error(f"an expression cannot have {foreign[0]!r}", text)
    for number in _NUMBER.findall(text):
        if not _PLAIN_NUMBER.fullmatch(number) or len(number) > 19 or int(number) > arithmetic.MOST:
            raise _error(f"{number} is no decimal number of 63 bits", text)
    try:
        tree = ast.parse(text, mode="eval").body
        _check_tree(tree, 0, text)
    except SyntaxError as error:
        raise _error(f"an expression cannot be read: {error.msg}", text) from None
    except (RecursionError, MemoryError):
        raise _error(f"an expression has more than {MOST_LEVELS} levels", text) from None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    return tree, frozenset(names - CONSTANTS.keys())


def _error(what: str, found: str, where: str | None = None) -> ExpressionError:
    return ExpressionError(what, where=where, found=found or "nothing")


def _called(node: ast.Call) -> str | None:
    return node.func.id if isinstance(node.func, ast.Name) else None


def _check_tree(node: ast.expr, level: int, text: str) -> None:
    if level > MOST_LEVELS:
        raise _error(f"an expression has more than {MOST_LEVELS} levels", text)
    parts: list[ast.expr]
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            parts = []
        case ast.Name():
            parts = []
            if node.id in _FUNCTIONS or node.id in _PLACES:
                raise _error(f"{node.id} is a function", text)
        case ast.BinOp() if type(node.op) in _BINARY:
            parts = [node.left, node.right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not()):
            parts = [node.operand]
        case ast.BoolOp():
            parts = node.values
        case ast.Compare() if all(type(op) in _COMPARISONS for op in node.ops):
            parts = [node.left, *node.comparators]
        case ast.IfExp():
            parts = [node.test, node.body, node.orelse]
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            _check_call(name, len(node.args), text)
            parts = node.args
        case _:
            raise _error(f"an expression cannot have {ast.unparse(node)!r}", text)
    for part in parts:
        _check_tree(part, level + 1, text)


def _check_call(name: str, arguments: int, text: str) -> None:
    if name in _PLACES:
        return
    if name not in _FUNCTIONS:
        near = nearest(name, [*_FUNCTIONS, *_PLACES])
        known = ", ".join([*_FUNCTIONS, *_PLACES])
        remedy = f"did you mean {near!r}?" if near else None
        raise ExpressionError(f"unknown function {name}", found=text, allowed=known, remedy=remedy)
    least, most, _ = _FUNCTIONS[name]
    if not least <= arguments <= most:
        raise _error(f"{name}() takes {least if least == most else f'at least {least}'} arguments", text)


def _evaluate(node: ast.expr, scope: Scope) -> Value:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name():
            return CONSTANTS[node.id] if node.id in CONSTANTS else scope.value(node.id)
        case ast.BinOp():
            return _BINARY[type(node.op)](_evaluate(node.left, scope), _evaluate(node.right, scope))
        case ast.UnaryOp():
            operand = _evaluate(node.operand, scope)
            if isinstance(node.op, ast.Not):
                return arithmetic.truth(operand == 0)
            return arithmetic.negate(operand) if isinstance(node.op, ast.USub) else operand
        case ast.BoolOp():
            return _all_or_any(node.values, scope, isinstance(node.op, ast.And))
        case ast.Compare():
            return _compared(node, scope)
        case ast.IfExp():
            chosen = _evaluate(node.test, scope)
            return _branch(chosen, scope, lambda s: _evaluate(node.body, s), lambda s: _evaluate(node.orelse, s))
        case ast.Call():
            return _call(str(_called(node)), [_evaluate(argument, scope) for argument in node.args], scope)
    raise AssertionError("parse() lets nothing else through")


def _all_or_any(parts: list[ast.expr], scope: Scope, conjunction: bool) -> Value:
    """Return ``and`` or ``or`` of the parts, from the left, each only where it still matters."""
    first = _evaluate(parts[0], scope)
    if len(parts) == 1:
        return arithmetic.truth(first)
    decided: Value = int(not conjunction)

    def rest(lanes: Scope) -> Value:
        return _all_or_any(parts[1:], lanes, conjunction)

    if conjunction:
        return _branch(first, scope, rest, lambda _: decided)
    return _branch(first, scope, lambda _: decided, rest)


def _compared(node: ast.Compare, scope: Scope) -> Value:
    left = _evaluate(node.left, scope)
    return _chain(left, list(zip(node.ops, node.comparators, strict=True)), scope)


def _chain(left: Value, rest: list[tuple[ast.cmpop, ast.expr]], scope: Scope) -> Value:
    """Return a comparison such as ``0 < c0 < d0``: the later ones only where the earlier ones hold."""
    operator, right_node = rest[0]
    right = _evaluate(right_node, scope)
    holds = _COMPARISONS[type(operator)](left, right)
    result = arithmetic.truth(holds) if isinstance(holds, np.ndarray) else int(holds)
    if len(rest) == 1:
        return result
    if isinstance(result, int):
        return _chain(right, rest[1:], scope) if result else 0
    lanes = np.flatnonzero(result)
    return _placed(len(result), [(lanes, _on_lanes(lanes, scope, lambda s: _chain(pick(right, lanes), rest[1:], s)))])


def _branch(
    chosen: Value, scope: Scope, if_true: Callable[[Scope], Value], if_false: Callable[[Scope], Value]
) -> Value:
    if isinstance(chosen, int):
        return if_true(scope) if chosen else if_false(scope)
    parts = []
    for lanes, evaluate in ((np.flatnonzero(chosen), if_true), (np.flatnonzero(chosen == 0), if_false)):
        if len(lanes) == len(chosen):
            return evaluate(scope)
        if len(lanes):
            parts.append((lanes, _on_lanes(lanes, scope, evaluate)))
    return _placed(len(chosen), parts)


def _on_lanes(lanes: Array, scope: Scope, evaluate: Callable[[Scope], Value]) -> Value:
    if len(lanes) == 0:
        return 0
    try:
        return evaluate(scope.lanes(lanes))
    except ArithmeticMistake as mistake:
        mistake.lane = int(lanes[mistake.lane or 0])
        raise


def _placed(size: int, parts: list[tuple[Array, Value]]) -> Array:
    result = np.zeros(size, dtype=np.int64)
    for lanes, value in parts:
        result[lanes] = value
    return result


def _call(name: str, arguments: list[Value], scope: Scope) -> Value:
    if name == "at":
        return _at(arguments, scope)
    if name == "on":
        return _on(arguments, scope)
    return _FUNCTIONS[name][2](*arguments)


def _at(steps: list[Value], scope: Scope) -> Value:
    """Return the rank at a displacement: around the edge of periodic axes, ``null`` beyond that of others."""
    grid = scope.grid
    assert grid is not None
    places: list[Value] = []
    outside: Value = 0
    for axis, (step, extent) in enumerate(zip(steps, grid.extents, strict=True)):
        place = arithmetic.add(scope.value(f"c{axis}"), step)
        if not grid.periodic[axis]:
            outside = arithmetic.truth(np.less(place, 0) | np.greater_equal(place, extent) | np.not_equal(outside, 0))
        places.append(arithmetic.modulo(place, extent))
    found = np.where(np.not_equal(outside, 0), NULL, grid.rank_at(places))
    return int(found) if found.ndim == 0 else found.astype(np.int64)


def _on(places: list[Value], scope: Scope) -> Value:
    grid = scope.grid
    assert grid is not None
    for place, extent in zip(places, grid.extents, strict=True):
        wrong = np.less(place, 0) | np.greater_equal(place, extent)
        arithmetic.refuse(wrong, "there is no such place on the grid", *places)
    return grid.rank_at(places)
