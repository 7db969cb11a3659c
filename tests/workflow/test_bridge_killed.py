"""Each party of a bridged job killed in turn: one error that names it, within seconds, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import bridge_programs
import pytest
from bridge_parties import (
    ENOUGH_S,
    a_guest,
    a_proxy,
    alive,
    an_external_rank,
    program,
    ranks,
    started_by,
    the_launcher,
    wait_until,
)
from bridge_programs import LIMIT_S, ROOT, Programs

from manynode.errors import EngineFailedError
from phase2_nodesim.bridge.job import STATE_RUNNING, BridgeFolder, Simulator, native_guests, run_bridged_job


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return bridge_programs.programs_of(request.param, tmp_path_factory)


@pytest.mark.parametrize(
    ("victim", "name"),
    [
        (a_guest, "the guest of rank 1"),
        (a_proxy, "the proxy of rank 2"),
        (an_external_rank, "external rank 3"),
        (the_launcher, "the launcher of the MPI job"),
    ],
)
def test_a_killed_party_is_named_and_nothing_stays(
    programs: Programs, tmp_path: Path, victim: Callable[[Sequence[int]], int], name: str
) -> None:
    folders: list[BridgeFolder] = []
    errors: list[EngineFailedError] = []

    def start(bridge: BridgeFolder) -> list[Simulator]:
        folders.append(bridge)
        return native_guests(bridge)

    def run() -> None:
        try:
            run_bridged_job(
                programs.job("bridge_endings.cpp", "forever", directory=tmp_path), start, what="x", timeout_s=LIMIT_S
            )
        except EngineFailedError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert wait_until(lambda: bool(folders) and all(state >= STATE_RUNNING for state in folders[0].states()))
        time.sleep(0.5)  # the job is in the middle of its work
        pids = started_by(os.getpid())
        killed = victim(pids)
        start_s = time.monotonic()
        os.kill(killed, signal.SIGKILL)
        thread.join(ENOUGH_S)
        assert not thread.is_alive() and time.monotonic() - start_s < ENOUGH_S
    finally:
        thread.join()
    assert len(errors) == 1 and errors[0].what == f"x failed: {name}"
    assert "signal 9 (SIGKILL)" in str(errors[0].found)
    assert wait_until(lambda: not any(map(alive, pids)), 5.0), [program(pid) for pid in pids if alive(pid)]
    assert not folders[0].path.exists()


def test_when_the_starter_is_killed_nothing_runs_on(programs: Programs, tmp_path: Path) -> None:
    job = programs.job("bridge_endings.cpp", "forever", directory=tmp_path / "out")
    script = (
        "from pathlib import Path\n"
        "from phase2_nodesim.bridge.job import BridgedJob, run_bridged_job\n"
        f"job = BridgedJob({job.flavour!r}, {list(job.guest)!r}, {list(job.external)!r}, 1, 2, 4, "
        f"Path({str(job.directory)!r}))\n"
        "run_bridged_job(job, what='x')\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    starter = subprocess.Popen([sys.executable, "-c", script], env=environment)
    try:
        assert wait_until(lambda: len([p for p in started_by(starter.pid) if program(p).endswith("guest")]) == 2)
        time.sleep(1.0)
        pids = started_by(starter.pid)
        assert len(ranks(pids)) == 4
    finally:
        starter.kill()
        starter.wait()
    assert wait_until(lambda: not any(map(alive, pids)), ENOUGH_S), [program(pid) for pid in pids if alive(pid)]
    assert not list(tmp_path.glob("**/rank-*.re*")), "the FIFOs lost their names when both sides were there"
