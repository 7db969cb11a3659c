"""Sizes of messages between unequal blocks of a global array.

An array of N cells along each axis is divided among the ranks of the axis; a message has as many cells as the blocks
that meet in it. In: bytes at points, of neighbours or of a walk. Out: expressions, if N is an expression of the
number of ranks and the parameters, such as ``smooth(root(elements * P, 3))``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from phase2_nodesim.derive.rules.divided import DEALS
from phase2_nodesim.derive.rules.formulas import Formulas, Observed, fits
from phase2_nodesim.derive.sequence.walks import Along, names, place_of

# The two usual ways to divide n cells: the first n % parts blocks have one more, or the ends are rounded down.
_BLOCKS = tuple(form for _, form in DEALS[:2])
SIDE = "side"


def block_sizes(observed: Sequence[Observed], along: Along | None, formulas: Formulas) -> list[str]:
    """Return the expressions that fit, or none."""
    points = formulas.points
    found = []
    places_of = list(_places(points.rule.dimensions if points.rule else 0, along))
    for form, places, side in itertools.product(_BLOCKS, places_of, sides(formulas)):
        product = " * ".join(form.format(n=f"({side})", d=parts, c=f"({part})") for parts, part in places)
        unit = _unit(product, observed, formulas)
        if unit and fits(f"{unit} * {product}", observed, points):
            found.append(f"{unit} * {product}")
    return found


def _places(dimensions: int, along: Along | None) -> Iterator[list[tuple[str, str]]]:
    """Yield the blocks that may meet, as (how many, which): the own ones, and the peer's of a walk."""
    own = [(f"d{axis}", f"c{axis}") for axis in range(dimensions)]
    if along is not None:
        yield [*own, (names(along[0])[1], place_of(along))]
    for number in range(1, dimensions + 1):
        yield from map(list, itertools.combinations(own, number))
    if dimensions != 1:
        yield [("P", "rank")]


def sides(formulas: Formulas) -> list[str]:
    """Return expressions that the side of a global array may be; of parameters, or of their only recorded values."""
    runs = formulas.points.runs
    fixed = {value for _, parameters in runs for name, value in parameters.items() if name not in formulas.varied}
    names = [*formulas.varied, *(str(value) for value in sorted(fixed) if value > 1)]
    found = list(names)
    for name, power in itertools.product(names, (2, 3)):
        found += [f"root({name} * P, {power})", f"smooth(root({name} * P, {power}))"]
    return found


def _unit(product: str, observed: Sequence[Observed], formulas: Formulas) -> int:
    """Return the factor at the first observed value, or 0 if it is not whole."""
    for one in observed:
        values = formulas.points.values(product, **one.bound)
        if values is None:
            return 0
        cells, sizes = values[one.where], one.values[one.where]
        if len(cells):
            return int(sizes[0] // cells[0]) if cells[0] and sizes[0] % cells[0] == 0 else 0
    return 0
