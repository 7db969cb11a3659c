"""Grid rules against their definitions, and ranks on a grid."""

from __future__ import annotations

import math

import numpy as np
import pytest

from manynode.derived.grids import DIMENSIONS, RULES, Grid, extents, grid_of_rule, prime_factors


@pytest.mark.parametrize("rule", sorted(RULES))
def test_the_extents_of_every_rule_hold_all_ranks(rule: str) -> None:
    for ranks in range(1, 400):
        for dimensions in [DIMENSIONS[rule]] if rule in DIMENSIONS else [1, 2, 3, 4]:
            found = extents(rule, ranks, dimensions)
            assert len(found) == dimensions and math.prod(found) == ranks, (rule, ranks)
            assert list(found) == sorted(found, reverse=True)
            assert extents(rule, ranks, dimensions, "ascending") == found[::-1]


def test_least_surface_is_the_least_of_all() -> None:
    for ranks in (12, 64, 360, 1000, 1024):
        boxes = [
            (x, y, ranks // x // y)
            for x in range(1, ranks + 1) if ranks % x == 0
            for y in range(1, ranks // x + 1) if ranks // x % y == 0
        ]  # fmt: skip
        least = min(x * y + y * z + z * x for x, y, z in boxes)
        x, y, z = extents("least-surface", ranks, 3)
        assert x * y + y * z + z * x == least


def test_factors_are_dealt_to_the_smallest_extent() -> None:
    assert prime_factors(360) == [2, 2, 2, 3, 3, 5]
    assert extents("dealt", 12, 2, "unsorted") == (3, 4)
    assert extents("dealt", 12, 2, "unsorted", "last") == (4, 3)
    assert extents("dealt", 72, 2) == (12, 6)
    assert extents("dealt", 24, 3, "unsorted", "last") == (2, 4, 3)


def test_hpcg_is_what_the_benchmark_chooses() -> None:
    """Its own ``ComputeOptimalShapeXYZ`` (version 3.1) was asked."""
    asked = {
        1: (1, 1, 1), 7: (7, 1, 1), 16: (4, 2, 2), 32: (4, 4, 2), 6: (2, 3, 1), 12: (2, 3, 2), 18: (2, 3, 3),
        30: (2, 3, 5), 24: (2, 4, 3), 36: (4, 3, 3), 60: (4, 3, 5), 72: (4, 3, 6), 1024: (16, 8, 8),
    }  # fmt: skip
    assert {ranks: extents("hpcg", ranks, 3, "unsorted") for ranks in asked} == asked


# What the libraries themselves answered, where they differ from each other or from the rule "dealt".
@pytest.mark.parametrize(
    ("ranks", "mpich", "openmpi"),
    [
        (72, (9, 8), (12, 6)),
        (420, (21, 20), (28, 15)),
        (432, (9, 8, 6), (12, 6, 6)),
        (576, (9, 8, 8), (12, 8, 6)),
        (360, (10, 6, 6), (10, 6, 6)),
        (3696, (22, 14, 12), (22, 14, 12)),
        (20, (5, 2, 2, 1), (5, 2, 2, 1)),
        (2520, (10, 7, 6, 6), (10, 7, 6, 6)),
        (64, (4, 4, 4), (4, 4, 4)),
        (7, (7, 1, 1), (7, 1, 1)),
    ],
)
def test_dims_create_is_that_of_the_libraries(ranks: int, mpich: tuple[int, ...], openmpi: tuple[int, ...]) -> None:
    assert extents("dims-create-mpich", ranks, len(mpich)) == mpich
    assert extents("dims-create-openmpi", ranks, len(openmpi)) == openmpi


def test_squarest_has_the_largest_divisor_up_to_the_root() -> None:
    assert extents("squarest", 12, 2, "ascending") == (3, 4)
    assert extents("squarest", 36, 2) == (6, 6)
    assert extents("squarest", 13, 2, "ascending") == (1, 13)
    assert extents("line", 13, 3, "unsorted") == (13, 1, 1)


@pytest.mark.parametrize("layout", ["first-fastest", "last-fastest"])
def test_coordinates_and_ranks_are_inverse(layout: str) -> None:
    grid = Grid((4, 3, 2), (False,) * 3, layout)  # type: ignore[arg-type]
    ranks = np.arange(24, dtype=np.int64)
    coordinates = grid.coordinates(ranks)
    assert np.array_equal(grid.rank_at(list(coordinates)), ranks)
    fastest = coordinates[0 if layout == "first-fastest" else 2]
    assert fastest.tolist()[:4] == ([0, 1, 2, 3] if layout == "first-fastest" else [0, 1, 0, 1])


def test_a_grid_of_a_rule_is_not_periodic_unless_it_says_so() -> None:
    assert grid_of_rule("line", 5, 1) == Grid((5,), (False,), "last-fastest")
    assert grid_of_rule("dealt", 6, 2, periodic=(True, False)).periodic == (True, False)
