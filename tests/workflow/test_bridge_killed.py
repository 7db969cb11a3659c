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
from bridge_programs import LIMIT_S, ROOT, Programs

from manynode.errors import EngineFailedError
from manynode.process_tree import descendants
from phase2_nodesim.bridge.job import STATE_RUNNING, BridgeFolder, Simulator, native_guests, run_bridged_job

ENOUGH_S = 10.0


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return bridge_programs.programs_of(request.param, tmp_path_factory.mktemp(request.param))


def started_by(pid: int) -> list[int]:
    """The processes of the job that ``pid`` runs."""
    return [process for process in descendants(pid) if process != pid]


def variable(pid: int, name: str) -> str | None:
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((e.partition(b"=")[2].decode() for e in entries if e.startswith(name.encode() + b"=")), None)


def program(pid: int) -> str:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def a_guest(pids: Sequence[int]) -> int:
    return next(pid for pid in pids if variable(pid, "MANYNODE_BRIDGE_RANK") == "1" and program(pid).endswith("guest"))


def a_proxy(pids: Sequence[int]) -> int:
    return next(pid for pid, rank in ranks(pids).items() if rank == 2)


def an_external_rank(pids: Sequence[int]) -> int:
    return next(pid for pid, rank in ranks(pids).items() if rank == 3)


def the_launcher(pids: Sequence[int]) -> int:
    return next(pid for pid in pids if program(pid) in ("mpiexec.hydra", "mpiexec", "orterun", "mpiexec.mpich"))


def ranks(pids: Sequence[int]) -> dict[int, int]:
    """Process -> rank of proxies and external ranks, without what was started around them."""
    found = {}
    for pid in pids:
        rank = variable(pid, "PMI_RANK") or variable(pid, "OMPI_COMM_WORLD_RANK")
        if rank is not None and program(pid) not in ("env", "manynode-bridge-rank"):
            found[pid] = int(rank)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(what: Callable[[], bool], limit_s: float = 30.0) -> bool:
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.05)
    return False


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
