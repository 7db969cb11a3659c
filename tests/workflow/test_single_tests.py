"""Programs that look once whether messages are there: whether they were does not change what is derived."""

from __future__ import annotations

from pathlib import Path

import pytest
from marker_jobs import LIMIT_S, Mpi

from manynode.markers import read_marker_directory
from phase2_nodesim.conformance import calls_frame, first_difference, recorded_calls
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import job_of
from phase2_nodesim.derive.recorded.places import passed
from phase2_nodesim.derive.recorded.recordings import read_recording
from phase2_nodesim.derive.recorded.tested import later_waits
from phase2_nodesim.record import record_run

pytestmark = pytest.mark.usefixtures("no_busy_start")


def test_a_test_that_only_moves_a_wait_does_not_change_the_skeleton(mpi: Mpi, tmp_path: Path) -> None:
    program = str(mpi.program("tested.c"))
    for ranks in (2, 3, 4, 5, 6):
        record_run(tmp_path / str(ranks), [program], mpi.flavour, ranks, timeout_s=LIMIT_S)
    runs = [read_recording(tmp_path / str(ranks)) for ranks in (2, 3, 4, 5, 6)]
    tests = later_waits(calls for one in runs for calls in one.calls)
    assert {site.split("@")[0] for site in tests} == {"MPI_Testall", "MPI_Test", "MPI_Testsome"}, "some were in vain"
    found = derive(runs[:-1], runs[-1:])
    assert found.report.held_out == {"6 ranks": "equal"} and found.report.tests_in_vain == sorted(tests)
    made = job_of(found.skeleton, runs[-1]).calls()
    promised = {rank: [call for call in calls if not passed(call.operation)] for rank, calls in enumerate(made)}
    recorded = recorded_calls(read_marker_directory(tmp_path / "6", resolve=False), derived=True)
    assert first_difference(recorded, calls_frame(promised)) is None
