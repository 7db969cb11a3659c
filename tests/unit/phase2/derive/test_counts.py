"""Blocks of collectives with counts: derived where they are equal or parts of a divided range; never silently wrong.

``MANYNODE_FUZZ=all`` tries more sets of runs and ways to divide.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from small_programs import DEALS, Deal, Parameters, Rank, grid_of, place, run, runs

from manynode.errors import InputError
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.interpret import Job
from phase2_nodesim.derive.judging.matching import mismatch
from phase2_nodesim.derive.judging.verdict import verdict

COUNTS = (4, 6, 8, 9, 12, 16, 18, 25, 27)
SETS: tuple[tuple[int, ...], ...] = ((4, 8, 16), (3, 5, 7, 12))
CELLS: tuple[int, ...] = (97, 96)
if os.environ.get("MANYNODE_FUZZ") == "all":
    SETS += (COUNTS, (2, 3, 4), (6, 12, 24), (5, 10, 15, 20))
    CELLS += (64, 120, 331)
TARGETS = (5, 10, 24, 36, 64)

Program = Callable[[Rank, Parameters], None]


def shares(deal: Deal, cells: int) -> Program:
    """Return a program that gathers, scatters and reduces the parts of a range."""

    def program(rank: Rank, parameters: Parameters) -> None:
        parts = [8 * deal(parameters.get("cells", cells), rank.ranks, part) for part in range(rank.ranks)]
        for _ in range(4):
            rank.with_counts("MPI_Allgatherv", parts[rank.rank], received=parts)
            rank.with_counts("MPI_Gatherv", parts[rank.rank], root=0, received=parts)
            rank.with_counts("MPI_Scatterv", parts[rank.rank], root=rank.ranks - 1, sent=parts)
            rank.with_counts("MPI_Reduce_scatter", sum(parts), received=parts)

    return program


def transpose(deal: Deal, cells: int) -> Program:
    """Return a program that transposes a matrix whose rows and columns, of which there are some more, are divided."""

    def program(rank: Rank, parameters: Parameters) -> None:
        rows, columns = ([deal(n, rank.ranks, part) for part in range(rank.ranks)] for n in (cells, cells + 4))
        sent = [16 * rows[rank.rank] * part for part in columns]
        received = [16 * part * columns[rank.rank] for part in rows]
        for _ in range(4):
            rank.with_counts("MPI_Alltoallv", sum(sent), sent=sent, received=received)

    return program


def lines(deal: Deal, cells: int) -> Program:
    """Return a program that transposes along the first axis of a grid."""

    def program(rank: Rank, parameters: Parameters) -> None:
        grid = grid_of(rank.ranks, 2)
        own = place(grid, rank.rank)
        rank.split(3, lambda one: (place(grid, one)[1], one))
        blocks = [
            8 * deal(cells, grid.extents[0], own[0]) * deal(cells, grid.extents[0], part)
            for part in range(grid.extents[0])
        ]
        for _ in range(4):
            rank.with_counts("MPI_Alltoallv", sum(blocks), communicator=3, sent=blocks, received=blocks)

    return program


def equal(deal: Deal, cells: int) -> Program:
    """Return a program whose blocks are all equal, though it gives counts."""

    def program(rank: Rank, parameters: Parameters) -> None:
        blocks = [cells * 8] * rank.ranks
        for _ in range(4):
            rank.with_counts("MPI_Alltoallv", sum(blocks), sent=blocks, received=blocks)
            rank.with_counts("MPI_Allgatherv", cells * 8, received=blocks)

    return program


def drawn(deal: Deal, cells: int) -> Program:
    """Return a program whose blocks follow its data."""

    def program(rank: Rank, parameters: Parameters) -> None:
        def size(sender: int, receiver: int) -> int:
            return cells // rank.ranks + (sender * 7 + receiver * 13) % 5

        sent = [size(rank.rank, other) for other in range(rank.ranks)]
        for _ in range(4):
            received = [size(other, rank.rank) for other in range(rank.ranks)]
            rank.with_counts("MPI_Alltoallv", sum(sent), sent=sent, received=received)

    return program


KINDS = {one.__name__: one for one in (shares, transpose, lines, equal, drawn)}


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("kind", ["shares", "transpose", "lines"])
def test_parts_of_a_range_are_found_and_hold_in_other_jobs(kind: str, deal: str) -> None:
    program = KINDS[kind](DEALS[deal], 101)
    content = derive(runs(program, COUNTS)).skeleton
    # Several ways to divide are one where few ranks are along an axis: larger jobs may be refused.
    usable = [ranks for ranks in (20, 36, 64) if verdict(content, ranks).usable]
    assert usable and (usable == [20, 36, 64] or kind == "lines")
    for ranks in usable:
        assert first_difference(content, run(program, ranks)) is None
        assert mismatch(Job(content, ranks)) is None


def test_a_range_that_is_a_parameter_is_followed() -> None:
    program = shares(DEALS["first larger"], 97)
    base = [run(program, ranks, {"cells": 97}) for ranks in COUNTS]
    others = [run(program, 12, {"cells": cells}) for cells in (64, 131, 200)]
    content = derive([*base, *others]).skeleton
    assert content["parameters"].keys() == {"cells"}
    assert verdict(content, 40, {"cells": 150}).usable
    assert first_difference(content, run(program, 40, {"cells": 150})) is None


@pytest.mark.parametrize("counts", SETS)
@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_agreed_is_right(kind: str, deal: str, cells: int, counts: tuple[int, ...]) -> None:
    program = KINDS[kind](DEALS[deal], cells)
    try:
        content = derive(runs(program, counts)).skeleton
    except InputError:
        return
    for ranks in TARGETS:
        if verdict(content, ranks).usable:
            assert first_difference(content, run(program, ranks)) is None, f"{ranks} ranks"


@pytest.mark.parametrize("field", ["sent", "received"])
def test_blocks_that_do_not_fit_each_other_are_found(field: str) -> None:
    content = derive(runs(transpose(DEALS["first larger"], 97), COUNTS)).skeleton
    call = next(item for item in content["body"][0]["do"] if field in item)
    call[field] = f"{call[field]} + (rank == 3)"
    assert mismatch(Job(content, 12)) == "a rank sends blocks of other sizes than another one receives"


@pytest.mark.parametrize(
    ("call", "field"), [("MPI_Gatherv", "bytes"), ("MPI_Gatherv", "received"), ("MPI_Scatterv", "bytes")]
)
def test_what_a_root_gives_or_takes_is_what_the_others_have(call: str, field: str) -> None:
    content = derive(runs(shares(DEALS["first larger"], 97), COUNTS)).skeleton
    item = next(item for item in content["body"][0]["do"] if item["call"] == call)
    item[field] = f"{item[field]} + (P == 12)"
    assert mismatch(Job(content, 12)) == "a rank sends blocks of other sizes than another one receives"
    assert mismatch(Job(content, 16)) is None


def test_a_list_that_all_ranks_know_is_one() -> None:
    content = derive(runs(shares(DEALS["first larger"], 97), COUNTS)).skeleton
    item = next(item for item in content["body"][0]["do"] if item["call"] == "MPI_Allgatherv")
    item["received"] = f"{item['received']} + (rank == 3)"
    assert mismatch(Job(content, 12)) == "ranks 0 and 3 make different collectives"
