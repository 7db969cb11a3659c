"""Progress lines of a step in its own log: one at its start, then one at intervals with the elapsed time.

``manynode run`` gives each step a file for its error (:mod:`manynode.snakemake_run`); a command with such a file is a
step and writes these lines. They go to stderr, which is the step's log.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from manynode.errors import UsageError
from manynode.measured_runs import MeasuredRun, duration, span_words
from manynode.native_trial import read_trial

INTERVAL = "MANYNODE_HEARTBEAT"
DEFAULT_S = 30.0

Span = tuple[float, float]


def interval_s() -> float:
    """Return the time between two progress lines [s], from ``MANYNODE_HEARTBEAT``."""
    text = os.environ.get(INTERVAL, "")
    try:
        value = float(text) if text else DEFAULT_S
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UsageError(
            "the time between progress lines is wrong",
            where=f"environment variable {INTERVAL}",
            found=text,
            allowed="seconds, more than 0",
            remedy=f"correct it, or leave it out: {DEFAULT_S:g} s",
        )
    return value


def running_words(elapsed_s: float, expected_s: Span | None) -> str:
    """Return ``running for 90 s, 30 s to 2 min left``; without the time left if it is not known."""
    text = f"running for {duration(elapsed_s)}"
    if expected_s is None:
        return text
    low, high = (value - elapsed_s for value in expected_s)
    if high <= 0:
        return f"{text}, longer than the estimate ({duration(expected_s[1])})"
    if low <= 0:
        return f"{text}, at most about {duration(high)} left"
    return f"{text}, about {span_words(low, high) if high > 1.2 * low else duration(low)} left"


class Heartbeat:
    """Prints that ``what`` runs, and for how long; a step with a better estimate sets ``expected_s``."""

    def __init__(self, what: str, say: Callable[[str], None], interval: float) -> None:
        self.expected_s: Span | None = None
        self._what, self._say, self._interval = what, say, interval
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Say that it starts, and go on saying that it runs."""
        self._say(f"{self._what}: started")
        self._thread.start()

    def stop(self) -> None:
        """Be silent."""
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(self._interval):
            self._say(f"{self._what}: {running_words(time.monotonic() - self._began, self.expected_s)}")


_current: list[Heartbeat] = []


@contextlib.contextmanager
def beating(what: str, wanted: bool) -> Iterator[None]:
    """Print progress lines of ``what`` on stderr while the block runs, if wanted."""
    if not wanted:
        yield
        return
    # The file descriptor: no lock of Python's streams is held while a child is started.
    heart = Heartbeat(what, _to_log, interval_s())
    _current.append(heart)
    heart.start()
    try:
        yield
    finally:
        heart.stop()
        _current.remove(heart)


def announce(run: MeasuredRun, results: Path) -> None:
    """Print what a measured run is and how long it will take; this command's progress lines count down from that."""
    trial = read_trial(results)
    print(run.words(trial), flush=True)
    for heart in _current:
        heart.expected_s = run.time_s(trial) if trial is None or trial.ended else None


def _to_log(line: str) -> None:
    with contextlib.suppress(OSError):  # a full disk is the step's own failure
        os.write(2, f"{line}\n".encode())
