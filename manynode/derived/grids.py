"""Grids of ranks: the extents as a function of the number of ranks, by named rules, and the place of each rank.

In: a rule's name, the numbers of ranks and of dimensions. Out: extents, axis 0 first. ``skeletons/derived/grid.cpp``
has the same rules; tests/workflow/test_derived_agreement.py compares them for up to 4,096 ranks. A rule is one function
here and one there.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from manynode.derived.arithmetic import Array, Value

Order = Literal["descending", "ascending", "unsorted"]
Ties = Literal["first", "last"]
Layout = Literal["first-fastest", "last-fastest"]
Extents = tuple[int, ...]

MOST_DIMENSIONS = 8


@dataclass(frozen=True)
class Grid:
    """Extents by axis; ``layout`` says which axis changes fastest from one rank to the next.

    For the ranks of several jobs at once, the extents are arrays, by rank.
    """

    extents: Extents
    periodic: tuple[bool, ...]
    layout: Layout = "last-fastest"

    @functools.cached_property
    def strides(self) -> Extents:
        """How many ranks a step along each axis is."""
        first = self.layout == "first-fastest"
        faster = [self.extents[:axis] if first else self.extents[axis + 1 :] for axis in range(len(self.extents))]
        return tuple(map(math.prod, faster))

    def coordinates(self, ranks: Array) -> list[Array]:
        """Return the coordinate of each rank along each axis."""
        return [ranks // stride % extent for stride, extent in zip(self.strides, self.extents, strict=True)]

    def pick(self, chosen: Array) -> Grid:
        """Return the grid of the chosen ranks, where extents are by rank."""
        if all(isinstance(extent, int) for extent in self.extents):
            return self
        return Grid(tuple(extent[chosen] for extent in self.extents), self.periodic, self.layout)  # type: ignore[index]

    def rank_at(self, coordinates: list[Value]) -> Value:
        """Return the rank at coordinates within the grid."""
        return sum((c * stride for c, stride in zip(coordinates, self.strides, strict=True)), start=0)


@functools.lru_cache(maxsize=1 << 14)
def extents(rule: str, ranks: int, dimensions: int, order: Order = "descending", ties: Ties = "first") -> Extents:
    """Return the extents of a grid of ``ranks`` ranks; their product is ``ranks``."""
    found = RULES[rule](ranks, dimensions, ties)
    return found if order == "unsorted" else tuple(sorted(found, reverse=order == "descending"))


def least_surface(ranks: int, dimensions: int, ties: Ties) -> Extents:
    """Of all factorisations the one with the least sum of ``ranks`` / extent; of equal ones the first in order."""
    return min(ascending(ranks, dimensions), key=lambda found: _surface(ranks, found))


def _surface(ranks: int, found: Extents) -> int:
    return sum(ranks // extent for extent in found)


def ascending(ranks: int, dimensions: int, least: int = 1) -> Iterator[Extents]:
    """Yield all ascending factorisations, in ascending order."""
    if dimensions == 1:
        yield (ranks,)
        return
    extent = least
    while extent**dimensions <= ranks:
        if ranks % extent == 0:
            for rest in ascending(ranks // extent, dimensions - 1, extent):
                yield (extent, *rest)
        extent += 1


def dealt(ranks: int, dimensions: int, ties: Ties) -> Extents:
    """Prime factors, the largest first, each to the smallest extent; ties go to the first or the last axis."""
    found = [1] * dimensions
    for factor in reversed(prime_factors(ranks)):
        smallest = min(found)
        axis = found.index(smallest) if ties == "first" else dimensions - 1 - found[::-1].index(smallest)
        found[axis] *= factor
    return tuple(found)


def prime_factors(number: int) -> list[int]:
    """Return the prime factors in ascending order, each as often as it divides ``number``."""
    factors = []
    factor = 2
    while factor * factor <= number:
        while number % factor == 0:
            factors.append(factor)
            number //= factor
        factor += 1
    return [*factors, number] if number > 1 else factors


def line(ranks: int, dimensions: int, ties: Ties) -> Extents:
    """All ranks along the first axis."""
    return (ranks, *[1] * (dimensions - 1))


def dims_create_openmpi(ranks: int, dimensions: int, ties: Ties) -> Extents:
    """As MPI_Dims_create of Open MPI 4.1."""
    return dealt(ranks, dimensions, ties)


def dims_create_mpich(ranks: int, dimensions: int, ties: Ties) -> Extents:
    """As MPI_Dims_create of MPICH 4.0: the least difference between the largest and the smallest extent.

    The factors dealt out keep their place unless another factorisation is better.
    """
    best: Extents = tuple(sorted(dealt(ranks, dimensions, "first")))
    for found in ascending(ranks, dimensions):
        if found[-1] - found[0] < best[-1] - best[0]:
            best = found
    return best


def squarest(ranks: int, dimensions: int, ties: Ties) -> Extents:
    """In two dimensions: the largest divisor up to the square root, and the rest."""
    rows = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return (rows, ranks // rows)


def hpcg(ranks: int, dimensions: int, ties: Ties) -> Extents:
    """In three dimensions: as HPCG 3.1 (``ComputeOptimalShapeXYZ``), x first.

    Of a power of a prime, x has the most factors; of three other factors each is an extent; else the first shape with
    the least surface, where x counts through its prime factors, the smallest first, and y through those that are left.
    """
    counts = Counter(prime_factors(ranks))
    primes = sorted(counts)
    if len(primes) < 2:
        prime, number = (primes[0], counts[primes[0]]) if primes else (1, 0)
        x, y, z = (prime ** (number // 3 + more) for more in (number % 3 >= 1, number % 3 == 2, 0))
        return (x, y, z)
    if counts.total() <= 3:
        x, y = primes[:2]
        return (x, y, ranks // x // y)
    best, least = (ranks, 1, 1), 2 * ranks + 1
    for x in _products(primes, [counts[prime] for prime in primes]):
        left = Counter(prime_factors(ranks // x))
        for y in _products(primes, [left[prime] for prime in primes]):
            z = ranks // x // y
            if x * y + y * z + x * z < least:
                best, least = (x, y, z), x * y + y * z + x * z
    return best


def _products(primes: Sequence[int], most: Sequence[int]) -> list[int]:
    """Return the products of primes but 1, as a counter goes through their numbers, that of the first one fastest."""
    found = [1]
    for prime, number in zip(primes, most, strict=True):
        found = [one * prime**power for power in range(number + 1) for one in found]
    return found[1:]


RULES: dict[str, Callable[[int, int, Ties], Extents]] = {
    "least-surface": least_surface,
    "dealt": dealt,
    "line": line,
    "dims-create-mpich": dims_create_mpich,
    "dims-create-openmpi": dims_create_openmpi,
    "squarest": squarest,
    "hpcg": hpcg,
}
DIMENSIONS = {"squarest": 2, "hpcg": 3}
"""The number of dimensions of rules that have only one."""


def grid_of_rule(
    rule: str,
    ranks: int,
    dimensions: int,
    *,
    order: Order = "descending",
    ties: Ties = "first",
    layout: Layout = "last-fastest",
    periodic: tuple[bool, ...] = (),
) -> Grid:
    """Return the grid that a rule gives; axes are not periodic unless ``periodic`` says so."""
    return Grid(extents(rule, ranks, dimensions, order, ties), periodic or (False,) * dimensions, layout)


def coordinate_names(grid: Grid, ranks: Array) -> dict[str, Value]:
    """Return d0, d1, .. and the coordinates c0, c1, .. of ``ranks`` by the names that expressions use."""
    named: dict[str, Value] = {f"d{axis}": extent for axis, extent in enumerate(grid.extents)}
    return named | {f"c{axis}": found.astype(np.int64) for axis, found in enumerate(grid.coordinates(ranks))}
