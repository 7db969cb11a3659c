"""Runs ``manynode-microbenchmarks`` and reads its lines: seconds per operation of each task, by round.

The host may do other work. A measurement is therefore the fastest round; the distance of the median round is the noise
that is reported with it.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from manynode import process
from manynode.errors import EngineFailedError
from manynode.native_errors import reported_error
from manynode.paths import native_program
from phase2_nodesim.calibration.plan import CLOCK, Task

PROGRAM = "manynode-microbenchmarks"
_LIMIT_S = 3600.0


@dataclass
class Series:
    """The rounds of one task: seconds per operation of one worker."""

    workers: int
    seconds: list[float] = field(default_factory=list)
    large_page_bytes: int = 0
    clock_s: float = 0.0
    """One cycle of the core: the fastest addition of the process that ran the task. Each process has as many rounds of
    the clock as of a task, so that both are as likely to meet a moment of a higher frequency."""
    operations: int = 0
    """Operations of one worker in a timed region."""

    @property
    def best(self) -> float:
        """The fastest round [s]."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The median round [s]."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """How much longer the median round took than the fastest one."""
        return self.median / self.best - 1


Measurements = Mapping[str, Series]


def read_lines(output: str) -> dict[str, Series]:
    """Return the series of an output by label."""
    found: dict[str, Series] = {}
    for line in output.splitlines():
        if not line.startswith('{"round"'):
            continue
        row = json.loads(line)
        series = found.setdefault(row["label"], Series(row["workers"], operations=row["operations"]))
        series.seconds.append(row["seconds"] / row["operations"])
        series.large_page_bytes = max(series.large_page_bytes, row["large_page_bytes"])
    return clocked(found)


def clocked(found: dict[str, Series]) -> dict[str, Series]:
    """Return the series of one process, each with the clock among them."""
    if CLOCK.label() in found:
        for series in found.values():
            series.clock_s = found[CLOCK.label()].best
    return found


def measure(tasks: Sequence[Task], rounds: int) -> dict[str, Series]:
    """Run ``tasks`` after the clock, ``rounds`` times each, and return their series by label."""
    asked = [CLOCK, *tasks]
    words = [word for one in asked for word in one.words()]
    command = [str(native_program(PROGRAM)), "--rounds", str(rounds), *words]
    completed = process.run(command, what="the microbenchmarks", timeout_s=_LIMIT_S, check=False)
    if completed.returncode != 0:
        raise reported_error(completed, "the microbenchmarks") or EngineFailedError(
            "the microbenchmarks failed",
            where=command[0],
            found=f"exit code {completed.returncode}",
            details=completed.output[-2000:],
            remedy="run 'manynode-microbenchmarks --list' from the build's folder bin to see whether they run at all",
        )
    found = read_lines(completed.output)
    missing = [one.label() for one in asked if one.label() not in found]
    if missing:
        raise EngineFailedError(
            "the microbenchmarks gave no result",
            where=command[0],
            found=f"no line for {', '.join(missing[:3])}",
            allowed="one line of JSON per task and round",
            remedy="build them again ('make build')",
        )
    return found


def last_level_inclusive() -> bool | None:
    """Return whether the last-level cache has all lines of the caches above, as the processor says; None: it does not.

    Hypervisors pass this on with the rest of the description, or leave out the whole.
    """
    command = [str(native_program(PROGRAM)), "--processor"]
    printed = process.run(command, what="the microbenchmarks", timeout_s=_LIMIT_S)
    said: bool | None = json.loads(printed.output)["last_level_inclusive"]
    return said


def measure_groups(groups: Iterable[tuple[str, Sequence[Task], int]], tell: Callable[[str], None]) -> dict[str, Series]:
    """Measure groups (name, tasks, rounds) one after the other and join them; the clock has all their rounds."""
    joined: dict[str, Series] = {}
    for name, tasks, rounds in groups:
        tell(f"{name}: {len(tasks)} measurements, {rounds} rounds")
        join(joined, measure(tasks, rounds))
    return joined


def join(known: dict[str, Series], more: Measurements) -> None:
    """Add the rounds of ``more`` to ``known``."""
    for label, series in more.items():
        place = known.setdefault(label, Series(series.workers, operations=series.operations))
        place.seconds.extend(series.seconds)
        place.large_page_bytes = max(place.large_page_bytes, series.large_page_bytes)
        place.clock_s = min(place.clock_s or series.clock_s, series.clock_s)
