"""Child processes: their output, their errors, and that no process stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
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


def test_a_program_that_the_kernel_does_not_run_is_reported_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("neither a binary nor a script")
    (tmp_path / "program").chmod(0o755)
    with pytest.raises(EngineMissingError, match="Exec format error"):
        process.run([tmp_path / "program"], what="x")


def test_an_overrun_ends_the_whole_group(tmp_path: Path) -> None:
    script = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    with pytest.raises(EngineFailedError, match="did not end in time"):
        process.run([sys.executable, "-c", script], what="x", log=tmp_path / "log", timeout_s=1.0)
    grandchild = int((tmp_path / "log").read_text().split()[0])
    _assert_gone(grandchild)


@pytest.mark.parametrize("setpriv", ["parents_death._setpriv", "lambda: None"], ids=["with setpriv", "without"])
def test_a_killed_caller_takes_its_children_along(setpriv: str, tmp_path: Path) -> None:
    caller = (
        "from manynode import parents_death, process\n"
        f"parents_death._setpriv = {setpriv}\n"
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


def _failure(completed: process.Completed) -> EngineFailedError:
    return EngineFailedError(f"exit code {completed.returncode}", details=completed.output)


def test_commands_beside_each_other_return_in_their_order() -> None:
    commands = [[sys.executable, "-c", f"import time; time.sleep({wait}); print({wait})"] for wait in (0.3, 0.0)]
    done = process.run_together(commands, what="x", failure=_failure)
    assert [completed.output for completed in done] == ["0.3\n", "0.0\n"]


def test_when_one_of_several_fails_the_others_are_ended(tmp_path: Path) -> None:
    slow = ["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 60"]
    broken = ["sh", "-c", f"while [ ! -s {tmp_path}/pid ]; do sleep 0.05; done; echo the cause; exit 7"]
    start = time.monotonic()
    with pytest.raises(EngineFailedError, match="exit code 7") as caught:
        process.run_together([slow, broken], what="x", failure=_failure)
    assert "the cause" in caught.value.render() and time.monotonic() - start < 30
    _assert_gone(int((tmp_path / "pid").read_text()))


def test_a_time_limit_ends_all_of_them(tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError, match="did not end in time"):
        process.run_together([["sleep", "60"], ["true"]], what="x", failure=_failure, timeout_s=0.5)


def test_a_command_may_have_to_wait_for_another(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    first = ["sh", "-c", f"sleep 0.3; touch {ready}; while [ ! -e {tmp_path}/second ]; do sleep 0.02; done"]
    second = ["sh", "-c", f"test -e {ready} && touch {tmp_path}/second"]
    done = process.run_together(
        [first, second], what="x", failure=_failure, may_start=lambda index: index == 0 or ready.exists(), timeout_s=20
    )
    assert [completed.returncode for completed in done] == [0, 0]


def test_what_a_check_raises_ends_all_of_them(tmp_path: Path) -> None:
    slow = ["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 60"]

    def check(codes: Sequence[int | None]) -> None:
        if codes[1] == 0 and (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            raise EngineFailedError("one is missing")

    with pytest.raises(EngineFailedError, match="one is missing"):
        process.run_together([slow, ["true"]], what="x", failure=_failure, check=check, timeout_s=20)
    _assert_gone(int((tmp_path / "pid").read_text()))


def test_a_judge_sees_what_ended_by_itself_within_the_grace(tmp_path: Path) -> None:
    seen: list[list[int | None]] = []

    def judge(ended: Sequence[process.Completed | None]) -> EngineFailedError:
        seen.append([None if completed is None else completed.returncode for completed in ended])
        return EngineFailedError("judged")

    commands = [["sh", "-c", "exit 7"], ["sh", "-c", "sleep 0.3; exit 4"], ["sleep", "60"]]
    with pytest.raises(EngineFailedError, match="judged"):
        process.run_together(commands, what="x", failure=_failure, judge=judge, grace_s=2.0)
    assert seen == [[7, 4, None]]


def test_lines_are_followed_while_the_child_runs_and_the_last_one_without_newline_too() -> None:
    seen: list[tuple[int, str, float]] = []
    script = "import sys, time; print('one', flush=True); time.sleep(0.5); sys.stderr.write('two')"
    start = time.monotonic()
    process.run_together(
        [[sys.executable, "-c", script]],
        what="x",
        failure=_failure,
        follow=lambda index, line: seen.append((index, line, time.monotonic() - start)),
    )
    assert [entry[:2] for entry in seen] == [(0, "one"), (0, "two")]
    assert seen[1][2] - seen[0][2] > 0.3


_DAEMON = (
    "(setsid sh -c 'trap \"\" TERM; echo $$ > {file}; while :; do sleep 1; done' &) ; "
    "while [ ! -s {file} ]; do sleep 0.05; done"
)


def test_an_emptied_job_leaves_no_process_and_names_what_it_left(tmp_path: Path) -> None:
    command = ["sh", "-c", _DAEMON.format(file=tmp_path / "pid") + "; echo done"]
    done = process.run(command, what="x", log=tmp_path / "log", emptied=True)
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()  # without waiting: the job is empty when it has ended
    assert done.returncode == 0 and any(name.startswith(f"pid {pid}: sh -c trap") for name in done.left)
    assert f"pid {pid}: sh -c trap" in (tmp_path / "log").read_text()


def test_a_plain_job_leaves_what_left_its_group(tmp_path: Path) -> None:
    """The counterpart: without a supervisor the same process stays."""
    done = process.run(["sh", "-c", _DAEMON.format(file=tmp_path / "pid")], what="x")
    pid = int((tmp_path / "pid").read_text())
    assert done.left == () and Path(f"/proc/{pid}").exists()
    os.kill(pid, 9)
    _assert_gone(pid)


@pytest.mark.parametrize(("script", "found"), [("exit 7", "exit code 7"), ("kill -SEGV $$", "signal 11 (SIGSEGV)")])
def test_the_end_of_an_emptied_job_is_passed_on(script: str, found: str) -> None:
    with pytest.raises(EngineFailedError) as caught:
        process.run(["sh", "-c", script], what="x", emptied=True)
    assert found in str(caught.value.found)


def test_an_emptied_job_with_a_missing_program_is_reported_as_missing() -> None:
    with pytest.raises(EngineMissingError):
        process.run(["/no/such/program"], what="x", emptied=True)


def test_a_time_limit_empties_the_job_and_names_what_it_left(tmp_path: Path) -> None:
    command = ["sh", "-c", _DAEMON.format(file=tmp_path / "pid") + "; exec sleep 60"]
    with pytest.raises(EngineFailedError, match="did not end in time") as caught:
        process.run_together([command], what="x", failure=_failure, timeout_s=3.0, emptied=True)
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists() and f"pid {pid}: sh -c trap" in str(caught.value.found)


def test_a_killed_caller_takes_an_emptied_job_along(tmp_path: Path) -> None:
    script = _DAEMON.format(file=tmp_path / "pid") + "; exec sleep 60"
    caller = f"from manynode import process\nprocess.run(['sh', '-c', {script!r}], what='x', emptied=True)\n"
    started = subprocess.Popen([sys.executable, "-c", caller])
    deadline = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    started.kill()
    started.wait()
    _assert_gone(int((tmp_path / "pid").read_text()))
