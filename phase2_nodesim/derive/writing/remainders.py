"""Doubts about divisions whose outcome was never seen: those that left no remainder in any recording, or nothing.

A program that deals 96 rows to the ranks sends blocks of one size while the number of ranks divides 96, and may do
something else where it does not. On more than 96 ranks some have no row, and most programs end. In: the items of a
skeleton, the training runs. Out: a doubt for each size with such a division, whose condition says where that is
possible.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from manynode.derived.call_forms import BLOCKS
from manynode.derived.expression import parse
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.writing.gates import NOTHING

Content = dict[str, Any]

_SIZES = ("bytes", "receive_bytes", *BLOCKS)
_DIVIDED = ("//", "ceil_div(", "block(")


def without_remainder(body: Sequence[Content], points: Points, fixed: Mapping[str, int]) -> Iterator[Content]:
    """Yield a doubt for each size whose divisions by the number of ranks or an extent always came out even.

    ``fixed`` are the parameters that were never changed.
    """
    seen = set()
    for where, text in _sizes(body, "body"):
        for above, below in _divisions(text):
            conditions = _uneven(above, below, points, fixed)
            if conditions and (key := " or ".join(conditions)) not in seen:
                seen.add(key)
                yield {"at": where, "says": NOTHING, "or": [key]}


def nothing_left(body: Sequence[Content], points: Points) -> Iterator[Content]:
    """Yield a doubt for each size of a divided range that is more than nothing at all recorded ranks."""
    seen = set()
    for where, text in _sizes(body, "body"):
        values = points.values(text) if any(word in text for word in _DIVIDED) and text not in seen else None
        seen.add(text)
        if values is not None and values.min() > 0:
            yield {"at": where, "says": NOTHING, "or": [f"({text}) <= 0"]}


def _sizes(items: Sequence[Content], where: str) -> Iterator[tuple[str, str]]:
    for number, item in enumerate(items):
        here = f"{where}/{number}"
        for field in _SIZES:
            if field in item and not isinstance(item[field], Mapping):  # drawn ones are rounded in any case
                yield f"{here}/{field}", str(item[field])
        yield from _sizes(item.get("do", ()), f"{here}/do")


def _divisions(text: str) -> Iterator[tuple[str, str]]:
    """Yield numerator and denominator of each division in an expression."""
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            yield ast.unparse(node.left), ast.unparse(node.right)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ceil_div":
            yield ast.unparse(node.args[0]), ast.unparse(node.args[1])


def _uneven(above: str, below: str, points: Points, fixed: Mapping[str, int]) -> list[str]:
    """Return the conditions under which a division may leave a remainder; none if one was seen, or none can be."""
    divisors = sorted(name for name in parse(below, "a size").names if name == "P" or _is(name, "d"))
    if any(_is(name, "c") for name in parse(above, "a size").names):
        return []  # blocks by coordinates: they say where a remainder goes
    rest = points.values(f"({above}) % ({below})")
    if not divisors or rest is None or rest.any():
        return []
    conditions = []
    for divisor in divisors:
        extents = points.values(divisor)
        assert extents is not None
        dealt = list(_dealt(above, divisor, points, fixed))
        # Without a parameter that was dealt, only what is common to all recorded numbers is known to come out even.
        common = math.lcm(*map(int, np.unique(extents)))
        conditions += [f"{name} % {divisor} != 0" for name in dealt or [str(common)]]
    return list(dict.fromkeys(conditions))


def _is(name: str, kind: str) -> bool:
    """Say whether a name is an extent (``d``) or a coordinate (``c``) of the grid."""
    return name[0] == kind and name[1:].isdigit()


def _dealt(above: str, divisor: str, points: Points, fixed: Mapping[str, int]) -> Iterator[str]:
    """Yield the parameters (the values of fixed ones) that the numerator has as a factor and that always came out even.

    1 and what is below the divisor say nothing.
    """
    varied = {name for _, parameters in points.runs for name in parameters} - fixed.keys()
    for candidate in [*sorted(varied), *sorted(set(fixed.values()))]:
        if isinstance(candidate, int) and candidate < 2:
            continue
        inside = points.values(f"({above}) % ({candidate})")
        even = points.values(f"({candidate}) % {divisor}")
        if inside is not None and even is not None and not inside.any() and not even.any():
            yield str(candidate)
