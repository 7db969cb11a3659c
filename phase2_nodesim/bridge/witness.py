"""Which rank of an MPI job died first, and how: launchers end all ranks when one is lost, and do not always say which.

A thread waits for the end of every rank (pidfd) and reads its exit code while the launcher has not yet collected it.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_LOOK_AGAIN_MS = 200
_EXIT_CODE_FIELD = 49  # of /proc/PID/stat, counted after the program's name (the 52nd of all)


@dataclass(frozen=True)
class Death:
    """A rank that ended otherwise than well: its code as :mod:`subprocess` has it, None where it was not seen."""

    rank: int
    code: int | None


class Witness:
    """Watches ranks from :meth:`watch` on until :meth:`close`; ``first`` is the first that died."""

    def __init__(self) -> None:
        self.first: Death | None = None
        self._files: dict[int, tuple[int, int]] = {}
        self._poll = select.poll()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def watching(self) -> bool:
        return self._thread is not None

    def watch(self, rank_of_pid: Mapping[int, int]) -> None:
        """Begin; ranks that have ended already are left out."""
        for pid, rank in rank_of_pid.items():
            with contextlib.suppress(OSError):
                file = os.pidfd_open(pid)
                self._files[file] = (pid, rank)
                self._poll.register(file, select.POLLIN)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        for file in self._files:
            os.close(file)

    def _run(self) -> None:
        left = len(self._files)
        while left and self.first is None and not self._closing.is_set():
            for file, _ in self._poll.poll(_LOOK_AGAIN_MS):
                self._poll.unregister(file)
                left -= 1
                pid, rank = self._files[file]
                code = exit_code(pid)
                if code != 0 and self.first is None:
                    self.first = Death(rank, code)


def exit_code(pid: int) -> int | None:
    """Return the exit code (negative: signal) of a process that has ended and was not collected, else None."""
    try:
        fields = (Path("/proc") / str(pid) / "stat").read_text("utf-8", "replace").rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    if fields[0] != "Z" or len(fields) <= _EXIT_CODE_FIELD:
        return None
    status = int(fields[_EXIT_CODE_FIELD])
    return os.waitstatus_to_exitcode(status)
