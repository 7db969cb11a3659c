"""Recordings that nothing can be derived from: refused by name, with what to do, and at once."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from small_programs import Parameters, Rank, halo, run, runs

from manynode.errors import InputError
from manynode.markers import ANY_SOURCE_PEER
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.recorded import recordings
from phase2_nodesim.derive.recorded.recordings import Recording, check_size
from phase2_nodesim.recording import UNKNOWN_REQUEST, RecordedCall


def changed(recording: Recording, rank: int, number: int, **values: object) -> Recording:
    """Return a recording with one call changed."""
    calls = [list(one) for one in recording.calls]
    calls[rank][number] = calls[rank][number].but(**values)
    return replace(recording, calls=calls)


def refusal(trained: Sequence[Recording], held_out: Sequence[Recording] = ()) -> InputError:
    with pytest.raises(InputError) as caught:
        derive(trained, held_out)
    return caught.value


def test_one_number_of_ranks_is_too_few() -> None:
    error = refusal(runs(halo, [8]))
    assert (error.what, error.found) == ("too few numbers of ranks to derive a skeleton from", "8")


def test_numbers_of_ranks_with_parameters_of_their_own_are_too_few() -> None:
    error = refusal([run(halo, ranks, {"n": ranks}) for ranks in (4, 8, 12)])
    assert error.what == "too few numbers of ranks with the same parameters"


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"peer": ANY_SOURCE_PEER}, "a receive takes messages from any source"),
        ({"completes": (UNKNOWN_REQUEST,)}, "does not know which request"),
    ],
)
def test_calls_that_have_no_rule_yet_are_refused(values: dict[str, object], what: str) -> None:
    recordings = runs(halo)
    error = refusal([*recordings[:-1], changed(recordings[-1], 3, 1, **values)])
    assert what in error.what and "rank 3" in str(error.where)


def test_a_rank_that_was_killed_is_refused() -> None:
    recordings = runs(halo)
    cut = replace(recordings[0], calls=[calls[:-1] for calls in recordings[0].calls])
    assert "do not end with MPI_Finalize" in refusal([cut, *recordings[1:]]).what


def test_recordings_of_two_programs_are_refused() -> None:
    recordings = runs(halo)
    assert "different programs" in refusal([replace(recordings[0], program="other"), *recordings[1:]]).what
    assert "sets of parameters" in refusal([*recordings[1:], run(halo, 4, {"n": 10})]).what
    assert "MPI libraries" in refusal(recordings, [replace(run(halo, 36), mpi="openmpi")]).what


def test_communication_that_follows_the_data_is_refused_in_seconds() -> None:
    def program(rank: Rank, parameters: Parameters) -> None:
        draw = random.Random(1000 * rank.ranks + rank.rank)
        for _ in range(200):
            for _ in range(draw.randrange(1, 6)):
                rank.send(draw.randrange(rank.ranks), 8 * draw.randrange(100))
            rank.collective("MPI_Allreduce", 8)

    recordings = runs(program)
    before = time.monotonic()
    error = refusal(recordings)
    assert "nearly every rank has a sequence of calls of its own" in error.what
    assert "32 sequences on 32 ranks" in str(error.found)
    assert time.monotonic() - before < 10


def test_blocks_that_follow_no_rule_are_refused_by_name() -> None:
    def program(rank: Rank, parameters: Parameters) -> None:
        halo(rank, {"iterations": 4})
        blocks = [8 * (1 + (rank.rank * peer) % 5) for peer in range(rank.ranks)]
        rank.with_counts("MPI_Alltoallv", sum(blocks), sent=blocks, received=blocks)

    error = refusal(runs(program))
    assert error.what == "no expression gives the bytes of the blocks (sent) of a call"
    assert error.where == "MPI_Alltoallv at MPI_Alltoallv" and "rank 1 of 8: 8, 16, " in str(error.found)


def test_a_collective_over_neighbours_is_refused_by_name() -> None:
    def program(rank: Rank, parameters: Parameters) -> None:
        halo(rank, {"iterations": 4})
        rank.collective("MPI_Neighbor_alltoall", 8)

    error = refusal(runs(program))
    assert "a collective over neighbours" in error.what and "MPI_Neighbor_alltoall" in str(error.found)


def test_sizes_that_follow_a_number_of_the_command_ask_for_its_name() -> None:
    def program(rank: Rank, parameters: Parameters) -> None:
        for _ in range(4):
            size = 8 * (96 // rank.ranks + (rank.rank < 96 % rank.ranks)) ** 2
            rank.sendrecv((rank.rank + 1) % rank.ranks, (rank.rank - 1) % rank.ranks, size)

    error = refusal(runs(program))
    assert error.what == "no expression gives the bytes of a call" and "--parameter n=VALUE" in str(error.remedy)


def test_ranks_that_wait_for_one_request_after_the_other_are_told_of_waitall() -> None:
    def program(rank: Rank, parameters: Parameters) -> None:
        for _ in range(4):
            for _ in range(2):
                rank.irecv(rank.rank, 8)
                rank.send(rank.rank, 8)
            while rank.open and rank.rank * rank.rank % 7 < 3:
                rank.note(RecordedCall("MPI_Wait", "", completes=(rank.open.pop(0),)), "wait")
            rank.waitall()

    error = refusal(runs(program))
    assert "no condition separates the ranks" in error.what and error.where == "MPI_Wait at wait"
    assert "MPI_Waitall" in str(error.remedy) and str(error.allowed).startswith("all ranks, or those of")


def test_recordings_of_too_many_calls_are_refused_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    found = runs(lambda rank, _: rank.collective("MPI_Barrier"))
    number = sum(len(calls) for one in found for calls in one.calls)
    monkeypatch.setattr(recordings, "_MOST_CALLS", number)
    check_size(found)
    monkeypatch.setattr(recordings, "_MOST_CALLS", number - 1)
    error = refusal(found)
    assert "too many calls" in error.what and error.found == f"{number:,}" and f"{number - 1:,}" in str(error.allowed)
