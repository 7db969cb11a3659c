"""The one module that starts child processes.

Commands are argument lists and never pass a shell. A child runs in a process group of its own; when the caller is
interrupted or the child overruns its time limit, the whole group is ended, so that no rank of an MPI job stays behind.
A failure becomes an :class:`EngineFailedError` with the command, the exit code, the last lines and the log's place.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from manynode.errors import EngineFailedError, EngineMissingError, ManynodeError

LAST_LINES = 20
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Completed:
    """What a finished child left: its exit code, the wall time [s] and its log (stdout and stderr, interleaved)."""

    returncode: int
    seconds: float
    output: str
    log: Path | None


def render(command: Sequence[str]) -> str:
    """Return the command as a shell would need it, for people to read and repeat."""
    return shlex.join([str(word) for word in command])


def find_program(name: str, *, purpose: str, remedy: str) -> str:
    """Return the path of ``name`` on PATH (or ``name`` itself when it is an executable file).

    Raises :class:`EngineMissingError` naming the purpose and the remedy.
    """
    path = shutil.which(name)
    if path is None:
        raise EngineMissingError(
            f"{name} was not found", where="PATH", found="no such program", allowed=purpose, remedy=remedy
        )
    return path


def _die_with_parent() -> None:
    """In the child, before it becomes the program: be ended when the caller dies, however it dies.

    Without this, a job of a pipeline that was killed would run on beside its successor (prctl, PR_SET_PDEATHSIG).
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """End the child's whole process group: politely first, then for certain."""
    for signum, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
        try:
            os.killpg(child.pid, signum)
        except ProcessLookupError:
            pass
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    child.wait()


def _start(
    words: Sequence[str], sink: IO[bytes], *, what: str, env: Mapping[str, str] | None, cwd: Path | None
) -> subprocess.Popen[bytes]:
    """Start a child in a process group of its own, its output into ``sink``."""
    environment = dict(os.environ)
    environment.update(env or {})
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
    except (FileNotFoundError, PermissionError, OSError) as error:
        raise EngineMissingError(
            f"{what} could not be started",
            where=words[0],
            found=str(error),
            remedy="install the program or correct its path; 'manynode doctor' lists what is found",
        ) from None


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    log: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_s: float | None = None,
    check: bool = True,
    explain: Callable[[int, str], str | None] | None = None,
) -> Completed:
    """Run ``command`` to its end and return what it left.

    ``env`` is added to the caller's environment. ``log`` receives stdout and stderr. ``explain`` may turn an exit code
    and the output into a remedy. With ``check``, an exit code other than 0 raises :class:`EngineFailedError`; a
    missing program raises :class:`EngineMissingError`; an overrun of ``timeout_s`` raises :class:`EngineFailedError`.
    """
    words = [str(word) for word in command]
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    # A file, not a pipe: a grandchild that keeps a pipe open would hang the reader after the child's death.
    sink = open(log, "w+b") if log is not None else tempfile.TemporaryFile()
    with sink:
        child = _start(words, sink, what=what, env=env, cwd=cwd)
        try:
            child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            _end_group(child)
            raise _overrun(what, words, timeout_s or 0.0, sink) from None
        except BaseException:
            _end_group(child)
            raise
        sink.seek(0)
        output = sink.read().decode("utf-8", "replace")
    completed = Completed(child.returncode, time.monotonic() - start, output, log)
    if check and child.returncode != 0:
        code = child.returncode
        found = f"killed by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"
        raise EngineFailedError(
            f"{what} failed",
            where=render(words),
            found=found,
            remedy=(explain(code, output) if explain else None)
            or (f"the whole output is in {log}" if log else "run the command by hand to see more"),
            details="\n".join(output.splitlines()[-LAST_LINES:]),
        )
    return completed


