"""Calls on windows in the form of a skeleton: windows of all ranks, epochs, requests, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from marked_ranks import WAIT, barrier, marked, split

from manynode.errors import InputError
from manynode.markers import UNKNOWN, MarkerFile
from phase2_nodesim.recorded_stream import recorded_stream

Row = tuple[str, dict[str, Any]]


def made(number: int, communicator: int = 0) -> Row:
    return "MPI_Win_create", {"detail": [number, 2, 0], "bytes": 4096, "communicator": communicator}


def on(operation: str, window: int, *words: int, **values: Any) -> Row:
    return operation, {**WAIT, "detail": [window, *words], **values}


def put(window: int, peer: int, size: int = 80, **values: Any) -> Row:
    return on("MPI_Put", window, peer=peer, bytes=size, **values)


def wait(*back: int, operation: str = "MPI_Waitall") -> Row:
    return operation, {**WAIT, "detail": list(back)}


def calls(files: list[MarkerFile], rank: int = 0) -> list[dict[str, Any]]:
    """Return the calls of one rank without their compute phases."""
    stream = recorded_stream(files, "here")
    found = [stream["calls"][number] for number in stream["streams"][rank]]
    return [{key: value for key, value in call.items() if key != "phases"} for call in found[:-1]]


def both(*rows: Row) -> list[MarkerFile]:
    return [marked(rank, 2, *rows) for rank in (0, 1)]


def test_windows_are_numbered_by_communicator_and_are_barriers_at_both_ends() -> None:
    rows = [split(2, 0, 1), made(0, 2), made(1), made(2, 2), put(1, 1), put(2, 1), barrier(0)]
    frees = [on("MPI_Win_free", number) for number in (0, 1, 2)]
    found = calls(both(*rows, *frees))
    assert found[0] == {"call": "MPI_Barrier", "communicator": 1}
    assert found[1] == {"call": "MPI_Barrier"}
    assert found[3] == {"call": "MPI_Put", "peer": 1, "bytes": 80}
    assert found[4] == {"call": "MPI_Put", "peer": 1, "bytes": 80, "communicator": 1, "window": 1}
    assert found[6:] == [found[0], found[1], found[0]]


def test_a_window_that_is_not_freed_ends_with_a_barrier_at_the_end() -> None:
    found = calls(both(made(0), put(0, 1), on("MPI_Win_fence", 0)))
    assert [call["call"] for call in found] == ["MPI_Barrier", "MPI_Put", "MPI_Win_fence", "MPI_Barrier"]


def test_kin_of_operations_and_flushes_have_one_form() -> None:
    rows = [
        on("MPI_Win_lock_all", 0),
        on("MPI_Fetch_and_op", 0, peer=1, bytes=8),
        on("MPI_Compare_and_swap", 0, peer=1, bytes=4),
        on("MPI_Get_accumulate", 0, peer=1, bytes=0, bytes2=160),
        on("MPI_Win_flush_local", 0, peer=1),
        on("MPI_Win_sync", 0),
        on("MPI_Win_flush_all", 0),
        on("MPI_Win_unlock_all", 0),
        on("MPI_Win_lock", 0, 1, peer=1),
        on("MPI_Win_unlock", 0, peer=1),
    ]
    assert calls(both(made(0), *rows))[1:-1] == [
        {"call": "MPI_Win_lock"},
        {"call": "MPI_Get_accumulate", "peer": 1, "bytes": 8},
        {"call": "MPI_Get_accumulate", "peer": 1, "bytes": 4},
        {"call": "MPI_Get_accumulate", "peer": 1, "bytes": 160},
        {"call": "MPI_Win_flush", "peer": 1},
        {"call": "MPI_Win_flush"},
        {"call": "MPI_Win_unlock"},
        {"call": "MPI_Win_lock", "peer": 1},
        {"call": "MPI_Win_unlock", "peer": 1},
    ]


def test_ends_of_epochs_name_their_group_in_ranks_of_the_communicator() -> None:
    pair = split(2, 2, 0)
    origin = [pair, made(0, 2), on("MPI_Win_start", 0, 1, 2), put(0, 2), on("MPI_Win_complete", 0)]
    target = [pair, made(0, 2), on("MPI_Win_post", 0, 1, 0), on("MPI_Win_wait", 0)]
    files = [marked(0, 3, *origin), marked(1, 3), marked(2, 3, *target)]
    assert [(call["call"], call.get("group")) for call in calls(files)[1:-1]] == [
        ("MPI_Win_start", [0]),
        ("MPI_Put", None),
        ("MPI_Win_complete", [0]),
    ]
    assert [(call["call"], call.get("group")) for call in calls(files, 2)[1:-1]] == [
        ("MPI_Win_post", [1]),
        ("MPI_Win_wait", [1]),
    ]


def test_the_last_test_of_an_epoch_is_its_wait_and_polling_takes_no_time() -> None:
    origin = [on("MPI_Win_start", 0, 1, 1), on("MPI_Win_complete", 0)]
    post, test = on("MPI_Win_post", 0, 1, 0), on("MPI_Win_test", 0)
    # The first epoch ends with a wait: its tests were in vain. The second ends with a test.
    target = [post, test, test, barrier(0), on("MPI_Win_wait", 0), post, test, test, test]
    files = [marked(0, 2, made(0), *origin, barrier(0), *origin), marked(1, 2, made(0), *target)]
    names = [call["call"] for call in calls(files, 1)]
    assert names[1:-1] == ["MPI_Win_post", "MPI_Barrier", "MPI_Win_wait", "MPI_Win_post", "MPI_Win_wait"]
    phases = recorded_stream(files, "here")["phases"]
    assert "MPI_Win_post@2 -> MPI_Win_test@3" in phases and "MPI_Win_test@3 -> MPI_Win_test@4" not in phases


def test_operations_with_a_request_are_waited_for_before_the_call_that_ends_them() -> None:
    rows = [
        ("MPI_Rput", {**WAIT, "detail": [0], "peer": 1, "request": 0}),
        ("MPI_Rget", {**WAIT, "detail": [0], "peer": 0, "request": 1}),
        on("MPI_Win_flush", 0, peer=1),
        wait(2, operation="MPI_Wait"),
        wait(1, operation="MPI_Wait"),
        on("MPI_Win_unlock_all", 0),
    ]
    assert calls(both(made(0), *rows))[1:-1] == [
        {"call": "MPI_Rput", "peer": 1},
        {"call": "MPI_Rget", "peer": 0},
        {"call": "MPI_Waitall", "requests": [2]},
        {"call": "MPI_Win_flush", "peer": 1},
        {"call": "MPI_Waitall"},
        {"call": "MPI_Wait", "requests": [1]},
        {"call": "MPI_Win_unlock"},
    ]


FENCE, FREE = on("MPI_Win_fence", 0), on("MPI_Win_free", 0)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ([made(0)], [], "a window of 2 ranks that rank 1 did not make"),
        ([made(0), FENCE], [made(0)], "0 calls of MPI_Win_fence on a window, on rank 0 1"),
        ([made(0)], [made(0), FREE], "1 calls of MPI_Win_free on a window, on rank 0 0"),
        ([put(3, 1)], [], "MPI_Put on a window that the markers do not know"),
        ([made(0), on("MPI_Win_fence", UNKNOWN)], [made(0)], "MPI_Win_fence on a window that the markers"),
        ([made(0), put(0, UNKNOWN)], [made(0)], "MPI_Put with a process that is no rank"),
        ([made(0), on("MPI_Win_post", 0, 1, UNKNOWN)], [made(0)], "MPI_Win_post for a process that is no rank"),
        ([made(0), on("MPI_Win_start", 0, 1, 1)], [made(0)], "MPI_Win_start 1 times, but MPI_Win_post 0 times"),
        ([made(0), on("MPI_Win_post", 0, 1, 1)], [made(0)], "with origin 1 and target 0"),
    ],
)
def test_windows_on_which_ranks_do_not_agree_are_refused(first: list[Row], second: list[Row], found: str) -> None:
    with pytest.raises(InputError, match="cannot be replayed") as raised:
        recorded_stream([marked(0, 2, *first), marked(1, 2, *second)], "here")
    assert found in raised.value.found and raised.value.remedy
