"""The comparison of a skeleton's stream with recorded calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manynode.errors import InputError
from manynode.markers import MarkerFile
from phase2_nodesim.conformance import first_difference, promised_calls, recorded_calls

STREAM = """\
0 0 compute phase=setup
0 1 MPI_Barrier communicator=0 size=2
0 2 MPI_Irecv peer=1 bytes=512 tag=99 request=0
0 3 compute phase=pack
0 4 MPI_Isend peer=1 bytes=512 tag=99 request=1
0 5 MPI_Waitall requests=2 ids=0,1
0 6 compute phase=spmv
0 7 MPI_Allreduce bytes=8 communicator=0 size=2
0 8 compute phase=last
"""


DETAILS = np.array([0, 2, 2, 1, 2, 1, 2, 1, 1], np.int64)  # at 1: the last but one, the last; at 4: the reverse; at 7


def _file(records: pd.DataFrame) -> MarkerFile:
    return MarkerFile(Path("rank-000000.mnmk"), {"rank": 0}, records, DETAILS)


def recorded(records: pd.DataFrame | None = None) -> pd.DataFrame:
    return recorded_calls([_file(_records() if records is None else records)])


def _records(**changes: dict[str, Any]) -> pd.DataFrame:
    """Records as the markers library leaves them for STREAM; ``changes`` maps an operation to changed columns."""
    calls = [
        ("MPI_Init", "", {"communicator": -1}),
        ("MPI_Barrier", "setup", {}),
        ("MPI_Irecv", "", {"peer": 1, "bytes": 512, "tag": 99, "request": 0}),
        ("MPI_Isend", "pack", {"peer": 1, "bytes": 512, "tag": 99, "request": 1}),
        ("MPI_Waitall", "", {"detail": 1, "communicator": -1}),
        ("MPI_Allreduce", "spmv", {"bytes": 8}),
        ("MPI_Finalize", "last", {"communicator": -1}),
    ]
    rest = {"peer": -1, "peer2": -1, "bytes": 0, "bytes2": 0, "tag": -1, "communicator": 0}
    rest |= {"request": -1, "detail": 0}
    rows = [
        {
            "rank": 0,
            "sequence": i,
            "operation": name,
            "phase": phase,
            "any_source": False,
            "call_site_name": "",
            **rest,
            **values,
        }
        | changes.get(name, {})
        for i, (name, phase, values) in enumerate(calls)
    ]
    return pd.DataFrame(rows)


def test_a_skeleton_that_keeps_its_promise_has_no_difference() -> None:
    assert first_difference(recorded(), promised_calls(STREAM)) is None


@pytest.mark.parametrize(
    ("operation", "change", "field"),
    [
        ("MPI_Isend", {"bytes": 513}, "bytes"),
        ("MPI_Isend", {"peer": 0}, "peer"),
        ("MPI_Irecv", {"tag": 98}, "tag"),
        ("MPI_Waitall", {"detail": 4}, "completes"),
        ("MPI_Waitall", {"detail": 7}, "completes"),
        ("MPI_Waitall", {"detail": 0}, "completes"),
        ("MPI_Allreduce", {"phase": "dot"}, "phase"),
        ("MPI_Irecv", {"phase": "extra"}, "phase"),
        ("MPI_Finalize", {"phase": ""}, "phase"),
    ],
)
def test_each_kind_of_difference_is_named(operation: str, change: dict[str, Any], field: str) -> None:
    message = first_difference(recorded(_records(**{operation: change})), promised_calls(STREAM))
    assert message is not None
    assert message.splitlines()[0].endswith(f"in {field}")


def test_the_message_shows_both_calls_and_what_came_before() -> None:
    message = first_difference(recorded(_records(MPI_Isend={"bytes": 513})), promised_calls(STREAM))
    assert message == "\n".join(
        [
            "rank 0, call 2: the skeleton differs from the application in bytes",
            "  both         [setup] MPI_Barrier",
            "  both         [no label] MPI_Irecv peer=1 bytes=512 tag=99",
            "  application  [pack] MPI_Isend peer=1 bytes=513 tag=99",
            "  skeleton     [pack] MPI_Isend peer=1 bytes=512 tag=99",
        ]
    )


def test_a_stream_that_ends_early_differs_where_it_ends() -> None:
    shorter = promised_calls("\n".join(STREAM.splitlines()[:6]))
    message = first_difference(recorded(), shorter)
    assert message is not None
    assert "application  [spmv] MPI_Allreduce" in message
    assert "skeleton     [no label] MPI_Finalize" in message


def test_a_phase_may_be_named_by_call_sites() -> None:
    name = "MPI_Wait@a.c:9 run -> MPI_Send@a.c:12 run=1"
    named = promised_calls(STREAM.replace("phase=spmv", f"phase={name}"))
    assert first_difference(recorded(_records(MPI_Allreduce={"phase": name})), named) is None


def test_a_rank_of_one_side_only_is_named() -> None:
    promised = promised_calls(STREAM + "".join(f"1{line[1:]}\n" for line in STREAM.splitlines()))
    assert first_difference(recorded(), promised) == "rank 1 is only in the skeleton"


def test_a_label_before_a_call_that_streams_leave_out_is_not_lost() -> None:
    records = _records()
    records.loc[records["operation"] == "MPI_Init", "phase"] = "early"
    message = first_difference(recorded(records), promised_calls(STREAM))
    assert message is not None
    assert "[early+setup] MPI_Barrier" in message


def test_communicators_may_be_numbered_differently_but_consistently() -> None:
    records = _records()
    assert first_difference(recorded(records.replace({"communicator": {0: 5}})), promised_calls(STREAM)) is None
    stream = STREAM.replace("MPI_Barrier communicator=0", "MPI_Barrier communicator=1")
    message = first_difference(recorded(records), promised_calls(stream))
    assert message is not None
    assert message.splitlines()[0].endswith("in communicator")


def test_a_receive_from_any_source_matches_whoever_sent() -> None:
    records = _records(MPI_Irecv={"any_source": True})
    assert first_difference(recorded(records), promised_calls(STREAM.replace("Irecv peer=1", "Irecv peer=-2"))) is None
    assert first_difference(recorded(records), promised_calls(STREAM)) is not None


def test_a_line_of_another_form_is_refused_with_its_number() -> None:
    with pytest.raises(InputError, match="line 2"):
        promised_calls("0 0 MPI_Barrier communicator=0 size=2\nnot a stream\n")
    with pytest.raises(InputError, match="unheard"):
        promised_calls("0 0 MPI_Barrier unheard=1\n")
