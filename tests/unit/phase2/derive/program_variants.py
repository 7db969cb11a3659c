"""Variants of small programs: habits that a derivation knows, and ones that small jobs show in part or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from small_programs import FACES, Parameters, Program, Rank, grid_of, halo, neighbour, place


def ring(rank: Rank, parameters: Parameters, *, steps: tuple[int, ...] = (1,)) -> None:
    """Pass messages around, to ranks these steps away."""
    for _ in range(4):
        for step in steps:
            rank.sendrecv((rank.rank + step) % rank.ranks, (rank.rank - step) % rank.ranks, 64)
        rank.collective("MPI_Allreduce", 8)


def tree(rank: Rank, parameters: Parameters) -> None:
    """Sum up along a binary tree."""
    for _ in range(4):
        for number in (1, 2):
            if 2 * rank.rank + number < rank.ranks:
                rank.irecv(2 * rank.rank + number, 8, number)
        rank.waitall()
        if rank.rank:
            rank.isend((rank.rank - 1) // 2, 8, 1 + (rank.rank - 1) % 2)
        rank.waitall()
        rank.collective("MPI_Allreduce", 8)


def dissemination(rank: Rank, parameters: Parameters, *, partner: Callable[[int, int, int], int]) -> None:
    """Exchange with a partner at each doubling of the distance."""
    for _ in range(4):
        step = 1
        while step < rank.ranks:
            to = partner(rank.rank, step, rank.ranks)
            rank.sendrecv(to, (2 * rank.rank - to) % rank.ranks if to != rank.rank ^ step else to, 64)
            step *= 2
        rank.compute("work")


def red_black(rank: Rank, parameters: Parameters) -> None:
    """Send first where the sum of the coordinates is even, else receive first."""
    grid = grid_of(rank.ranks)
    for _ in range(4):
        for axis, step in FACES:
            peer = neighbour(grid, rank.rank, axis, step)
            if peer >= 0:
                first, second = (
                    (rank.send, rank.recv) if sum(place(grid, rank.rank)) % 2 == 0 else (rank.recv, rank.send)
                )
                first(peer, 80, axis)
                second(peer, 80, axis)
        rank.collective("MPI_Allreduce", 8)


def even_odd(rank: Rank, parameters: Parameters) -> None:
    """Pairs of ranks, of which the even one sends first."""
    for _ in range(4):
        peer = rank.rank ^ 1
        if peer < rank.ranks:
            first, second = (rank.send, rank.recv) if rank.rank % 2 == 0 else (rank.recv, rank.send)
            first(peer, 80)
            second(peer, 80)
        rank.collective("MPI_Allreduce", 8)


def one_sends(which: Callable[[int], int]) -> Callable[[Rank, int], None]:
    """One rank sends rank 0 a message in each iteration."""

    def extra(rank: Rank, _: int) -> None:
        sender = which(rank.ranks)
        if rank.rank == sender != 0:
            rank.send(0, 8, 7)
        if rank.rank == 0 < sender < rank.ranks:
            rank.recv(sender, 8, 7)

    return extra


def barrier_if(condition: Callable[[int], bool]) -> Callable[[Rank, int], None]:
    """All ranks meet where the number of ranks is such."""

    def extra(rank: Rank, _: int) -> None:
        if condition(rank.ranks):
            rank.collective("MPI_Barrier")

    return extra


def whole_line(rank: Rank, _: int) -> None:
    """Send to all ranks of the own line along the last axis."""
    grid = grid_of(rank.ranks)
    here = place(grid, rank.rank)[2]
    others = [rank.rank + (there - here) * grid.strides[2] for there in range(grid.extents[2]) if there != here]
    for peer in others:
        rank.isend(peer, 8, 30)
    for peer in others:
        rank.irecv(peer, 8, 30)
    rank.waitall()


def opposite(rank: Rank, _: int) -> None:
    half = rank.ranks // 2
    rank.sendrecv((rank.rank + half) % rank.ranks, (rank.rank - half) % rank.ranks, 8, 9)


def sums(number: Callable[[int], int]) -> Program:
    """So many sums in each iteration."""

    def program(rank: Rank, parameters: Parameters) -> None:
        for _ in range(4):
            for _ in range(number(rank.ranks)):
                rank.collective("MPI_Allreduce", 8)
            rank.compute("work")

    return program


def iterations(number: Callable[[int], int]) -> Program:
    """A solver that needs so many iterations."""
    return lambda rank, parameters: halo(rank, {**parameters, "iterations": number(rank.ranks)})


def reordered(backwards: Callable[[Rank], bool]) -> Program:
    """A halo exchange that some ranks make in the opposite order."""
    return lambda rank, parameters: halo(rank, parameters, order=FACES[::-1] if backwards(rank) else FACES)


def doublings(ranks: int) -> int:
    return ranks.bit_length() - 1


def sized(size: Callable[[int], int]) -> Program:
    """A halo exchange whose sizes depend on the number of ranks."""
    return partial(halo, size=lambda axis, ranks: size(ranks))


KNOWN: dict[str, Program] = {
    "faces": halo,
    "faces, with tags": partial(halo, tags=True),
    "faces, nobody beyond the edge": partial(halo, nobody=True),
    "faces, one axis wraps around": partial(halo, around=(2,)),
    "faces, all axes wrap around": partial(halo, around=(0, 1, 2), tags=True),
    "faces, another order": partial(halo, order=((2, 1), (1, 1), (0, 1), (0, -1), (1, -1), (2, -1))),
    "faces, sizes by axis": partial(halo, size=lambda axis, ranks: 8 * (axis + 1)),
    "faces, sizes grow with the ranks": sized(lambda ranks: 8 * ranks),
    "ring": ring,
    "ring, two steps": partial(ring, steps=(1, 2)),
    "tree": tree,
    "pairs of even and odd ranks": even_odd,
    "whole lines": partial(halo, extra=whole_line),
}

UNKNOWN: dict[str, Program] = {
    "the last rank sends": partial(halo, extra=one_sends(lambda ranks: ranks - 1)),
    "one odd rank": partial(halo, extra=one_sends(lambda ranks: 5)),
    "the rank in the middle": partial(halo, extra=one_sends(lambda ranks: ranks // 2)),
    "the opposite rank": partial(halo, extra=opposite),
    "red and black": red_black,
    "order by parity": reordered(lambda rank: rank.rank % 2 == 1),
    "order by size of the job": reordered(lambda rank: rank.ranks >= 24),
    "order by coordinate": reordered(lambda rank: place(grid_of(rank.ranks), rank.rank)[2] == 3),
    "a barrier from 32 ranks on": partial(halo, extra=barrier_if(lambda ranks: ranks >= 32)),
    "a barrier from 25 ranks on": partial(halo, extra=barrier_if(lambda ranks: ranks > 24)),
    "a barrier at multiples of 3": partial(halo, extra=barrier_if(lambda ranks: ranks % 3 == 0)),
    "a size for jobs from 16 ranks on": sized(lambda ranks: 80 if ranks < 16 else 40),
    "a size for jobs from 32 ranks on": sized(lambda ranks: 80 if ranks < 32 else 40),
    "a size for each doubling": sized(lambda ranks: 8 * doublings(ranks)),
    "a share that is rounded": sized(lambda ranks: 8 * (7200 // ranks)),
    "a sum for each doubling": sums(doublings),
    "an iteration for each doubling": iterations(lambda ranks: 3 + doublings(ranks)),
    "an iteration for ten ranks": iterations(lambda ranks: 3 + ranks // 10),
    "dissemination": partial(dissemination, partner=lambda rank, step, ranks: (rank + step) % ranks),
    "a hypercube": partial(
        dissemination, partner=lambda rank, step, ranks: rank ^ step if rank ^ step < ranks else rank
    ),
    "a ring of four steps": partial(ring, steps=(1, 2, 3, 4)),
}
