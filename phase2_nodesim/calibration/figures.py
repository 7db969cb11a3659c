"""A figure of a machine file: its value, where it is from, and how sure it is."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from phase2_nodesim.calibration.measurements import Measurements, Series
from phase2_nodesim.calibration.plan import CLOCK, KIB, MIB, Task

Value = int | float | str


@dataclass(frozen=True)
class Figure:
    """The value of a key as the file has it; ``source`` is the comment on its line."""

    value: Value
    source: str
    spread: float | None = None
    """Noise of the measurement: the median round over the fastest one, less 1. None: not measured."""


@dataclass(frozen=True)
class Cycles:
    """Measurements in cycles of the core, by the time of an addition."""

    measurements: Measurements

    @property
    def clock(self) -> Series:
        """The chain of additions of one core."""
        return self.measurements[CLOCK.label()]

    def of(self, task: Task | str) -> float:
        """Return the cycles per operation of a task or of a label."""
        series = self.series(task)
        return series.best / series.clock_s

    def rate(self, task: Task | str) -> float:
        """Return the operations per cycle of a task."""
        return 1 / self.of(task)

    def series(self, task: Task | str) -> Series:
        """Return the rounds of a task."""
        return self.measurements[task if isinstance(task, str) else task.label()]

    def spread(self, *tasks: Task | str) -> float:
        """Return the median noise of some tasks."""
        return statistics.median(self.series(task).spread for task in tasks)


def measured(value: Value, spread: float, words: str = "") -> Figure:
    """Return a measured figure; ``words`` say more than the noise."""
    return Figure(value, f"measured{', ' + words if words else ''}; rounds {percent(spread)} apart", spread)


def percent(share: float) -> str:
    """Return a share as text, such as ``0.4 %``."""
    return f"{100 * share:.2g} %" if abs(share) < 0.1 else f"{100 * share:.0f} %"


def plural(cores: int) -> str:
    """Return a number of cores as text."""
    return f"{cores} core{'' if cores == 1 else 's'}"


def size_words(bytes_: float) -> str:
    """Return a size for people, with the largest unit that keeps it a short number."""
    if bytes_ >= MIB:
        return f"{bytes_ / MIB:.4g} MiB"
    return f"{bytes_ / KIB:.4g} KiB" if bytes_ >= KIB else f"{bytes_:.0f} B"
