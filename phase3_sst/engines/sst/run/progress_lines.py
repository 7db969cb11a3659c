"""The motif's lines about its progress -> the lines that people read, and the time left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

PREFIX = "manynode-progress "


@dataclass(frozen=True)
class Progress:
    """How far a simulation is: simulated time [s], steps of the skeletons done, and how many there are if known."""

    simulated_s: float
    steps: int
    of: int | None


def read_progress(line: str) -> Progress | None:
    """Return what a line of SST's output tells about the progress, None when it is another line."""
    if not line.startswith(PREFIX):
        return None
    try:
        content = json.loads(line[len(PREFIX) :])
        of = content["of"]
        return Progress(float(content["simulated_s"]), int(content["steps"]), None if of is None else int(of))
    except (ValueError, KeyError, TypeError):
        # Lines of several threads may run into each other.
        return None


class Teller:
    """Tells people how far the replicas of a point are, and how long they will take."""

    def __init__(self, replicas: int, sink: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._replicas = replicas
        self._sink = sink
        self._clock = clock
        self._start = clock()

    def tell(self, replica: int, done: int, beside: int, progress: Progress) -> None:
        """Tell of a replica that runs with ``beside`` at a time, after ``done`` have ended."""
        elapsed = self._clock() - self._start
        steps, left = f"step {progress.steps}", ""
        if progress.of:
            steps += f" of {progress.of}"
            share = (done + beside * min(1.0, progress.steps / progress.of)) / self._replicas
            if share > 0:
                left = f", about {elapsed * (1 - share) / share:.0f} s left"
        self._sink(f"replica {replica}: {progress.simulated_s:.6g} s simulated in {elapsed:.1f} s, {steps}{left}")
