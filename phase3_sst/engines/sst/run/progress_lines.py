"""Converts the motif's progress lines to readable lines with the time left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

PREFIX = "manynode-progress "


@dataclass(frozen=True)
class Progress:
    """Progress of a simulation: simulated time [s], finished skeleton steps, and their total if known."""

    simulated_s: float
    steps: int
    of: int | None


def read_progress(line: str) -> Progress | None:
    """Return the progress in a line of SST's output; None for other lines."""
    if not line.startswith(PREFIX):
        return None
    try:
        content = json.loads(line[len(PREFIX) :])
        of = content["of"]
        return Progress(float(content["simulated_s"]), int(content["steps"]), None if of is None else int(of))
    except (ValueError, KeyError, TypeError):
        # Lines of several threads may be interleaved.
        return None


class Teller:
    """Reports the progress of a point's replicas and the time left."""

    def __init__(self, replicas: int, sink: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._replicas = replicas
        self._sink = sink
        self._clock = clock
        self._start = clock()

    def tell(self, replica: int, done: int, beside: int, progress: Progress) -> None:
        """Report a replica when ``beside`` replicas run in parallel and ``done`` have ended."""
        elapsed = self._clock() - self._start
        steps, left = f"step {progress.steps}", ""
        if progress.of:
            steps += f" of {progress.of}"
            share = (done + beside * min(1.0, progress.steps / progress.of)) / self._replicas
            if share > 0:
                left = f", about {elapsed * (1 - share) / share:.0f} s left"
        self._sink(f"replica {replica}: {progress.simulated_s:.6g} s simulated in {elapsed:.1f} s, {steps}{left}")
