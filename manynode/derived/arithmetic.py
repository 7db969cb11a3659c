"""Checked arithmetic on 64-bit integers: single numbers (the same for all ranks) and numpy arrays (one for each rank).

In: ``int`` or int64 arrays. Out: the same. What C++ could not compute either is an :class:`ArithmeticMistake`, which
names the operands of the first rank concerned: overflow, division by zero, arguments out of range. Nothing wraps.
``skeletons/derived/arithmetic.cpp`` is the same in C++; tests/workflow/test_derived_agreement.py compares them.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]
Value = int | Array

LEAST, MOST = -(2**63), 2**63 - 1
_OVERFLOW = "the result is beyond 64 bits"


class ArithmeticMistake(Exception):
    """What is wrong, and ``operands`` for which; ``lane`` is the index in the arrays, or None for single numbers."""

    def __init__(self, what: str, operands: tuple[int, ...], lane: int | None) -> None:
        super().__init__(what)
        self.what = what
        self.operands = operands
        self.lane = lane


def refuse(wrong: Any, what: str, *operands: Value) -> None:
    """Raise :class:`ArithmeticMistake` if ``wrong``, a truth value or an array of them, is true anywhere."""
    if not np.any(wrong):
        return
    lane = None if np.ndim(wrong) == 0 else int(np.argmax(wrong))
    raise ArithmeticMistake(what, tuple(_at(operand, lane) for operand in operands), lane)


def _at(operand: Value, lane: int | None) -> int:
    return operand if isinstance(operand, int) else int(operand[lane or 0])


def truth(value: Any) -> Value:
    """Return 1 where ``value`` is not 0, else 0."""
    return np.asarray(value != 0).astype(np.int64) if isinstance(value, np.ndarray) else int(value != 0)


def add(a: Value, b: Value) -> Value:
    return _exact(a, b, lambda a, b: a + b, lambda a, b, r: ((a ^ r) & (b ^ r)) < 0)


def subtract(a: Value, b: Value) -> Value:
    return _exact(a, b, lambda a, b: a - b, lambda a, b, r: ((a ^ b) & (a ^ r)) < 0)


def _exact(a: Value, b: Value, do: Callable[[Any, Any], Any], wrapped: Callable[[Any, Any, Any], Any]) -> Value:
    result = do(a, b)
    refuse(not LEAST <= result <= MOST if isinstance(result, int) else wrapped(a, b, result), _OVERFLOW, a, b)
    return result  # type: ignore[no-any-return]


def multiply(a: Value, b: Value) -> Value:
    if isinstance(a, int) and isinstance(b, int):
        refuse(not LEAST <= a * b <= MOST, _OVERFLOW, a, b)
        return a * b
    if _largest(a) * _largest(b) > MOST:
        exact = np.asarray(a, dtype=object) * np.asarray(b, dtype=object)
        refuse(np.array([not LEAST <= one <= MOST for one in exact], dtype=bool), _OVERFLOW, a, b)
    return a * b


def _largest(value: Value) -> int:
    if isinstance(value, int):
        return abs(value)
    return max(abs(int(value.max(initial=0))), abs(int(value.min(initial=0))))


def floor_divide(a: Value, b: Value) -> Value:
    refuse(_is(b, 0), "division by zero", a, b)
    refuse(_is(a, LEAST) & _is(b, -1), _OVERFLOW, a, b)
    return a // b


def modulo(a: Value, b: Value) -> Value:
    refuse(_is(b, 0), "division by zero", a, b)
    # The remainder by -1 is 0, as by 1; the processor's instruction overflows for the least number.
    return a % (abs(b) if b == -1 else b) if isinstance(b, int) else a % np.where(_is(b, -1), 1, b)


def ceil_div(a: Value, b: Value) -> Value:
    quotient = floor_divide(a, b)
    return quotient + truth(modulo(a, b))


def _is(a: Value, number: int) -> Any:
    return np.equal(a, number)


def negate(a: Value) -> Value:
    return subtract(0, a)


def absolute(a: Value) -> Value:
    refuse(_is(a, LEAST), _OVERFLOW, a)
    return abs(a) if isinstance(a, int) else np.abs(a)


def minimum(*values: Value) -> Value:
    return _folded(min, np.minimum, values)


def maximum(*values: Value) -> Value:
    return _folded(max, np.maximum, values)


def _folded(of_numbers: Callable[[int, int], int], of_arrays: Any, values: tuple[Value, ...]) -> Value:
    def both(a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return of_numbers(a, b)
        return of_arrays(a, b)  # type: ignore[no-any-return]

    return functools.reduce(both, values)


def shift_left(a: Value, by: Value) -> Value:
    _check_shift(a, by)
    if isinstance(a, int) and isinstance(by, int):
        refuse(not LEAST <= a << by <= MOST, _OVERFLOW, a, by)
        return a << by
    result = np.left_shift(a, by)
    refuse(np.not_equal(np.right_shift(result, by), a), _OVERFLOW, a, by)
    return result  # type: ignore[no-any-return]


def shift_right(a: Value, by: Value) -> Value:
    _check_shift(a, by)
    shifted: Value = a >> by
    return shifted


def _check_shift(a: Value, by: Value) -> None:
    refuse(np.less(by, 0) | np.greater(by, 63), "a shift takes 0 to 63 bits", a, by)


def floor_log2(n: Value) -> Value:
    refuse(np.less(n, 1), "log2 takes a number of at least 1", n)
    return _one_by_one(lambda n: n.bit_length() - 1, n)


def floor_root(n: Value, q: Value) -> Value:
    refuse(np.less(n, 0) | np.less(q, 1), "root takes a number of at least 0 and a power of at least 1", n, q)
    return _one_by_one(_integer_root, n, q)


@functools.lru_cache(maxsize=4096)
def _integer_root(n: int, q: int) -> int:
    if n < 2 or q == 1:
        return n
    if q >= 63:
        return 1
    return bisect.bisect_right(range(2 ** (63 // q + 1)), n, key=lambda root: root**q) - 1


def smooth(n: Value) -> Value:
    refuse(np.less(n, 1), "smooth takes a number of at least 1", n)
    return _one_by_one(_largest_smooth, n)


@functools.lru_cache(maxsize=4096)
def _largest_smooth(n: int) -> int:
    best = 1
    fives = 1
    while fives <= n:
        threes = fives
        while threes <= n:
            # The largest power of 2 that may still be a factor.
            best = max(best, threes << ((n // threes).bit_length() - 1))
            threes *= 3
        fives *= 5
    return best


def block(n: Value, parts: Value, i: Value) -> Value:
    refuse(np.less(n, 0) | np.less(parts, 1), "block takes at least 0 items and at least 1 part", n, parts, i)
    refuse(np.less(i, 0) | np.greater_equal(i, parts), "block has no part of this number", n, parts, i)
    return n // parts + truth(np.less(i, n % parts))


def _one_by_one(function: Callable[..., int], *operands: Value) -> Value:
    if all(isinstance(operand, int) for operand in operands):
        return function(*operands)
    columns = np.broadcast_arrays(*operands)
    pairs = zip(*(column.tolist() for column in columns), strict=True)
    return np.array([function(*pair) for pair in pairs], dtype=np.int64)
