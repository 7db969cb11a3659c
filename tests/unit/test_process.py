"""Child processes: what they leave, how their failures read, and that nothing stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from manynode import process
from manynode.errors import EngineFailedError, EngineMissingError


def test_output_and_log_are_kept(tmp_path: Path) -> None:
    done = process.run([sys.executable, "-c", "print('hello')"], what="a child", log=tmp_path / "x" / "log")
    assert done.output == "hello\n" and (tmp_path / "x" / "log").read_text() == "hello\n"


def test_arguments_never_pass_a_shell(tmp_path: Path) -> None:
    process.run(["echo", f"$(touch {tmp_path}/pwned)", ";", "touch", f"{tmp_path}/pwned"], what="echo")
    assert not (tmp_path / "pwned").exists()


def test_a_failure_shows_command_exit_code_last_lines_and_log(tmp_path: Path) -> None:
    script = "import sys; print('the cause'); sys.exit(7)"
    with pytest.raises(EngineFailedError) as caught:
        process.run([sys.executable, "-c", script], what="the application", log=tmp_path / "log")
    text = caught.value.render()
    for word in ("the application failed", "exit code 7", "the cause", str(tmp_path / "log"), sys.executable):
        assert word in text


def test_a_crash_names_the_signal() -> None:
    with pytest.raises(EngineFailedError, match="SIGSEGV"):
        process.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"], what="x")


def test_a_missing_program_is_reported_as_missing() -> None:
    with pytest.raises(EngineMissingError) as caught:
        process.run(["/no/such/program"], what="x")
    assert caught.value.exit_code == 4


def test_an_overrun_ends_the_whole_group(tmp_path: Path) -> None:
    script = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    with pytest.raises(EngineFailedError, match="did not end in time"):
        process.run([sys.executable, "-c", script], what="x", log=tmp_path / "log", timeout_s=1.0)
    grandchild = int((tmp_path / "log").read_text().split()[0])
    _assert_gone(grandchild)


def test_a_killed_caller_takes_its_children_along(tmp_path: Path) -> None:
    caller = (
        "from manynode import process\n"
        f"process.run(['sh', '-c', 'echo $$ > {tmp_path}/pid; exec sleep 60'], what='x')\n"
    )
    started = subprocess.Popen([sys.executable, "-c", caller])
    deadline = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    started.kill()
    started.wait()
    _assert_gone(int((tmp_path / "pid").read_text()))


def _assert_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state == "Z":
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")
