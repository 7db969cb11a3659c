"""The one module that starts child processes.

Commands are argument lists and never pass a shell. A child runs in its own process group. If the caller is interrupted
or the child exceeds its time limit, the whole group is ended, and no rank of an MPI job survives. A user's program may
start processes that leave the group; a job run ``emptied`` has a supervisor (:mod:`manynode.supervisor`), which ends
them too. A failure becomes an :class:`EngineFailedError` with the command, the exit code, the last lines and the log's
path.
"""

from __future__ import annotations

import contextlib
import json
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
from manynode.parents_death import ended_with_caller
from manynode.rank_ends import LAST_LINES as LAST_LINES  # how many lines of output an error shows, for all
from manynode.rank_ends import end_words
from manynode.supervisor import LONGEST_S, left_words, supervised


@dataclass(frozen=True)
class Completed:
    """A finished child: its exit code, the wall time [s] and its log (stdout and stderr, interleaved).

    ``left`` names processes that an emptied job had left and that were ended with it.
    """

    returncode: int
    seconds: float
    output: str
    log: Path | None
    left: tuple[str, ...] = ()


def render(command: Sequence[str]) -> str:
    """Return the command in shell syntax, for people to read and repeat."""
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


class _Child:
    """A child in its own process group with its output in ``sink``; ``emptied``: under a supervisor."""

    def __init__(
        self,
        words: Sequence[str],
        sink: IO[bytes],
        *,
        what: str,
        env: Mapping[str, str] | None,
        cwd: Path | None,
        emptied: bool,
    ) -> None:
        environment = dict(os.environ)
        environment.update(env or {})
        self._report: int | None = None
        self._left: tuple[str, ...] | None = None
        given: int | None = None
        command = list(words)
        try:
            if emptied:
                if shutil.which(words[0]) is None:
                    raise FileNotFoundError(f"{words[0]!r} is not a program")
                self._report, given = os.pipe()
                command = supervised(command, given)
            command, in_child = ended_with_caller(command, environment)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=cwd,
                start_new_session=True,
                preexec_fn=in_child,
                pass_fds=() if given is None else (given,),
            )
        except (FileNotFoundError, PermissionError, OSError) as error:
            if self._report is not None:
                os.close(self._report)
            raise EngineMissingError(
                f"{what} could not be started",
                where=words[0],
                found=str(error),
                remedy="install the program or correct its path; 'manynode doctor' lists the programs it finds",
            ) from None
        finally:
            if given is not None:
                os.close(given)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int:
        return self._process.returncode

    def poll(self) -> int | None:
        """Return the exit code, None while the child runs."""
        return self._process.poll()

    def wait(self, limit_s: float | None = None) -> int:
        """Wait for the end; :class:`subprocess.TimeoutExpired` after ``limit_s``."""
        return self._process.wait(limit_s)

    def end(self) -> None:
        """End the child's whole process group: SIGTERM first, then SIGKILL."""
        if self._report is not None:
            # The supervisor ends its job by itself; a signal to the group would end parts of it without order.
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(LONGEST_S)
        for signum, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signum)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(patience)
        self.wait()
        self.left()

    def left(self) -> tuple[str, ...]:
        """Return what the ended child left, as its supervisor named it."""
        if self._left is None:
            self._left = ()
            if self._report is not None:
                # Whoever killed the supervisor has spared it the report.
                with open(self._report, encoding="utf-8") as source, contextlib.suppress(ValueError):
                    self._left = tuple(json.load(source))
        return self._left


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
    emptied: bool = False,
) -> Completed:
    """Run ``command`` to its end and return its exit code, wall time and log.

    ``env`` is added to the caller's environment. ``log`` receives stdout and stderr. ``explain`` may turn an exit code
    and the output into a remedy. ``emptied``: no process that the command started outlives it.

    With ``check``, an exit code other than 0 raises :class:`EngineFailedError`; a missing program raises
    :class:`EngineMissingError`; an overrun of ``timeout_s`` raises :class:`EngineFailedError`.
    """
    words = [str(word) for word in command]
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    # A file, not a pipe: a grandchild that keeps a pipe open would hang the reader after the child's death.
    sink = _emptied(log) if log is not None else tempfile.TemporaryFile()
    with sink:
        child = _Child(words, sink, what=what, env=env, cwd=cwd, emptied=emptied)
        try:
            child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            child.end()
            raise _overrun(what, render(words), timeout_s or 0.0, sink, child.left()) from None
        except BaseException:
            child.end()
            raise
        sink.seek(0)
        output = sink.read().decode("utf-8", "replace")
    completed = Completed(child.returncode, time.monotonic() - start, output, log, child.left())
    if check and child.returncode != 0:
        code = child.returncode
        raise EngineFailedError(
            f"{what} failed",
            where=render(words),
            found=end_words(code),
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
    cwd: Path | None = None,
    emptied: bool = False,
    shown: str | None = None,
) -> list[Completed]:
    """Run ``commands`` in parallel to their end and return their results, in their order.

    If one fails, the others are ended and ``failure`` of it is raised. After ``timeout_s`` all are ended with an
    :class:`EngineFailedError`. ``follow`` gets the number of the command and each line of its output while it runs.
    ``watch`` is called repeatedly with the number and the process id of every running command; an exception from it
    ends all. ``logs`` are the files for the commands' outputs, ``env`` is added to the caller's environment, ``cwd`` is
    the working folder. ``emptied``: no process that a command started outlives it. ``shown`` replaces the commands in
    errors, if they are longer than people need to repeat them.

    For commands that depend on each other: command ``i`` starts once ``may_start(i)`` is true. ``check`` is called
    repeatedly with all exit codes (None: not ended); an exception from it ends all. After a failure the others have
    ``grace_s`` to end themselves, and ``judge``, in place of ``failure``, gets each result (None: it had to be ended).
    """
    start = time.monotonic()
    children: list[_Child | None] = [None] * len(commands)
    with contextlib.ExitStack() as stack:
        paths = [_sink(stack) for _ in commands] if logs is None else [Path(log) for log in logs]
        sinks = [stack.enter_context(_emptied(path)) for path in paths]
        # A view of its own for each: what the child writes to moves its position.
        views = [stack.enter_context(open(path, "rb")) for path in paths]
        words = [[str(word) for word in command] for command in commands]
        late: int | None = None
        try:
            pause = 0.001
            while True:
                for index, child in enumerate(children):
                    if child is None and (may_start is None or may_start(index)):
                        children[index] = _Child(
                            words[index], sinks[index], what=what, env=env, cwd=cwd, emptied=emptied
                        )
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
                    break
                time.sleep(pause)
                # Short runs are noticed at once, long ones cost nothing.
                pause = min(0.05, 2 * pause)
            if broken is not None:
                codes = _wait_for_all(children, grace_s)
        finally:
            for child in children:
                if child is not None and child.poll() is None:
                    child.end()
        lefts = [() if child is None else child.left() for child in children]
        if late is not None:
            left = tuple(name for names in lefts for name in names)
            raise _overrun(what, shown or render(words[late]), timeout_s or 0.0, sinks[late], left)
        kept = paths if logs else [None] * len(paths)
        completed = [
            Completed(
                0 if child is None else child.returncode,
                time.monotonic() - start,
                path.read_text("utf-8", "replace"),
                log,
                left,
            )
            for child, path, log, left in zip(children, paths, kept, lefts, strict=True)
        ]
    if broken is not None:
        if judge is not None:
            raise judge([None if code is None else left for code, left in zip(codes, completed, strict=True)])
        raise failure(completed[broken])
    return completed


