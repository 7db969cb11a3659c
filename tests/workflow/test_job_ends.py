"""How MPI jobs end: the rank that ended badly is named with its end, and no process of a job outlives it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from bridge_parties import ENOUGH_S, alive, wait_until

from manynode import process
from manynode.errors import EngineFailedError
from manynode.launch import Block, Flavour, run_job

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi"
LIMIT_S = 120.0


class Programs:
    """One MPI library: compiles programs of tests/data/mpi once."""

    def __init__(self, flavour: Flavour, folder: Path) -> None:
        self.flavour: Flavour = flavour
        self._folder = folder

    def __call__(self, source: str) -> str:
        program = self._folder / Path(source).stem
        if not program.exists():
            process.run([f"mpicc.{self.flavour}", "-w", "-o", program, SOURCES / source], what="compiling")
        return str(program)


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    for name in (f"mpicc.{request.param}", f"mpiexec.{request.param}"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    return Programs(request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize(
    ("way", "found"),
    [
        ("segv", r"rank 1: killed by signal 11 \(SIGSEGV\)"),
        ("kill", r"rank 1: killed by signal 9 \(SIGKILL\)"),
        # A launcher on a busy host may lose its own message; the rank's end is known all the same.
        ("abort", r"rank 1: ((application )?called MPI_Abort.*7|exit code 7)"),
        ("exit", r"rank 1: exit code 3"),
        ("early", r"rank 1: exit code 4"),
        ("late", r"rank 1: exit code 5"),
        ("all", r"rank \d: killed by signal 8 \(SIGFPE\)"),
    ],
)
def test_the_rank_that_ended_badly_is_named_with_its_end_and_its_last_words(
    programs: Programs, tmp_path: Path, way: str, found: str
) -> None:
    block = Block(3, [programs("deaths.c"), way])
    with pytest.raises(EngineFailedError) as caught:
        run_job(programs.flavour, [block], what="the application", log=tmp_path / "job.log", timeout_s=LIMIT_S)
    error = caught.value
    assert error.exit_code == 5
    assert re.search(found, str(error.found)), error.found
    last = (error.details or "").splitlines()
    # The program's own lines, without the launcher's about its end.
    if way == "early":
        assert "rank 1 finds no input file" in last
    elif way != "all":  # three backtraces are longer than the shown part
        assert {f"rank {rank} begins" for rank in range(3)} <= set(last)
    if way in ("segv", "kill", "abort", "exit"):
        assert "rank 1 is about to end" in last
    assert "BAD TERMINATION" not in last and not any("Primary job" in line for line in last)
    # The command to repeat by hand, without the wrapper around the ranks.
    assert "manynode-rank" not in str(error.where) and f"deaths {way}" in str(error.where)


def forking(programs: Programs, folder: Path, *words: str) -> list[Block]:
    """Return a rank that starts a child, and one that starts a daemon; :func:`forked` has their process ids."""
    return [Block(1, [programs("forks.c"), way, "1234", str(folder / way), *words]) for way in ("plain", "daemon")]


def forked(folder: Path) -> tuple[int, int]:
    plain, daemon = (int((folder / way).read_text()) for way in ("plain", "daemon"))
    assert not alive(plain) and not alive(daemon)
    return plain, daemon


def test_what_a_rank_forked_ends_with_a_job_that_ends_well_and_is_named(
    programs: Programs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = forking(programs, tmp_path)
    done = run_job(programs.flavour, blocks, what="the application", log=tmp_path / "job.log", timeout_s=LIMIT_S)
    named = {f"pid {pid}: sleep 1234" for pid in forked(tmp_path)}
    assert done.returncode == 0 and len(done.left) == 2 and set(done.left) == named
    warning = f"2 processes that it had left ({'; '.join(done.left)})"
    assert warning in capsys.readouterr().err and warning in (tmp_path / "job.log").read_text()


def test_a_job_that_forks_nothing_leaves_nothing(
    programs: Programs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = run_job(programs.flavour, [Block(2, [programs("sleeps.c")])], what="x", log=tmp_path / "log", timeout_s=60)
    assert done.left == () and capsys.readouterr().err == "" and "manynode" not in done.output


@pytest.mark.long
def test_what_a_rank_forked_ends_with_a_job_that_takes_too_long(programs: Programs, tmp_path: Path) -> None:
    blocks = forking(programs, tmp_path, "hang")
    with pytest.raises(EngineFailedError, match="did not end in time") as caught:
        run_job(programs.flavour, blocks, what="the application", log=tmp_path / "job.log", timeout_s=5.0)
    plain, daemon = forked(tmp_path)
    assert "manynode-rank" not in str(caught.value.where)
    # Processes that are still in the rank's process group end with it, because the launcher ends the group.
    assert f"pid {daemon}: sleep 1234" in str(caught.value.found) and str(plain) not in str(caught.value.found)


@pytest.mark.long
def test_what_a_rank_forked_ends_with_a_step_that_is_interrupted(programs: Programs, tmp_path: Path) -> None:
    """By each signal; the steps run side by side, because each waits for the process that ignores SIGTERM."""
    started = {}
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        folder = tmp_path / signum.name
        folder.mkdir()
        words = [programs("forks.c"), "daemon", "1234", str(folder / "pid"), "hang"]
        step = (
            "import signal\nfrom pathlib import Path\n"
            "from manynode import cli\nfrom manynode.launch import Block, run_job\n"
            "signal.signal(signal.SIGTERM, cli._terminated)\n"
            f"run_job({programs.flavour!r}, [Block(1, {words!r})], what='x', log=Path({str(folder / 'log')!r}))\n"
        )
        started[signum] = subprocess.Popen([sys.executable, "-c", step], stderr=subprocess.DEVNULL)
    pids = {}
    for signum, child in started.items():
        assert wait_until((tmp_path / signum.name / "pid").exists), signum
        pids[signum] = int((tmp_path / signum.name / "pid").read_text())
        assert alive(pids[signum]), signum
        os.kill(child.pid, signum)
    for child in started.values():
        child.wait(30)
    # A step that is killed cannot wait for its supervisor, which empties the job all the same.
    assert wait_until(lambda: not any(map(alive, pids.values())), 2 * ENOUGH_S)
    # The supervisor names the process after it has ended it.
    logs = {tmp_path / signum.name / "log": f"pid {pid}: sleep 1234" for signum, pid in pids.items()}
    assert wait_until(lambda: all(words in log.read_text() for log, words in logs.items()))
