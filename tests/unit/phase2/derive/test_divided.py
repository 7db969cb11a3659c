"""Sizes of a range that the ranks divide: derived without its number being named, and never silently wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from small_programs import Parameters, Rank, grid_of, neighbour, place, run, runs

from manynode.errors import InputError
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.compared import first_difference
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.verdict import verdict

COUNTS = (4, 6, 8, 9, 12, 16, 18, 25, 27)
SETS = (COUNTS, (4, 8, 16), (4, 6, 9), (2, 3, 5, 7), (5, 10, 15, 20), (4, 12, 20, 28), (3, 6, 12, 24))
TARGETS = (5, 7, 10, 15, 20, 24, 30, 36, 49, 64)

# Cells of a part.
Deal = Callable[[int, int, int], int]
DEALS: dict[str, Deal] = {
    "first larger": lambda cells, parts, part: cells // parts + (part < cells % parts),
    "last larger": lambda cells, parts, part: cells // parts + (part >= parts - cells % parts),
    "rounded down": lambda cells, parts, part: cells * (part + 1) // parts - cells * part // parts,
    "rounded up": lambda cells, parts, part: min(-(-cells // parts), max(0, cells - part * -(-cells // parts))),
}
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


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize(("cells", "unit", "border"), [(97, 8, 0), (1000, 24, 0), (515, 8, 80), (333, 16, -16)])
def test_parts_of_a_range_are_found_and_hold_in_other_jobs(deal: str, cells: int, unit: int, border: int) -> None:
    if border < 0 and deal == "rounded up":
        pytest.skip("the last parts have no cells, and no message of less than nothing")
    program = ring(DEALS[deal], cells, unit, border)
    content = derive(runs(program, COUNTS)).skeleton
    agreed = [ranks for ranks in TARGETS if verdict(content, ranks).usable]
    assert agreed == list(TARGETS)
    assert all(first_difference(content, run(program, ranks)) is None for ranks in agreed)


@pytest.mark.parametrize("border", [0, 80])
@pytest.mark.parametrize("deal", DEALS)
def test_sides_of_parts_of_a_square_are_found(deal: str, border: int) -> None:
    program = sides(DEALS[deal], 101, 16, border)
    content = derive(runs(program, COUNTS)).skeleton
    agreed = [ranks for ranks in TARGETS if verdict(content, ranks).usable]
    # Grids of one row, and longer axes for some ways to deal, were never seen.
    assert agreed[:6] == [10, 15, 20, 24, 30, 36]
    assert all(first_difference(content, run(program, ranks)) is None for ranks in agreed)


@pytest.mark.parametrize("make", [ring, sides])
@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("counts", SETS)
@pytest.mark.parametrize(("cells", "border"), [(96, 0), (97, 0), (120, 80), (64, 0), (331, -8)])
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
