"""Number of finished points of a run and time for the others, from Snakemake's output and an estimate.

In: Snakemake's lines, and the file ``cost-estimate/1`` that phase 3 wrote before the run (without it, all points count
the same). Out: text. The time left is the estimate, corrected by the speed of the finished points; it is omitted until
a point has ended.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from manynode.errors import ManynodeError
from manynode.tables import read_json

SCHEMA = "cost-estimate/1"
# The rules whose jobs are points.
RULES = ("phase3_simulate_point", "phase3_simulate_variant")

_PLANNED = re.compile(r"^(\w+) +(\d+)$")
_RULE = re.compile(r"^(?:local)?rule (\w+):$")
_JOB = re.compile(r"^\s+jobid: (\d+)$")
_WILDCARDS = re.compile(r"^\s+wildcards: (.*)$")
_FINISHED = re.compile(r"^Finished jobid: (\d+)\b")

Key = tuple[str, str, int]
"""Variant (empty for the experiment's own points), technique, nodes."""


class StudyProgress:
    """Reads Snakemake's lines; :meth:`words` returns the progress of the points."""

    def __init__(self, expected_s: Mapping[Key, float], clock: Callable[[], float] = time.monotonic) -> None:
        self._expected_s = expected_s
        # A point that the estimate does not know is like the others.
        self._typical_s = sum(expected_s.values()) / len(expected_s) if expected_s else 1.0
        self._clock = clock
        self._began: float | None = None
        self._planned: dict[str, int] = {}
        self._rule, self._job = "", ""
        self._jobs: dict[str, float] = {}
        self._finished_s: list[float] = []

    @property
    def planned(self) -> int:
        """The number of points that this run simulates."""
        return sum(self._planned.values())

    def read(self, line: str) -> None:
        """Take in one line."""
        if (match := _PLANNED.match(line)) and match[1] in RULES:
            self._planned.setdefault(match[1], int(match[2]))
        elif match := _RULE.match(line):
            self._rule, self._job = match[1], ""
        elif self._rule in RULES and (match := _JOB.match(line)):
            self._job = match[1]
            if self._began is None:
                self._began = self._clock()
        elif self._job and self._rule in RULES and (match := _WILDCARDS.match(line)):
            self._jobs[self._job] = self._expected_s.get(_key(match[1]), self._typical_s)
        elif (match := _FINISHED.match(line)) and match[1] in self._jobs:
            self._finished_s.append(self._jobs.pop(match[1]))

    def words(self) -> str:
        """Return the number of finished points and the time for the others; nothing without points."""
        if not self.planned or self._began is None:
            return ""
        done = len(self._finished_s)
        text = f"{done} of {self.planned} points"
        left = self.left_s()
        return text if left is None or done == self.planned else f"{text}, {_rounded(left)} left"

    def left_s(self) -> float | None:
        """Return the time for the other points [s], or None before a point has ended."""
        spent, done = sum(self._finished_s), len(self._finished_s)
        if self._began is None or spent <= 0:
            return None
        running = sum(self._jobs.values())
        waiting = (self.planned - done - len(self._jobs)) * self._waiting_s()
        return (running + max(0.0, waiting)) * (self._clock() - self._began) / spent

    def _waiting_s(self) -> float:
        """Return the expected time of a waiting point: the mean over the points that are not known to have begun."""
        begun = len(self._finished_s) + len(self._jobs)
        others = len(self._expected_s) - begun
        if len(self._expected_s) < self.planned or others <= 0:
            return self._typical_s
        return (sum(self._expected_s.values()) - sum(self._finished_s) - sum(self._jobs.values())) / others


def read_estimate(path: Path, digest: str) -> dict[Key, float]:
    """Return the expected processor time [s] of every point; empty without a valid file of this experiment."""
    try:
        content = read_json(path, SCHEMA)
    except ManynodeError:
        return {}
    if content.get("digest") != digest:
        return {}
    return {
        (str(point["variant"]), str(point["technique"]), int(point["nodes"])): float(point["processor_s"])
        for point in content["points"]
        if point["processor_s"] is not None
    }


def _key(wildcards: str) -> Key:
    """Return the point of Snakemake's "study=sensitivity, variant=a=1,b=2, technique=ext-var, nodes=4"."""
    match = re.match(r"^(?:study=\w+, variant=(.*), )?technique=([^,]+), nodes=(\d+)$", wildcards)
    return (match[1] or "", match[2], int(match[3])) if match else ("", "", 0)


def _rounded(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 90 * 60 else f"about {seconds / 3600:.1f} h"
