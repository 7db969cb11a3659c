"""The calls of a recording in the form in which a skeleton writes them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode.markers import ANY_SOURCE_PEER, UNKNOWN, MarkerFile
from phase2_nodesim.recording import UNKNOWN_REQUEST, RecordedCall, rank_calls

NOTHING = {
    "phase": "", "peer": -1, "peer2": -1, "bytes": 0, "bytes2": 0, "tag": -1, "communicator": 0, "any_source": False,
    "request": -1,
}  # fmt: skip


def calls(*rows: tuple[str, dict[str, Any]]) -> list[RecordedCall]:
    """Return the calls of records; ``detail`` is given as its words, and MPI_Init and MPI_Finalize are added."""
    details = [0]
    records = []
    for operation, values in [("MPI_Init", {}), *rows, ("MPI_Finalize", {})]:
        words = values.get("detail", [])
        numbers = {"sequence": len(records), "call_site_name": "", "detail": len(details) if words else 0}
        records.append({"operation": operation, **NOTHING, **values, **numbers})
        details += [len(words), *words] if words else []
    file = MarkerFile(Path("rank-000000.mnmk"), {"rank": 0}, pd.DataFrame(records), np.array(details, np.int64))
    read = rank_calls(file)
    assert read[-1].operation == "MPI_Finalize"
    return read[:-1]


def message(tag: int, **values: Any) -> dict[str, Any]:
    return {"peer": 1, "bytes": 8, "tag": tag, **values}


def test_a_persistent_request_is_a_new_one_at_each_start() -> None:
    read = calls(
        ("MPI_Isend", message(1, request=0)),
        ("MPI_Recv_init", message(2, request=1, phase="before")),
        ("MPI_Send_init", message(3, request=2)),
        ("MPI_Startall", {"detail": [2, 1], "phase": "loop"}),
        ("MPI_Waitall", {"detail": [2, 1, 3]}),
        ("MPI_Start", {"detail": [1]}),
        ("MPI_Wait", {"detail": [1]}),
    )
    assert [(call.operation, call.tag, call.request, call.completes) for call in read] == [
        ("MPI_Isend", 1, 0, ()),
        ("MPI_Irecv", 2, 1, ()),
        ("MPI_Isend", 3, 2, ()),
        ("MPI_Waitall", -1, -1, (1, 2, 0)),
        ("MPI_Isend", 3, 3, ()),
        ("MPI_Wait", -1, -1, (3,)),
    ]
    assert [call.phase for call in read][:3] == ["", "before+loop", ""]


def test_a_test_is_the_wait_for_what_it_completes() -> None:
    read = calls(
        ("MPI_Irecv", message(1, request=0)),
        ("MPI_Irecv", message(2, request=1)),
        ("MPI_Test", {"phase": "poll"}),
        ("MPI_Testsome", {"detail": [1]}),
        ("MPI_Waitall", {"detail": [2, 0]}),
    )
    assert [(call.operation, call.completes, call.phase) for call in read[2:]] == [
        ("MPI_Waitsome", (1,), "poll"),
        ("MPI_Waitall", (0,), ""),
    ]


def test_a_cancelled_receive_was_never_posted() -> None:
    read = calls(
        ("MPI_Irecv", message(1, request=0, phase="first")),
        ("MPI_Irecv", message(2, request=1)),
        ("MPI_Recv_init", message(3, request=2)),
        ("MPI_Start", {"detail": [1]}),
        ("MPI_Wait", {"detail": [1]}),
        ("MPI_Start", {"detail": [1]}),
        ("MPI_Isend", message(4, request=3)),
        ("MPI_Cancel", {"detail": [4], "phase": "end"}),
        ("MPI_Cancel", {}),
        ("MPI_Cancel", {"detail": [2]}),
        ("MPI_Wait", {"detail": [0]}),
        ("MPI_Waitall", {"detail": [3, 0, 1]}),
    )
    assert [(call.operation, call.tag, call.request, call.completes, call.phase) for call in read] == [
        ("MPI_Irecv", 2, 0, (), "first"),
        ("MPI_Irecv", 3, 1, (), ""),
        ("MPI_Wait", -1, -1, (1,), ""),
        ("MPI_Isend", 4, 2, (), ""),
        ("MPI_Waitall", -1, -1, (0, 2), "end"),
    ]
    assert [call.gaps for call in read] == [(0, 1, 2), (3, 4), (5,), (6, 7), (8, 9, 10, 11, 12)]


def test_what_is_not_known_of_a_request_is_said() -> None:
    assert calls(("MPI_Wait", {"detail": [UNKNOWN]}))[0].completes == (UNKNOWN_REQUEST,)
    started = calls(("MPI_Start", {"detail": [UNKNOWN]}))[0]
    assert (started.operation, started.request) == ("MPI_Start", UNKNOWN_REQUEST)


def test_kinds_of_sends_and_receives_have_one_form() -> None:
    kinds = ["MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Mrecv", "MPI_Recv"]
    assert [call.operation for call in calls(*((kind, message(1)) for kind in kinds))] == [
        "MPI_Send", "MPI_Send", "MPI_Send", "MPI_Recv", "MPI_Recv",
    ]  # fmt: skip


def test_any_source_and_the_receives_tag_belong_to_the_second_peer_of_a_sendrecv() -> None:
    sendrecv = message(4, peer2=3, any_source=True, detail=[5])
    call = calls(("MPI_Sendrecv_replace", sendrecv))[0]
    assert (call.operation, call.peer, call.peer2) == ("MPI_Sendrecv", 1, ANY_SOURCE_PEER)
    assert (call.tag, call.receive_tag) == (4, 5)
    assert calls(("MPI_Irecv", message(4, any_source=True, request=0)))[0].peer == ANY_SOURCE_PEER


def test_labels_of_calls_that_are_left_out_go_to_the_next_call() -> None:
    read = calls(
        ("MPI_Comm_dup", {"phase": "a", "detail": [2, 0, 2, 0]}),
        ("MPI_Probe", {"phase": "b"}),
        ("MPI_Barrier", {"phase": "c"}),
    )
    assert [(call.operation, call.phase) for call in read] == [("MPI_Barrier", "a+b+c")]


def test_blocks_are_told_apart() -> None:
    read = calls(
        ("MPI_Alltoallv", {"detail": [2, 8, 16, 2, 0, 24]}),
        ("MPI_Gatherv", {"detail": [0, 0], "peer": 0}),
        ("MPI_Allgatherv", {"detail": [0, 2, 8, 8]}),
    )
    assert [(call.sent, call.received) for call in read] == [((8, 16), (0, 24)), ((), ()), ((), (8, 8))]


def test_the_rows_of_a_long_recording_are_not_in_memory_at_once() -> None:
    operations = [*["MPI_Request_free"] * 60_000, "MPI_Finalize"]
    columns = {
        **NOTHING,
        "operation": operations,
        "sequence": range(len(operations)),
        "call_site_name": "",
        "detail": 0,
    }
    file = MarkerFile(Path("rank-000000.mnmk"), {"rank": 0}, pd.DataFrame(columns))
    tracemalloc.start()
    read = rank_calls(file)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [call.operation for call in read] == ["MPI_Finalize"]
    assert peak_bytes < 20e6, "all rows at once take 35 MB"
