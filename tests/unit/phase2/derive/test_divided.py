"""Sizes of a range that the ranks divide: derived without its number being named, and never silently wrong.

``MANYNODE_FUZZ=all`` tries ten times as many sets of runs, ranges and ways to divide them.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from small_programs import DEALS, FACES, Deal, Parameters, Rank, grid_of, neighbour, place, run, runs

from manynode.errors import InputError
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.verdict import verdict

COUNTS = (4, 6, 8, 9, 12, 16, 18, 25, 27)
SETS = ((4, 8, 16), (2, 3, 5, 7), (5, 10, 15, 20), (8, 12, 18, 27))
RANGES = ((97, 0), (331, -8))
DEALT = ("first larger", "rounded up")
if os.environ.get("MANYNODE_FUZZ") == "all":
    SETS += (COUNTS, (4, 8, 12, 16, 18, 24, 27, 32), (4, 6, 9), (4, 12, 20, 28), (3, 6, 12, 24))
    RANGES += ((96, 0), (120, 80), (64, 0))
    DEALT += ("last larger", "rounded down")
TARGETS = (5, 7, 10, 15, 20, 24, 30, 36, 49, 64)

Program = Callable[[Rank, Parameters], None]


def ring(deal: Deal, cells: int, unit: int, border: int) -> Program:
    """Return a program whose ranks send their part of a range around a ring."""

    def program(rank: Rank, parameters: Parameters) -> None:
        size = unit * deal(cells, rank.ranks, rank.rank) + border
        for _ in range(4):
            rank.irecv((rank.rank - 1) % rank.ranks, 10**7)
            rank.isend((rank.rank + 1) % rank.ranks, size)
            rank.waitall()

    return program


def sides(deal: Deal, cells: int, unit: int, border: int) -> Program:
    """Return a program whose ranks send the sides of their part of a square to their neighbours."""

    def program(rank: Rank, parameters: Parameters) -> None:
        grid = grid_of(rank.ranks, 2)
        own = place(grid, rank.rank)
        for _ in range(4):
            for axis, step in ((0, -1), (0, 1), (1, -1), (1, 1)):
                there = neighbour(grid, rank.rank, axis, step)
                if there == PROC_NULL_PEER:
                    continue
                size = unit * deal(cells, grid.extents[1 - axis], own[1 - axis]) + border
                rank.isend(there, size, 2 * axis + (step > 0))
                rank.irecv(there, size, 2 * axis + (step < 0))
            rank.waitall()
            rank.collective("MPI_Allreduce", 8)

    return program


def faces(deal: Deal, cells: int, unit: int, border: int) -> Program:
    """Return a program whose ranks send the faces of their part of a box to their neighbours."""

    def program(rank: Rank, parameters: Parameters) -> None:
        grid = grid_of(rank.ranks)
        own = place(grid, rank.rank)
        # The sides of the box differ.
        sides = [deal(cells + 8 * axis, grid.extents[axis], own[axis]) + border for axis in range(3)]
        for _ in range(4):
            for axis, step in FACES:
                there = neighbour(grid, rank.rank, axis, step)
                if there == PROC_NULL_PEER:
                    continue
                size = unit * sides[(axis + 1) % 3] * sides[(axis + 2) % 3]
                rank.isend(there, size, 2 * axis + (step > 0))
                rank.irecv(there, size, 2 * axis + (step < 0))
            rank.waitall()
            rank.collective("MPI_Allreduce", 8)

    return program


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize(("cells", "unit", "border"), [(97, 8, 0), (1000, 24, 80), (333, 16, -16)])
def test_parts_of_a_range_are_found_and_hold_in_other_jobs(deal: str, cells: int, unit: int, border: int) -> None:
    if border < 0 and deal == "rounded up":
        pytest.skip("the last parts have no cells, and no message of less than nothing")
    program = ring(DEALS[deal], cells, unit, border)
    content = derive(runs(program, COUNTS)).skeleton
    agreed = [ranks for ranks in TARGETS if verdict(content, ranks).usable]
    assert agreed == list(TARGETS)
    assert all(first_difference(content, run(program, ranks)) is None for ranks in agreed)


@pytest.mark.parametrize("deal", DEALS)
def test_sides_of_parts_of_a_square_are_found(deal: str) -> None:
    program = sides(DEALS[deal], 101, 16, 80)
    content = derive(runs(program, COUNTS)).skeleton
    agreed = [ranks for ranks in TARGETS if verdict(content, ranks).usable]
    # Grids of one row, and longer axes for some ways to deal, were never seen.
    assert agreed[:6] == [10, 15, 20, 24, 30, 36]
    assert all(first_difference(content, run(program, ranks)) is None for ranks in agreed)


@pytest.mark.parametrize("edges", [(True, True), (True, False), (False, True)])
def test_parts_at_the_boundary_may_lack_its_cells(edges: tuple[bool, bool]) -> None:
    """NPB LU sends what is within a boundary of given values."""

    def inner(cells: int, parts: int, part: int) -> int:
        first, last = edges
        return DEALS["first larger"](cells, parts, part) - (first and part == 0) - (last and part == parts - 1)

    program = sides(inner, 101, 40, 0)
    content = derive(runs(program, COUNTS)).skeleton
    assert any("c0 == 0" in str(item) or "c0 == d0 - 1" in str(item) for item in content["body"])
    agreed = [ranks for ranks in TARGETS if verdict(content, ranks).usable]
    assert {20, 24, 30, 36} <= set(agreed)
    assert all(first_difference(content, run(program, ranks)) is None for ranks in agreed)


@pytest.mark.parametrize("deal", DEALS)
def test_faces_of_parts_of_a_box_are_found(deal: str) -> None:
    program = faces(DEALS[deal], 55, 8, 2)
    content = derive(runs(program, (1, 2, *COUNTS, 36, 64))).skeleton
    agreed = [ranks for ranks in (*TARGETS, 48, 80) if ranks != 64 and verdict(content, ranks).usable]
    assert {24, 48} <= set(agreed)
    assert all(first_difference(content, run(program, ranks)) is None for ranks in agreed)


@pytest.mark.parametrize("make", [ring, sides, faces])
@pytest.mark.parametrize("deal", DEALT)
@pytest.mark.parametrize("counts", SETS)
@pytest.mark.parametrize(("cells", "border"), RANGES)
def test_what_is_agreed_is_right(
    make: Callable[[Deal, int, int, int], Program], deal: str, counts: tuple[int, ...], cells: int, border: int
) -> None:
    program = make(DEALS[deal], cells, 8, border)
    try:
        content = derive(runs(program, counts)).skeleton
    except InputError:
        return
    for ranks in TARGETS:
        if ranks not in counts and verdict(content, ranks).usable:
            assert first_difference(content, run(program, ranks)) is None, ranks


def test_sizes_that_many_ranges_have_are_refused() -> None:
    """Two parts, and three, do not tell a range from its border."""

    def program(rank: Rank, parameters: Parameters) -> None:
        size = {4: 800, 6: 600, 9: 400}[rank.ranks]
        rank.sendrecv((rank.rank + 1) % rank.ranks, (rank.rank - 1) % rank.ranks, size)
        rank.collective("MPI_Barrier")

    with pytest.raises(InputError, match="no expression gives the bytes"):
        derive(runs(program, (4, 6, 9)))
