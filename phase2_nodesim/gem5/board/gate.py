"""Checks the ranks' states every microsecond of simulated time: sleeps while all wait, and reports progress."""

from __future__ import annotations

import json
import mmap
import time
from collections.abc import Callable
from typing import Any

import m5

_WAITING, _FINISHED = 3, 4  # bridge/wire.h, enum mb_state
_STEP_S = 1e-6
_NAP_S = 0.0005
_LONGEST_NAP_S = 0.25
"""Then one step is simulated, so that a guest sees the end of its FIFO when its proxy is gone."""


class Gate:
    """The states of the ranks, and an event that checks them; without a state file it never sleeps."""

    def __init__(self, path: str | None, ranks: int, progress_s: float, instructions: Callable[[], float]) -> None:
        self._states: mmap.mmap | bytes = b""
        if path is not None:
            with open(path, "rb") as file:
                self._states = mmap.mmap(file.fileno(), ranks, prot=mmap.PROT_READ)
        self._progress_s, self._instructions = progress_s, instructions
        self._slept_s = 0.0
        self._began = self._told = time.monotonic()
        self._step = m5.ticks.fromSeconds(_STEP_S)
        self._event: Any = m5.event.create(self._look)
        self._schedule()

    def tell(self) -> None:
        """Print a line of progress."""
        facts = {
            "host_s": round(time.monotonic() - self._began, 3),
            "slept_s": round(self._slept_s, 3),
            "processor_s": round(time.process_time(), 3),
            "simulated_s": m5.curTick() * 1e-12,
            "instructions": int(self._instructions()),
            "states": list(self._states[:]),
        }
        print("manynode progress: " + json.dumps(facts), flush=True)

    def _schedule(self) -> None:
        m5.event.mainq.schedule(self._event, m5.curTick() + self._step)

    def _closed(self) -> bool:
        """Return whether nobody needs a core. When all have finished, what they do after MPI_Finalize does."""
        states = self._states[:]
        return _WAITING in states and all(state in (_WAITING, _FINISHED) for state in states)

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._told >= self._progress_s:
            self._told = now
            self.tell()
        if self._closed():
            until = now + _LONGEST_NAP_S
            while self._closed() and time.monotonic() < until:
                time.sleep(_NAP_S)
            self._slept_s += time.monotonic() - now
        self._schedule()
