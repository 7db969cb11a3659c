"""Grids of larger jobs from those of smaller ones, of programs that divide a box of any shape."""

from __future__ import annotations

import itertools
import math

import pytest

from manynode.derived.grids import Extents
from phase2_nodesim.derive.grids.boxes import extents_at

COUNTS = (4, 8, 12, 16, 18, 24, 27, 32, 36)
LARGER = (48, 64, 100, 128, 256, 512)


def grids(ranks: int, dimensions: int) -> list[Extents]:
    divisors = [one for one in range(1, ranks + 1) if ranks % one == 0]
    return [found for found in itertools.product(divisors, repeat=dimensions) if math.prod(found) == ranks]


def least(ranks: int, lengths: tuple[float, ...]) -> list[Extents]:
    """Return the grids whose parts have the least surface: several where they are equal."""
    surface = {
        found: sum(extent / length for extent, length in zip(found, lengths, strict=True))
        for found in grids(ranks, len(lengths))
    }
    return [found for found, one in surface.items() if one < min(surface.values()) * (1 + 1e-9)]


@pytest.mark.parametrize("lengths", [(1, 4), (1, 1), (3, 1), (32, 16, 8), (30, 20, 10), (2.3, 1, 1), (1, 1, 1)])
@pytest.mark.parametrize("last", [False, True])
def test_grids_are_known_only_where_the_box_decides(lengths: tuple[float, ...], last: bool) -> None:
    known = {ranks: least(ranks, lengths)[-last] for ranks in COUNTS}
    found = extents_at(known, LARGER)
    for ranks, extents in found.items():
        assert [extents] == least(ranks, lengths), ranks
    decided = {(1, 4): 64, (1, 1): 256, (32, 16, 8): 512}
    if lengths in decided and not last:
        assert decided[lengths] in found


def test_grids_of_another_rule_give_nothing() -> None:
    wide = {ranks: (ranks // 2, 2) if ranks % 2 == 0 else (1, ranks) for ranks in COUNTS}
    assert extents_at(wide, [64]) == {}
