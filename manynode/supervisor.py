"""Run a job so that no process of it outlives it: ``python -m manynode.supervisor REPORT COMMAND...``.

The supervisor is the subreaper of all processes that the command starts (prctl, PR_SET_CHILD_SUBREAPER). A process
whose parent ends becomes its child, even if it left its session or has its own process group. The job is empty when the
supervisor has no child left, and no process can escape by forking.

The remaining processes get SIGTERM, then SIGKILL, when the command has ended or when the supervisor is asked to end
(SIGTERM, SIGINT, SIGHUP; SIGTERM also comes when its parent dies). They are named on stderr and, as a JSON list, in the
file descriptor REPORT. The supervisor ends as the command did: with its exit code, or its signal.

SIGUSR1 means that the command should have ended, but may wait for processes that it left: a launcher reads the output
of its ranks until the last process that has it open is gone. Processes without their parent then get SIGTERM, and
SIGKILL at the next SIGUSR1.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from manynode.process_tree import command_line, descendants

SETTLE_S = 1.0
"""How long processes that are about to end anyway have: a launcher's helpers end a little after it."""
PATIENCE_S = 3.0
"""How long the command, and then what is left, has after SIGTERM."""
_KILLING_S = 10.0
"""After so long, a process that SIGKILL does not end is given up (it hangs in the kernel)."""
CANNOT_START = 127
"""The exit code where the command cannot be started, as a shell has it."""
LONGEST_S = 2 * PATIENCE_S + SETTLE_S + _KILLING_S
"""In which a supervisor that was asked to end has ended."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LIBC = ctypes.CDLL(None, use_errno=True)
_ASKING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
END_ORPHANS = signal.SIGUSR1


def _prepare_child() -> None:
    """Restore signals and make the child end with the supervisor; called before it becomes the command."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


class _Job:
    """The command, by its process id, and all processes that it started."""

    def __init__(self, command: list[str]) -> None:
        # Kept, but never asked: what it would collect is collected here.
        self._child = subprocess.Popen(command, preexec_fn=_prepare_child)
        self.pid = self._child.pid
        self.status: int | None = None
        """Of the command, as waitpid has it; None while it runs."""
        self.empty = False
        self.left: dict[int, str] = {}
        """What had to be ended: process id -> command line."""
        self._orphans_warned = False

    def reap(self) -> None:
        """Collect all processes that have ended."""
        while not self.empty:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.empty = True
                return
            if pid == 0:
                return
            if pid == self.pid:
                self.status = self._child.returncode = status

    def wait(self, limit_s: float | None, *, until_empty: bool) -> bool:
        """Wait for the command or the whole job; return whether it ended before a signal or ``limit_s``."""
        deadline = None if limit_s is None else time.monotonic() + limit_s
        while True:
            self.reap()
            if self.empty or (self.status is not None and not until_empty):
                return True
            left = 3600.0 if deadline is None else deadline - time.monotonic()
            if left <= 0:
                return False
            caught = signal.sigtimedwait({signal.SIGCHLD, END_ORPHANS, *_ASKING}, left)
            if caught is not None and caught.si_signo == END_ORPHANS:
                self.send(signal.SIGKILL if self._orphans_warned else signal.SIGTERM, spared=descendants(self.pid))
                self._orphans_warned = True
            if caught is not None and caught.si_signo in _ASKING and deadline is None:
                return False

    def send(self, signum: int, spared: Sequence[int] = ()) -> None:
        """Send a signal to the whole job except ``spared``, and note who got it."""
        for pid in descendants(os.getpid())[1:]:
            words = None if pid in spared else command_line(pid)
            if words is None:  # or ended meanwhile
                continue
            try:
                os.kill(pid, signum)
            except ProcessLookupError:
                continue
            self.left[pid] = words


def supervise(command: list[str]) -> tuple[int, dict[int, str]]:
    """Run ``command``; return its waitpid status and the processes that it left: process id -> command line."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, END_ORPHANS, *_ASKING})
    if _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    job = _Job(command)
    if not job.wait(None, until_empty=False):
        os.kill(job.pid, signal.SIGTERM)  # launchers end their ranks
        job.wait(PATIENCE_S, until_empty=False)
    if not job.wait(SETTLE_S, until_empty=True):
        job.send(signal.SIGTERM)
        job.wait(PATIENCE_S, until_empty=True)
    deadline = time.monotonic() + _KILLING_S
    while not job.empty and time.monotonic() < deadline:
        job.send(signal.SIGKILL)
        job.wait(0.05, until_empty=True)
    return (signal.SIGKILL if job.status is None else job.status), job.left


def left_words(left: Sequence[str]) -> str:
    """Return the processes that a job left, in one line."""
    return f"{len(left)} process{'es' if len(left) > 1 else ''} that it had left ({'; '.join(left)})"


def main(arguments: list[str]) -> int:
    """Supervise the command of ``arguments`` (REPORT COMMAND...) and end with its status."""
    report, command = int(arguments[0]), arguments[1:]
    # Whoever reads the report waits for its end: no process of the job may keep it open.
    os.set_inheritable(report, False)
    try:
        status, left = supervise(command)
    except OSError as error:
        print(f"manynode: {command[0]} could not be started: {error}", file=sys.stderr)
        return CANNOT_START
    named = [f"pid {pid}: {words}" for pid, words in left.items()]
    if named:
        print(f"\nmanynode: the job has ended; ended with it: {left_words(named)}", file=sys.stderr, flush=True)
    with open(report, "w", encoding="utf-8") as sink:
        json.dump(named, sink)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command has left its own
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        os.kill(os.getpid(), number)
        return 128 + number
    return os.waitstatus_to_exitcode(status)


def supervised(command: list[str], report: int) -> list[str]:
    """Return the words that run ``command`` under a supervisor, whose report goes to the descriptor ``report``."""
    # -P: the working folder does not decide what is imported.
    return [sys.executable, "-P", "-m", "manynode.supervisor", str(report), *command]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
