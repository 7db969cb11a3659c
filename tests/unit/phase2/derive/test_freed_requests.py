"""Requests that a program forgets or frees: where a skeleton lets go of them, or why it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from small_programs import Parameters, Program, Rank, grid_of, neighbour, run, runs

from manynode.errors import InputError
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.interpret import Job
from phase2_nodesim.derive.judging.matching import mismatch
from phase2_nodesim.derive.writing.freed import Spans, freeing_leaves
from phase2_nodesim.recording import RecordedCall

COUNTS = (4, 6, 8, 12, 16, 18)


def wait(rank: Rank, requests: list[int]) -> None:
    rank.note(RecordedCall("MPI_Waitall", "", completes=tuple(requests)), "waitall")


def sweep(rank: Rank, parameters: Parameters) -> None:
    """Sweep from the corners of a grid, as SNAP does: each group of energies forgets the sends of the one before."""
    grid = grid_of(rank.ranks, 2)
    for _ in range(parameters["groups"]):
        kept: dict[int, int] = {}  # by axis
        for corner in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
            down = {axis: neighbour(grid, rank.rank, axis, step) for axis, step in enumerate(corner)}
            up = {axis: neighbour(grid, rank.rank, axis, -step) for axis, step in enumerate(corner)}
            for chunk in range(4):
                for axis, peer in up.items():
                    if peer != PROC_NULL_PEER:
                        rank.recv(peer, 800 + 80 * axis, chunk)
                if any(peer != PROC_NULL_PEER for peer in down.values()):
                    wait(rank, list(kept.values()))
                    kept = {}
                rank.compute("sweep")
                for axis, peer in down.items():
                    if peer != PROC_NULL_PEER:
                        kept[axis] = rank.made
                        rank.isend(peer, 800 + 80 * axis, chunk)
        rank.collective("MPI_Allreduce", 8)


def ring(rank: Rank, parameters: Parameters) -> None:
    """Send a token around and forget the request."""
    for _ in range(parameters["groups"]):
        rank.isend((rank.rank + 1) % rank.ranks, 8)
        rank.recv((rank.rank - 1) % rank.ranks, 8)
        rank.collective("MPI_Barrier")


def test_what_a_sweep_forgets_is_freed_once_for_each_group() -> None:
    found = derive(runs(sweep, COUNTS, groups=3), [run(sweep, 24, {"groups": 3})], name="small")
    assert found.report.held_out == {"24 ranks (groups 3)": "equal"}
    assert first_difference(found.skeleton, run(sweep, 64, {"groups": 3})) is None
    assert mismatch(Job(found.skeleton, 64)) is None
    (loop, last) = (item for item in found.skeleton["body"] if "repeat" in item or "free" in item)
    assert loop["repeat"] == "3" and last["free"]
    # The chunks of a corner but the last one, and that one, have names of their own.
    freed = [name for item in loop["do"] for name in item.get("free", ())]
    assert sorted(freed) == sorted(last["free"]) and len(freed) == 2


def without_frees(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    left = [item for item in items if "free" not in item]
    return [{**item, "do": without_frees(item["do"])} if "do" in item else item for item in left]


@pytest.mark.parametrize("program", [sweep, ring])
def test_nothing_is_open_at_the_end(program: Program) -> None:
    content = derive(runs(program, COUNTS, groups=3), name="small").skeleton
    assert mismatch(Job(content, 12)) is None
    content["body"] = without_frees(content["body"])
    assert "never completes a request" in str(mismatch(Job(content, 12)))


def test_no_place_lets_go_of_some_requests_and_keeps_others() -> None:
    # Two leaves: a send, and a wait for the request before the last one.
    spans = {"requests1": Spans(held=[(0, 2), (1, 3)], lost=[(1, 3)])}
    with pytest.raises(InputError, match="never completed") as error:
        freeing_leaves(spans, [[0, 1], [2, 3]])
    assert "requests1" in error.value.render()


def test_the_fewest_places_free_what_is_lost() -> None:
    # A loop of three sends and a wait; slots 3 and 7 are passed between the groups.
    spans = {"a": Spans(held=[(0, 2), (4, 6)], lost=[(1, 6), (5, 10)])}
    assert freeing_leaves(spans, [[0, 4], [1, 5], [2, 6], [3, 7], [8]]) == {3: ["a"]}
    assert freeing_leaves({"a": Spans(held=[(0, 2)])}, [[0], [1], [2]]) == {}
