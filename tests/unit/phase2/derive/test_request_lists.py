"""Lists of requests whose length differs from rank to rank, waited for one by one, and receives from any source."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from small_programs import Parameters, Program, Rank, grid_of, place, run, runs

from phase2_nodesim.arrivals import in_one_order
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.derive.summary import summary
from phase2_nodesim.recording import RecordedCall

COUNTS = (1, 4, 8, 12, 18, 27)
STEPS = [steps for steps in itertools.product((-1, 0, 1), repeat=3) if any(steps)]


def around(rank: Rank) -> list[tuple[tuple[int, ...], int]]:
    """Return the neighbours of a rank at sides, edges and corners, with the steps there, by rank."""
    grid = grid_of(rank.ranks)
    here = place(grid, rank.rank)
    found = []
    for steps in STEPS:
        there = [c + step for c, step in zip(here, steps, strict=True)]
        if all(0 <= c < extent for c, extent in zip(there, grid.extents, strict=True)):
            found.append((steps, sum(c * stride for c, stride in zip(there, grid.strides, strict=True))))
    return sorted(found, key=lambda one: one[1])


def size(steps: tuple[int, ...], n: int) -> int:
    return 8 * n ** steps.count(0)


def wait(rank: Rank, request: int, site: str = "wait") -> None:
    rank.open.remove(request)
    rank.note(RecordedCall("MPI_Wait", "", completes=(request,)), site)


def listed(newest: bool) -> Program:
    """Return a program that waits for its receives in the order of the list, or in the opposite one."""

    def program(rank: Rank, parameters: Parameters) -> None:
        for _ in range(parameters["iterations"]):
            neighbours = around(rank)
            for steps, peer in neighbours:
                rank.irecv(peer, size(steps, parameters["n"]))
            for steps, peer in neighbours:
                rank.send(peer, size(steps, parameters["n"]))
            for request in reversed(list(rank.open)) if newest else list(rank.open):
                wait(rank, request)
            rank.collective("MPI_Allreduce", 8)

    return program


@pytest.mark.parametrize("newest", [False, True], ids=["in order", "newest first"])
def test_a_list_of_requests_is_waited_for_one_by_one(newest: bool) -> None:
    program, usual = listed(newest), {"n": 4, "iterations": 5}
    varied = [run(program, 12, {**usual, **{name: value}}) for name, value in
              [("n", 5), ("n", 7), ("iterations", 6), ("iterations", 9)]]  # fmt: skip
    found = derive([*runs(program, COUNTS, **usual), *varied], runs(program, (16, 36), **usual))
    assert set(found.report.held_out.values()) == {"equal"} and found.report.fixed == {}
    for ranks, parameters in ((30, usual), (64, {"n": 9, "iterations": 7}), (5, {"n": 2, "iterations": 4})):
        assert verdict(found.skeleton, ranks, parameters).usable
        assert first_difference(found.skeleton, run(program, ranks, parameters)) is None


def cube(sites: Callable[[tuple[int, ...]], str]) -> Program:
    """Return a program in which each direction has a place of its own, and a wait of its own far from its messages."""

    def program(rank: Rank, parameters: Parameters) -> None:
        for _ in range(4):
            neighbours = around(rank)
            for steps, peer in neighbours:
                rank.irecv(peer, size(steps, 3), tag=STEPS.index(steps))
            for steps, peer in neighbours:
                rank.send(peer, size(steps, 3), tag=STEPS.index(tuple(-step for step in steps)))
            for (steps, _), request in zip(neighbours, list(rank.open), strict=True):
                wait(rank, request, sites(steps))
                rank.compute(f"unpack {steps}")
            rank.collective("MPI_Allreduce", 8)

    return program


def test_a_wait_happens_where_the_call_does_whose_request_it_completes() -> None:
    """Corners take conditions on three axes; with all directions told apart, 27 ranks have 27 sequences of calls."""
    program = cube(lambda steps: f"wait {steps}")
    found = derive(runs(program, (1, 8, 27)), [run(program, 64)])
    assert set(found.report.held_out.values()) == {"equal"}
    assert first_difference(found.skeleton, run(program, 125)) is None


def test_receives_from_any_source_have_the_sources_that_they_got_whatever_the_order() -> None:
    rng = np.random.default_rng(4)

    def program(rank: Rank, parameters: Parameters) -> None:
        peers = [peer for _, peer in around(rank)]
        for _, peer in zip(peers, rng.permutation(peers).tolist(), strict=True):
            rank.irecv(peer, 4, tag=7)
            rank.noted[-1] = rank.noted[-1].but(wild=True)
        for peer in peers:
            rank.send(peer, 4, tag=7)
        for request in list(rank.open):
            wait(rank, request)
        rank.collective("MPI_Allreduce", 8)

    def recorded(ranks: int) -> Recording:
        found = run(program, ranks)
        return replace(found, calls=[in_one_order(calls) for calls in found.calls])

    found = derive([recorded(ranks) for ranks in COUNTS], [recorded(ranks) for ranks in (16, 36)])
    assert set(found.report.held_out.values()) == {"equal"} and found.report.any_source == ["MPI_Irecv"]
    assert "receives from any source at MPI_Irecv" in summary("small", found, {})
    assert first_difference(found.skeleton, recorded(64)) is None


def test_sources_are_exchanged_only_among_receives_that_are_alike() -> None:
    def receive(peer: int, size: int = 8, **fields: Any) -> RecordedCall:
        call = RecordedCall("MPI_Recv", "", peer, bytes=size, tag=1, communicator=0, site="here", wild=True)
        return call.but(**fields)

    calls = [receive(3), receive(1), receive(2, 16), receive(0, 16), receive(9, wild=False), receive(5)]
    labelled = [receive(5), receive(4, phase="a")]
    assert [call.peer for call in in_one_order(calls)] == [1, 3, 0, 2, 9, 5]
    assert in_one_order(labelled) == labelled
