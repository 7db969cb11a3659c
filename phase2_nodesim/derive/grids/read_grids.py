"""Grids that a program chooses by a rule of its own: the extents of each run are read from its messages.

In: the messages of the runs, by place and number of ranks. Out: extents by number of ranks, axis 0 first, under which
the messages are the fewest displacements of all runs together. Small jobs have many such grids: the largest one comes
first and says which displacements there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from manynode.derived.grids import Extents, Grid, ascending
from phase2_nodesim.derive.grids.patterns import GridRule, Label, Labels, Pairs, Pattern, own_grid, periodic_axes, signs
from phase2_nodesim.derive.recorded.identity import Place

_DIMENSIONS = (2, 3)
# Displacements a place, on the wrong grid: the right one has 26 at most.
_MOST_NEIGHBOURS = 64
# Of the largest job: grids that explain it alone about as well as the best one.
_MOST_STARTS = 4

Steps = frozenset[tuple[Place, Label]]


def read_grid(pattern: Pattern) -> GridRule | None:
    """Return the rule of a grid that is known for the runs alone; None if a rule for all jobs explains them as well."""
    if pattern.labels is None or pattern.displacements > _MOST_NEIGHBOURS * len(places_of(pattern)):
        return None
    found = [(*_read(pattern.labels, places_of(pattern), dimensions), dimensions) for dimensions in _DIMENSIONS]
    score, shapes, _ = min(found, key=lambda one: (one[0], one[2]))
    if score >= pattern.displacements:
        return None
    rule = own_grid(shapes)
    return replace(rule, periodic=periodic_axes(rule, pattern.labels, places_of(pattern)))


def read_others(pattern: Pattern, others: Pairs) -> dict[int, Extents]:
    """Return the extents of further runs, whose messages have the displacements that the pattern's have."""
    assert pattern.labels is not None and pattern.grid is not None
    known: Steps = frozenset()
    places, labels = places_of(pattern), Labels(others)
    for count, shape in pattern.grid.exceptions:
        known |= _steps(pattern.labels, places, count, shape)
    return {count: _nearest(labels, places, count, pattern.grid.dimensions, known) for count in others}


def places_of(pattern: Pattern) -> list[Place]:
    """Return the places whose messages are on a grid."""
    return sorted((place for place, family in (pattern.families or {}).items() if family == "grid"), key=str)


def _read(labels: Labels, places: Sequence[Place], dimensions: int) -> tuple[int, dict[int, Extents]]:
    """Return how many displacements there are, and the extents."""
    largest, *smaller = sorted(labels.pairs, reverse=True)
    alone = {shape: _steps(labels, places, largest, shape) for shape in shapes_of(largest, dimensions)}
    found = []
    for start in sorted(alone, key=lambda shape: len(_more(alone[shape], frozenset())))[:_MOST_STARTS]:
        known, shapes = alone[start], {largest: start}
        for count in smaller:
            shapes[count] = _nearest(labels, places, count, dimensions, known)
            known |= _steps(labels, places, count, shapes[count])
        found.append((len(_more(known, frozenset())), shapes))
    return min(found, key=lambda one: one[0])


def _nearest(labels: Labels, places: Sequence[Place], count: int, dimensions: int, known: Steps) -> Extents:
    """Return the extents with the fewest displacements that are not known; of equal ones the squarest."""
    shapes = shapes_of(count, dimensions)
    return min(shapes, key=lambda shape: (len(_more(_steps(labels, places, count, shape), known)), max(shape)))


def _steps(labels: Labels, places: Sequence[Place], count: int, shape: Extents) -> Steps:
    grid = Grid(shape, (True,) * len(shape), "first-fastest")
    return frozenset((place, label) for place in places for label in labels.of(place, count, grid))


def _more(steps: Steps, known: Steps) -> Steps:
    """Return the displacements that are not known; where both signs are possible, the one known counts."""
    everything = known | {one for one in steps if "+-" not in one[1]}
    solid = {one for one in steps - known if "+-" not in one[1]}
    both = {one for one in steps - known if "+-" in one[1]}
    return frozenset(solid | {(p, one) for p, one in both if not any((p, sign) in everything for sign in signs(one))})


def shapes_of(ranks: int, dimensions: int) -> list[Extents]:
    """Return all extents whose product is the number of ranks, in ascending order."""
    return sorted({shape for found in ascending(ranks, dimensions) for shape in itertools.permutations(found)})
