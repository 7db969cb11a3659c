"""Programs without labels: calls have places, by which phases are named; polling does not change them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode.markers import MarkerFile
from phase2_nodesim.derive.judging.interpret import Job
from phase2_nodesim.derive.judging.matching import unknown_phase
from phase2_nodesim.derive.recorded.places import phases_between, placed
from phase2_nodesim.recording import RecordedCall, rank_calls

VALUES = {"phase": "", "peer": 1, "peer2": -1, "bytes": 8, "bytes2": 0, "tag": 0, "communicator": 0, "request": -1}


def sites(*rows: tuple[str, dict[str, Any]]) -> list[str]:
    """Return the places of the calls of records; each has its operation's first letters as its place."""
    details, records = [0], []
    for number, (operation, values) in enumerate([("MPI_Init", {}), *rows, ("MPI_Finalize", {})]):
        words = values.get("detail", [])
        own = {"operation": operation, "call_site_name": operation[4:8], "sequence": number, "any_source": False}
        records.append({**VALUES, **own, **values, "detail": len(details) if words else 0})
        details += [len(words), *words] if words else []
    file = MarkerFile(Path("rank-000000.mnmk"), {"rank": 0}, pd.DataFrame(records), np.array(details, np.int64))
    return [call.site for call in placed(rank_calls(file), file)][:-1]


def test_calls_that_are_left_out_bound_phases_too() -> None:
    found = sites(("MPI_Comm_dup", {"detail": [2, 0, 2, 0]}), ("MPI_Probe", {}), ("MPI_Recv", {}))
    assert found == ["MPI_Init@Init", "MPI_Comm_dup@Comm", "MPI_Probe@Prob", "MPI_Recv@Recv", "MPI_Finalize@Fina"]


def test_a_test_loop_is_one_place_however_long_it_takes() -> None:
    posted, done = ("MPI_Irecv", {"request": 0}), ("MPI_Test", {"detail": [1]})
    quick = sites(posted, done)
    assert quick == ["MPI_Init@Init", "MPI_Irecv@Irec", "MPI_Test@Test", "MPI_Finalize@Fina"]
    assert sites(posted, ("MPI_Test", {}), ("MPI_Test", {}), ("MPI_Test", {}), done) == quick


def test_between_two_requests_of_one_call_nothing_is_computed() -> None:
    persistent = [("MPI_Recv_init", {"request": 0}), ("MPI_Send_init", {"request": 1})]
    found = sites(*persistent, ("MPI_Startall", {"detail": [2, 1]}))
    assert found[-3:] == ["MPI_Startall@Star", "MPI_Startall@Star again", "MPI_Finalize@Fina"]


def skeleton(*phases: str) -> dict[str, Any]:
    body = [
        {"site": 0},
        {"call": "MPI_Barrier", "site": 1, "when": "rank > 0"},
        {"call": "MPI_Allreduce", "site": 2, "bytes": "8"},
    ]
    return {"body": body, "sites": ["a@1", "b@2", "c@3"], "phases": list(phases)}


def test_a_phase_that_no_recording_has_is_named() -> None:
    whole = skeleton("a@1 -> c@3", "a@1 -> b@2", "b@2 -> c@3")
    assert unknown_phase(Job(whole, 4), whole) is None
    lacking = skeleton("a@1 -> c@3", "b@2 -> c@3")
    assert unknown_phase(Job(lacking, 1), lacking) is None
    found = unknown_phase(Job(lacking, 2), lacking)
    assert found is not None and found.endswith("a@1 -> b@2")


def test_phases_are_those_between_places_in_the_order_seen() -> None:
    calls = [RecordedCall("MPI_Send", phase, site=site) for phase, site in [("", "a@1"), ("", "b@2"), ("own", "a@1")]]
    again = RecordedCall("MPI_Send", "", site="a@1 again")
    rank = [*calls, again, RecordedCall("MPI_Send", "", site="b@2"), RecordedCall("MPI_Send", "", site="c@3")]
    assert list(phases_between([rank, rank])) == [("a@1", "b@2"), ("b@2", "c@3")]
