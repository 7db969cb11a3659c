"""Loops over bits, over a line of the grid, and transposed partners: exact at larger jobs, on any number of turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from small_programs import Parameters, Program, Rank, run, runs

from manynode.derived.grids import Grid, extents
from manynode.errors import InputError
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.verdict import verdict

POWERS, ANY = (1, 2, 4, 8, 16, 32), (1, 4, 6, 8, 12, 18, 24, 27)
Turns = Callable[[int, int], Iterator[tuple[int, int, int]]]  # rank, ranks -> number of the turn, peer, source


def bits(rank: int, ranks: int) -> Iterator[tuple[int, int, int]]:
    for turn in range(ranks.bit_length() - 1):
        yield turn, rank ^ 1 << turn, rank ^ 1 << turn


def bits_from_the_highest(rank: int, ranks: int) -> Iterator[tuple[int, int, int]]:
    for turn in range(ranks.bit_length() - 1):
        yield turn, rank ^ ranks >> turn + 1, rank ^ ranks >> turn + 1


def doubling(rank: int, ranks: int) -> Iterator[tuple[int, int, int]]:
    for turn in range((ranks - 1).bit_length()):
        yield turn, (rank + (1 << turn)) % ranks, (rank - (1 << turn)) % ranks


def all_others(rank: int, ranks: int) -> Iterator[tuple[int, int, int]]:
    for turn in range(ranks - 1):
        yield turn, (rank + turn + 1) % ranks, (rank - turn - 1) % ranks


def walk(
    turns: Turns,
    *,
    size: Callable[[int, int], int] = lambda turn, ranks: 64,
    tag: Callable[[int], int] = lambda turn: 0,
    one_call: bool = False,
    labels: bool = False,
) -> Program:
    """Return a program that receives from the source of each turn and sends to its peer, twice in each iteration."""

    def program(rank: Rank, _: Parameters) -> None:
        for _ in range(4):
            rank.collective("MPI_Allreduce", 8)
            for _ in range(2):
                for turn, peer, source in turns(rank.rank, rank.ranks):
                    if one_call:
                        rank.sendrecv(peer, source, size(turn, rank.ranks), tag(turn))
                    else:
                        rank.irecv(source, size(turn, rank.ranks), tag(turn))
                        rank.send(peer, size(turn, rank.ranks), tag(turn))
                        rank.waitall()
                    if labels:
                        rank.compute("add")
            rank.compute("work")

    return program


def exact(program: Program, counts: tuple[int, ...], larger: tuple[int, ...], *, sites: bool = True) -> None:
    derived = derive(runs(program, counts, sites=sites))
    for ranks in larger:
        assert first_difference(derived.skeleton, run(program, ranks)) is None
        found = verdict(derived.skeleton, ranks)
        assert found.level == "agreed", found.reasons


@pytest.mark.parametrize("sites", [True, False])
@pytest.mark.parametrize("options", [{}, {"one_call": True}, {"labels": True}], ids=str)
@pytest.mark.parametrize(
    ("turns", "counts", "larger"),
    [
        (bits, POWERS, (64, 256)),
        (bits_from_the_highest, POWERS, (64, 256)),
        (doubling, ANY, (36, 64, 100)),
        (all_others, ANY, (36, 64)),
    ],
)
def test_a_walk_is_exact_in_larger_jobs(
    turns: Turns, counts: tuple[int, ...], larger: tuple[int, ...], options: dict[str, bool], sites: bool
) -> None:
    exact(walk(turns, **options), counts, larger, sites=sites)


@pytest.mark.parametrize(
    ("size", "tag"),
    [
        (lambda turn, ranks: 8 << turn, lambda turn: turn),
        (lambda turn, ranks: 8 * ranks >> turn + 1, lambda turn: 10 + 3 * turn),
        (lambda turn, ranks: 8 * ranks, lambda turn: 40 - 2 * turn),
        (lambda turn, ranks: 64, lambda turn: 5),
    ],
    ids=["twice as much", "half as much", "as many as ranks", "the same"],
)
def test_sizes_and_tags_may_follow_the_turn(size: Callable[[int, int], int], tag: Callable[[int], int]) -> None:
    exact(walk(bits, size=size, tag=tag), POWERS, (64, 128))


def test_tags_may_count_the_turns_that_are_left() -> None:
    def program(rank: Rank, _: Parameters) -> None:
        for _ in range(4):
            left = rank.ranks.bit_length() - 1
            for turn, peer, _ in bits(rank.rank, rank.ranks):
                rank.irecv(peer, 8, left - turn)
                rank.send(peer, 8, left - turn)
                rank.waitall()
            rank.collective("MPI_Allreduce", 8)

    exact(program, POWERS, (64, 128))


def matrix(ranks: int) -> Grid:
    return Grid(extents("least-surface", ranks, 2, "descending"), (True, True), "first-fastest")


def transposed(rank: Rank, *, to_itself: bool) -> None:
    """Exchange blocks as NPB CG does, on a square of ranks or two."""
    columns, rows = matrix(rank.ranks).extents
    both = columns // rows
    peer = both * (rank.rank // both % rows * rows + rank.rank // both // rows) + rank.rank % both
    if to_itself or peer != rank.rank:
        rank.irecv(peer, 80, 1)
        rank.send(peer, 80, 1)
        rank.waitall()


@pytest.mark.parametrize("to_itself", [True, False])
def test_rows_over_bits_and_a_transposed_matrix_are_exact(to_itself: bool) -> None:
    def program(rank: Rank, _: Parameters) -> None:
        columns = matrix(rank.ranks).extents[0]
        column = rank.rank % columns
        for _ in range(4):
            for _, peer, _ in bits_from_the_highest(column, columns):
                rank.irecv(rank.rank - column + peer, 8, 2)
                rank.send(rank.rank - column + peer, 8, 2)
                rank.waitall()
            transposed(rank, to_itself=to_itself)
            rank.collective("MPI_Allreduce", 8)

    exact(program, (2, 4, 8, 16, 32, 64), (128, 256))


def test_numbers_of_walks_along_two_axes_follow_their_own_axis() -> None:
    """On squares both axes have as many turns: which one a number follows is a doubt, the walk's own comes first."""

    def program(rank: Rank, _: Parameters) -> None:
        columns, rows = matrix(rank.ranks).extents
        column, row = rank.rank % columns, rank.rank // columns
        for _ in range(4):
            for turn, peer, _ in bits(column, columns):
                rank.sendrecv(row * columns + peer, row * columns + peer, 8, columns.bit_length() - 1 - turn)
            rank.collective("MPI_Allreduce", 8)
            for turn, peer, _ in bits(row, rows):
                rank.irecv(peer * columns + column, 8, rows.bit_length() - 1 - turn)
                rank.isend(peer * columns + column, 8, rows.bit_length() - 1 - turn)
                rank.waitall()
            rank.collective("MPI_Allreduce", 8)

    derived = derive(runs(program, (4, 16, 64)))
    for ranks in (32, 128):
        assert first_difference(derived.skeleton, run(program, ranks)) is None
        assert not verdict(derived.skeleton, ranks).usable, "the other axis remains a doubt"


