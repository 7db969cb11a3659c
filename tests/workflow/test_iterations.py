"""Iterations that all ranks of all runs make alike are left out of a derivation, and are in the skeleton."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from manynode.process import run
from phase2_nodesim.derive import derivation
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.recorded.recordings import Recording, read_recording
from phase2_nodesim.derive.sequence.shortened import shortened
from phase2_nodesim.record import record_run

SOURCE = Path(__file__).resolve().parent.parent / "data" / "mpi" / "iterations.c"

pytestmark = [
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="MPICH is not installed"),
]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    folder = tmp_path_factory.mktemp("iterations")
    program = folder / "iterations"
    run(["mpicc.mpich", "-g", "-O1", "-o", program, SOURCE], what="compiling the program")
    found = []
    for ranks in (2, 3, 4, 5, 6):
        record_run(folder / str(ranks), [str(program)], "mpich", ranks)
        found.append(read_recording(folder / str(ranks)))
    return found


def calls(recording: Recording) -> int:
    return sum(map(len, recording.calls))


def test_the_skeleton_is_that_of_the_whole_runs(recordings: list[Recording], monkeypatch: pytest.MonkeyPatch) -> None:
    shorter = shortened(recordings)
    assert all(calls(one) < 0.4 * calls(whole) for one, whole in zip(shorter.recordings, recordings, strict=True))
    with monkeypatch.context() as patch:
        patch.setattr(derivation, "check_size", lambda _: pytest.fail("the whole runs are learned from"))
        found = derive(recordings[:-1], recordings[-1:])
    # Calls that are not in files are not shortened.
    whole = [replace(one, calls=[list(rank) for rank in one.calls]) for one in recordings]
    assert found.skeleton == derive(whole[:-1], whole[-1:]).skeleton
    assert found.report.held_out == {"6 ranks": "equal"}
    assert [first_difference(found.skeleton, one) for one in whole] == [None] * 5


def test_a_run_with_more_iterations_is_not_equal(recordings: list[Recording]) -> None:
    """Its columns are others: it is compared as a whole, and differs."""
    longer = recordings[-1]
    twice = [[*rank[:-1], *rank[1:]] for rank in longer.calls]
    found = derive(recordings[:-1], [replace(longer, calls=twice, checksum="")])
    assert found.report.held_out["6 ranks"] != "equal"


def test_what_is_left_out_of_one_run_has_the_same_kinds_of_calls(recordings: list[Recording]) -> None:
    for one in recordings:
        shorter = shortened([one]).recordings[0]
        assert calls(shorter) < 0.4 * calls(one) and shorter.digest == one.digest
        for rank, whole in zip(shorter.calls, one.calls, strict=True):
            assert {(call.operation, call.site) for call in rank} == {(call.operation, call.site) for call in whole}
