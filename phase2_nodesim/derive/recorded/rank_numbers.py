"""Kinds of numbers of ranks: powers of two, squares, cubes."""

from __future__ import annotations

from collections.abc import Callable, Collection

KINDS: dict[str, Callable[[int], bool]] = {
    "powers of two": lambda ranks: ranks & (ranks - 1) == 0,
    "squares": lambda ranks: round(ranks ** (1 / 2)) ** 2 == ranks,
    "cubes": lambda ranks: round(ranks ** (1 / 3)) ** 3 == ranks,
}


def kinds_of(numbers: Collection[int]) -> list[str]:
    """Return the kinds that all numbers of ranks have, by name."""
    return [kind for kind, has in KINDS.items() if all(map(has, numbers))]


def of_kinds(ranks: int, kinds: Collection[str]) -> bool:
    """Return whether a number of ranks has all of these kinds."""
    return all(KINDS[kind](ranks) for kind in kinds)
