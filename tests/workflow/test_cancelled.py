"""Receives that a program cancels: it does what it would do without them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marker_jobs import LIMIT_S, Mpi

from manynode.markers import read_marker_directory
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.recorded.recordings import read_recording
from phase2_nodesim.record import record_run
from phase2_nodesim.recorded_stream import recorded_stream
from phase2_nodesim.recording import rank_calls

pytestmark = pytest.mark.usefixtures("no_busy_start")


def recorded(mpi: Mpi, folder: Path, ranks: int) -> Path:
    record_run(folder, [str(mpi.program("cancelled.c"))], mpi.flavour, ranks, timeout_s=LIMIT_S)
    return folder


def test_a_cancelled_receive_leaves_the_recording(mpi: Mpi, tmp_path: Path) -> None:
    files = read_marker_directory(recorded(mpi, tmp_path / "run", 3))
    for file in files:
        calls = rank_calls(file, matched=True)
        made = [call.request for call in calls if call.request >= 0]
        waited = [request for call in calls for request in call.completes]
        # Three posted ahead, five again; two of these are cancelled, as are the other two receives.
        assert made == list(range(6)) and sorted(waited) == made
        assert {call.tag for call in calls if call.request >= 0} == {1}
        assert [call.operation for call in calls[-3:]] == ["MPI_Waitall", "MPI_Waitany", "MPI_Finalize"]
        assert calls[-3].completes == () and calls[-2].completes == (5,)
    replayed = recorded_stream(files, "the run")["calls"]
    assert not [call for call in replayed if call.get("call") == "MPI_Waitall" and "requests" in call]


def test_a_program_that_cancels_receives_has_an_exact_skeleton(mpi: Mpi, tmp_path: Path) -> None:
    runs = [read_recording(recorded(mpi, tmp_path / str(ranks), ranks)) for ranks in (2, 3, 4, 5, 6)]
    assert derive(runs[:-1], runs[-1:]).report.held_out == {"6 ranks": "equal"}
