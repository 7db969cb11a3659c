"""Watches a running simulation: its simulated time must advance, and its memory must stay within its limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from manynode import process_tree, units
from manynode.errors import EngineFailedError

# Reading /proc costs a few milliseconds; SST grows by some 100 MB per second while it builds its machine.
_LOOK_OFTEN_S, _LOOK_EVERY_S, _OFTEN_UNTIL_S = 0.05, 0.5, 1.0
"""Looks in the first second are frequent, to enforce the memory limit on short simulations too."""


class Watch:
    """Watches one simulation; :meth:`look` raises an error when it must be stopped."""

    def __init__(
        self,
        what: str,
        *,
        hang_limit_s: float,
        memory_bytes: float,
        log: Path,
        clock: Callable[[], float] = time.monotonic,
        memory_of: Callable[[int], int] = process_tree.memory_bytes,
    ) -> None:
        self._what = what
        self._hang_limit_s = hang_limit_s
        self._memory_bytes = memory_bytes
        self._log = log
        self._clock = clock
        self._memory_of = memory_of
        self._simulated_s = 0.0
        self._began = self._advanced = self._looked = clock()
        self.peak_bytes = 0

    def advance(self, simulated_s: float) -> None:
        """Note a simulated time."""
        if simulated_s > self._simulated_s:
            self._simulated_s, self._advanced = simulated_s, self._clock()

    def look(self, pid: int) -> None:
        """Check the simulation of process ``pid``."""
        now = self._clock()
        if now - self._looked < (_LOOK_OFTEN_S if now - self._began < _OFTEN_UNTIL_S else _LOOK_EVERY_S):
            return
        self._looked = now
        used = self._memory_of(pid)
        self.peak_bytes = max(self.peak_bytes, used)
        if used > self._memory_bytes:
            raise EngineFailedError(
                f"{self._what}: SST takes more memory than allowed",
                where=str(self._log),
                found=f"{units.render(used, 'size')}, growing",
                allowed=f"{units.render(self._memory_bytes, 'size')} ('simulate: sst: memory', or the host's memory)",
                remedy="simulate fewer nodes or ranks, or share the machine among hosts ('simulate: sst: processes')",
            )
        still_s = now - self._advanced
        if still_s > self._hang_limit_s:
            raise EngineFailedError(
                f"{self._what}: the simulated time stands still",
                where=str(self._log),
                found=f"at {units.render(self._simulated_s, 'time')} of simulated time for {still_s:.0f} s",
                allowed=f"{self._hang_limit_s:g} s ('simulate: sst: hang_limit')",
                remedy="raise the limit if the machine takes long to build; otherwise see the end of the log",
            )