def _emptied(path: Path) -> IO[bytes]:
    """Return the emptied file in append mode: several processes of a job may write to it, each at its end."""
    path.write_bytes(b"")
    return open(path, "a+b")


def _exit_codes(children: Sequence[_Child | None]) -> list[int | None]:
    return [None if child is None else child.poll() for child in children]


def _wait_for_all(children: Sequence[_Child | None], limit_s: float) -> list[int | None]:
    """Return the exit codes once all started commands have ended, or after ``limit_s``."""
    until = time.monotonic() + limit_s
    while any(child is not None and child.poll() is None for child in children) and time.monotonic() < until:
        time.sleep(0.01)
    return _exit_codes(children)


def _sink(stack: contextlib.ExitStack) -> Path:
    """Return a file that is closed with the stack."""
    return Path(stack.enter_context(tempfile.NamedTemporaryFile(prefix="manynode.")).name)


def _forward(views: Sequence[IO[bytes]], follow: Callable[[int, str], None], *, ended: bool) -> None:
    """Give ``follow`` the complete lines since the last call; at the end also a last line without a newline."""
    for index, view in enumerate(views):
        while line := view.readline():
            if not line.endswith(b"\n") and not ended:
                view.seek(-len(line), os.SEEK_CUR)
                break
            follow(index, line.decode("utf-8", "replace").rstrip("\n"))


def _overrun(what: str, where: str, timeout_s: float, sink: IO[bytes], left: Sequence[str]) -> EngineFailedError:
    return EngineFailedError(
        f"{what} did not end in time",
        where=where,
        found=f"still running after {timeout_s:g} s; ended" + (f", with {left_words(left)}" if left else ""),
        remedy="raise the time limit or make the problem smaller",
        details=_tail(sink),
    )


def _tail(sink: IO[bytes]) -> str:
    sink.seek(0)
    text = sink.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-LAST_LINES:])