@pytest.mark.parametrize(
    "habit",
    [
        lambda turn, rank, ranks: turn == 3 and rank % 2,
        lambda turn, rank, ranks: turn == 2 and ranks > 8,
        lambda turn, rank, ranks: rank == 5,
        lambda turn, rank, ranks: turn and ranks < 8,
    ],
)
def test_a_walk_with_a_habit_is_exact_or_refused(habit: Callable[[int, int, int], bool]) -> None:
    """Some turns of some ranks have one more message."""

    def program(rank: Rank, _: Parameters) -> None:
        for _ in range(4):
            for turn, peer, _ in bits(rank.rank, rank.ranks):
                rank.irecv(peer, 8)
                rank.send(peer, 8)
                rank.waitall()
                if habit(turn, rank.rank, rank.ranks) and habit(turn, peer, rank.ranks):
                    rank.sendrecv(peer, peer, 16)
            rank.collective("MPI_Allreduce", 8)

    try:
        derived = derive(runs(program, POWERS))
    except InputError:
        return
    for ranks in (64, 128):
        if verdict(derived.skeleton, ranks).usable:
            assert first_difference(derived.skeleton, run(program, ranks)) is None


def shifts(times: Callable[[int], int], *, after: bool = False) -> Program:
    """Return a program of rows of ranks that shift blocks so often, as Cannon's algorithm does."""

    def program(rank: Rank, _: Parameters) -> None:
        side = round(rank.ranks**0.5)
        row = rank.rank // side * side
        for _ in range(4):
            rank.collective("MPI_Bcast", 8, root=0)
            for turn in range(times(side)):
                rank.isend(row + (rank.rank + 1) % side, 80)
                rank.irecv(row + (rank.rank - 1) % side, 80)
                rank.waitall()
                if after or turn < times(side) - 1:
                    rank.compute("multiply")
        rank.compute("gather")

    return program


@pytest.mark.parametrize("sites", [True, False])
@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize(
    "times", [lambda side: side, lambda side: 2 * side + 1, lambda side: 720 // side], ids=["n", "2 n + 1", "720 / n"]
)
def test_turns_that_are_alike_follow_the_number_of_ranks(times: Callable[[int], int], after: bool, sites: bool) -> None:
    exact(shifts(times, after=after), (4, 9, 16, 25, 36), (64, 144), sites=sites)


@pytest.mark.parametrize(
    "times", [lambda side: side * (side - 1) // 2 + 1, lambda side: min(side, 5), lambda side: side + side % 3]
)
def test_turns_by_another_rule_are_exact_or_refused(times: Callable[[int], int]) -> None:
    program = shifts(times)
    try:
        derived = derive(runs(program, (4, 9, 16, 25, 36)))
    except InputError:
        return
    for ranks in (64, 81, 144):
        if verdict(derived.skeleton, ranks).usable:
            assert first_difference(derived.skeleton, run(program, ranks)) is None