def run_together(
    commands: Sequence[Sequence[str | Path]],
    *,
    what: str,
    failure: Callable[[Completed], ManynodeError],
    timeout_s: float | None = None,
    follow: Callable[[int, str], None] | None = None,
    logs: Sequence[Path] | None = None,
    env: Mapping[str, str] | None = None,
    watch: Callable[[int, int], None] | None = None,
    may_start: Callable[[int], bool] | None = None,
    check: Callable[[Sequence[int | None]], None] | None = None,
    judge: Callable[[Sequence[Completed | None]], ManynodeError] | None = None,
    grace_s: float = 0.0,
) -> list[Completed]:
    """Run ``commands`` beside each other to their end and return what each left, in their order.

    When one fails, the others are ended and ``failure`` of it is raised; after ``timeout_s`` all are ended with an
    :class:`EngineFailedError`. ``follow`` gets the number of the command and each line of its output while it runs.
    ``watch`` gets the number and the process id of every running command again and again; what it raises ends all.
    ``logs`` are the files that keep the commands' outputs, ``env`` is added to the caller's environment.

    For commands that depend on each other: command ``i`` starts once ``may_start(i)`` says so; ``check`` sees all exit
    codes (None: not ended) again and again, and what it raises ends all; after a failure the others have ``grace_s`` to
    end by themselves, and ``judge``, in place of ``failure``, sees what each left (None: it had to be ended).
    """
    start = time.monotonic()
    children: list[subprocess.Popen[bytes] | None] = [None] * len(commands)
    with contextlib.ExitStack() as stack:
        paths = [_sink(stack) for _ in commands] if logs is None else [Path(log) for log in logs]
        sinks = [stack.enter_context(open(path, "w+b")) for path in paths]
        # A view of its own for each: what the child writes to moves its position.
        views = [stack.enter_context(open(path, "rb")) for path in paths]
        words = [[str(word) for word in command] for command in commands]
        try:
            pause = 0.001
            while True:
                for index, child in enumerate(children):
                    if child is None and (may_start is None or may_start(index)):
                        children[index] = _start(words[index], sinks[index], what=what, env=env, cwd=None)
                codes = _exit_codes(children)
                if follow is not None:
                    _forward(views, follow, ended=all(code is not None for code in codes))
                if watch is not None:
                    for index, child in enumerate(children):
                        if child is not None and codes[index] is None:
                            watch(index, child.pid)
                broken = next((index for index, code in enumerate(codes) if code), None)
                if broken is not None or None not in codes:
                    break
                if check is not None:
                    check(codes)
                seconds = time.monotonic() - start
                if timeout_s is not None and seconds > timeout_s:
                    late = codes.index(None)
                    raise _overrun(what, words[late], timeout_s, sinks[late])
                time.sleep(pause)
                # Short runs are noticed at once, long ones cost nothing.
                pause = min(0.05, 2 * pause)
            if broken is not None:
                codes = _wait_for_all(children, grace_s)
        finally:
            for child in children:
                if child is not None and child.poll() is None:
                    _end_group(child)
        completed = [
            Completed(
                0 if child is None else child.returncode,
                time.monotonic() - start,
                path.read_text("utf-8", "replace"),
                log,
            )
            for child, path, log in zip(children, paths, paths if logs else [None] * len(paths), strict=True)
        ]
    if broken is not None:
        if judge is not None:
            raise judge([None if code is None else left for code, left in zip(codes, completed, strict=True)])
        raise failure(completed[broken])
    return completed


def _exit_codes(children: Sequence[subprocess.Popen[bytes] | None]) -> list[int | None]:
    return [None if child is None else child.poll() for child in children]


def _wait_for_all(children: Sequence[subprocess.Popen[bytes] | None], limit_s: float) -> list[int | None]:
    """Return the exit codes once all that were started have ended, or after ``limit_s``."""
    until = time.monotonic() + limit_s
    while any(child is not None and child.poll() is None for child in children) and time.monotonic() < until:
        time.sleep(0.01)
    return _exit_codes(children)


def _sink(stack: contextlib.ExitStack) -> Path:
    """Return a file that goes with the stack."""
    return Path(stack.enter_context(tempfile.NamedTemporaryFile(prefix="manynode.")).name)


def _forward(views: Sequence[IO[bytes]], follow: Callable[[int, str], None], *, ended: bool) -> None:
    """Give ``follow`` the whole lines that came since the last time; at the end also one that lacks its newline."""
    for index, view in enumerate(views):
        while line := view.readline():
            if not line.endswith(b"\n") and not ended:
                view.seek(-len(line), os.SEEK_CUR)
                break
            follow(index, line.decode("utf-8", "replace").rstrip("\n"))


def _overrun(what: str, words: Sequence[str], timeout_s: float, sink: IO[bytes]) -> EngineFailedError:
    return EngineFailedError(
        f"{what} did not end in time",
        where=render(words),
        found=f"still running after {timeout_s:g} s; ended",
        remedy="raise the time limit or make the problem smaller",
        details=_tail(sink),
    )


def _tail(sink: IO[bytes]) -> str:
    sink.seek(0)
    text = sink.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-LAST_LINES:])
