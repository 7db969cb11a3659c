"""Recordings as streams to replay: communicators of all ranks, requests, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from marked_ranks import WAIT, barrier, marked, split

from manynode.errors import InputError
from manynode.markers import UNKNOWN, MarkerFile
from phase2_nodesim.communicators import communicators
from phase2_nodesim.recorded_stream import recorded_stream


def test_ranks_that_number_a_communicator_differently_mean_the_same() -> None:
    files = [
        marked(0, 3, split(2, 0, 1), split(3, 0, 2), barrier(2), barrier(3)),
        marked(1, 3, split(2, 0, 1), split(3, 1), barrier(2), barrier(3)),
        marked(2, 3, ("MPI_Comm_split", {"detail": [-1]}), split(2, 0, 2), barrier(2)),
    ]
    first, second, third = communicators(files)
    assert first[2].identity == second[2].identity and first[2].members == (0, 1)
    assert first[3].identity == third[2].identity and first[3].members == (0, 2)
    # Numbers are as low as they can be: one for each communicator of a rank.
    assert [[member.number for member in known.values()] for known in (first, second, third)] == [[1, 2], [1, 2], [2]]


def test_copies_are_communicators_of_their_own_and_unused_ones_are_left_out() -> None:
    copies = [("MPI_Comm_dup", {"detail": [number, 0, 2, 0]}) for number in (2, 3, 4)]
    known = communicators([marked(rank, 2, *copies, barrier(2), barrier(4)) for rank in (0, 1)])
    assert [{number: member.number for number, member in rank.items()} for rank in known] == [{2: 1, 4: 2}] * 2
    assert known[0][2].members == (0, 1) and known[0][4].identity == known[1][4].identity


def test_neighbours_of_a_grid_are_the_lower_and_the_upper_of_each_dimension() -> None:
    # 2 x 3, open in the first dimension, periodic in the second; rank 4 is at (1, 1)
    grid = ("MPI_Cart_create", {"detail": [2, 1, 6, 0, 2, 2, 3, 0, 1, 1, 1]})
    (known,) = communicators([marked(4, 6, grid, barrier(2))])
    assert known[2].sources == known[2].destinations == (1, -3, 3, 5)


@pytest.mark.parametrize(
    ("rows", "what", "found"),
    [
        ([barrier(7)], "does not say which ranks a communicator has", "communicator 7 of rank 0"),
        ([split(2, 0, UNKNOWN), barrier(2)], "does not say which ranks", "communicator 2 of rank 0"),
        ([("MPI_Intercomm_create", {"detail": [2, 3, 1, 1, 1]}), barrier(2)], "no intercommuni", "communicator 2"),
    ],
)
def test_communicators_that_cannot_be_known_are_refused(rows: list[Any], what: str, found: str) -> None:
    with pytest.raises(InputError, match=what) as raised:
        communicators([marked(0, 2, *rows)])
    assert found in raised.value.found


def message(peer: int, **values: Any) -> dict[str, Any]:
    return {"peer": peer, "bytes": 8, "tag": 1, **values}


def test_a_stream_has_distinct_calls_once_with_requests_counted_backwards() -> None:
    rows = [
        ("MPI_Irecv", message(1, request=0)),
        ("MPI_Isend", message(1, request=1)),
        ("MPI_Waitall", {**WAIT, "detail": [2, 1]}),
    ]
    stream = recorded_stream([marked(0, 2, *rows), marked(1, 2, *rows)], "here")
    assert stream["ranks"] == 2 and stream["communicators"] == []
    assert [call.get("call") for call in stream["calls"]] == ["MPI_Irecv", "MPI_Isend", "MPI_Waitall", None]
    assert stream["calls"][2]["requests"] == [2, 1] and stream["streams"] == [[0, 1, 2, 3]] * 2
    assert stream["phases"][0] == "MPI_Init@0 -> MPI_Irecv@1" and stream["calls"][0]["phases"] == [0]
    assert stream["phases"][-1] == "MPI_Waitall@3 -> MPI_Finalize@4" and stream["calls"][3] == {"phases": [3]}


def test_peers_are_ranks_of_the_communicator() -> None:
    rows = [split(2, 2, 0), ("MPI_Send", message(2, communicator=2)), ("MPI_Send", message(-3, communicator=2))]
    stream = recorded_stream([marked(0, 3, *rows), marked(1, 3), marked(2, 3, split(2, 2, 0))], "here")
    sends = [call for call in stream["calls"] if call.get("call") == "MPI_Send"]
    assert [call["peer"] for call in sends] == [0, -3]
    assert stream["communicators"] == [[(2, 0)]]


def test_a_request_that_the_program_frees_completes_at_the_end() -> None:
    rows = [("MPI_Isend", message(0, request=0)), ("MPI_Request_free", {**WAIT, "detail": [1]}), barrier(0)]
    stream = recorded_stream([marked(0, 1, *rows)], "here")
    calls = [stream["calls"][index].get("call") for index in stream["streams"][0]]
    assert calls == ["MPI_Isend", "MPI_Barrier", "MPI_Waitall", None]


def test_a_receive_from_anywhere_names_the_message_that_it_got() -> None:
    stream = recorded_stream([marked(0, 2, ("MPI_Recv", message(1, any_source=True))), marked(1, 2)], "here")
    assert next(call for call in stream["calls"] if call.get("call") == "MPI_Recv")["peer"] == 1


def test_polling_takes_no_time_of_its_own() -> None:
    polls = [("MPI_Test", WAIT), ("MPI_Test", WAIT), ("MPI_Test", {**WAIT, "detail": [1]})]
    rows = [("MPI_Irecv", message(0, request=0)), *polls, barrier(0)]
    stream = recorded_stream([marked(0, 1, *rows)], "here")
    assert stream["phases"] == [
        "MPI_Init@0 -> MPI_Irecv@1",
        "MPI_Irecv@1 -> MPI_Test@2",
        "MPI_Test@4 -> MPI_Barrier@5",
        "MPI_Barrier@5 -> MPI_Finalize@6",
    ]


def polling(each_s: float, calls: int, phase: str = "") -> MarkerFile:
    """A rank whose recording has one record for many tests in vain, beside 1 ms of computing."""
    folded = {**WAIT, "compute_s": each_s * calls, "bytes2": calls - 1, "phase": phase}
    rows = [("MPI_Test", WAIT), ("MPI_Test", folded), ("MPI_Test", {**WAIT, "detail": [1]})]
    return marked(0, 1, ("MPI_Irecv", message(0, request=0)), *rows, ("MPI_Barrier", {"compute_s": 1e-3}))


def test_what_is_computed_between_tests_in_vain_is_not_lost_in_silence() -> None:
    with pytest.raises(InputError, match="cannot be replayed") as raised:
        recorded_stream([polling(20e-6, 100)], "here")
    assert raised.value.found.startswith("20 us outside MPI before each MPI_Test@3 in vain, 67% of what rank 0 comp")
    assert "label" in str(raised.value.remedy)
    # A loop that only waits, however long; one short task; what a busy host costs a hundred tests; a task with a label.
    for file in (polling(0.3e-6, 10**6), polling(8e-6, 1), polling(6.15e-6, 105)):
        assert not any("-> MPI_Test@3" in phase for phase in recorded_stream([file], "here")["phases"])
    assert "task" in recorded_stream([polling(20e-6, 100, "task")], "here")["phases"]


def test_a_rank_that_is_interrupted_while_it_waits_does_not_compute() -> None:
    file = polling(20e-6, 100)
    file.records["cpu_ns"] = np.where(file.records["bytes2"] > 0, 100 * 300.0, file.records["compute_s"] * 1e9)
    assert recorded_stream([file], "here")["phases"]
    file.records["cpu_ns"] = file.records["compute_s"] * 1e9
    with pytest.raises(InputError, match="cannot be replayed"):
        recorded_stream([file], "here")


@pytest.mark.parametrize(
    ("file", "found"),
    [
        (marked(0, 1, incomplete=True), "before MPI_Finalize on rank 0"),
        (marked(0, 1, truncated=True), "last calls are missing on rank 0"),
        (marked(0, 1, ("MPI_Send", {"error": True})), "a call that failed: MPI_Send@1"),
        (marked(0, 1, ("MPI_Wait", {**WAIT, "detail": [UNKNOWN]})), "MPI_Wait of a request that the markers"),
        (marked(0, 1, ("MPI_Start", {"detail": [UNKNOWN]})), "MPI_Start of a request that the markers"),
        (marked(0, 1, ("MPI_Send", message(UNKNOWN))), "MPI_Send with a process that is no rank"),
    ],
)
def test_what_cannot_be_replayed_exactly_is_refused(file: MarkerFile, found: str) -> None:
    with pytest.raises(InputError, match="cannot be replayed") as raised:
        recorded_stream([file], "here")
    assert found in raised.value.found and file.path.name in raised.value.where
