"""The running steps of the workflow from Snakemake's output: since when they run, and for how much longer.

In: Snakemake's lines, and the known measured runs. Out: a line at the start of each step, and text on the running steps
for progress lines.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from manynode.heartbeat import Span, running_words
from manynode.measured_runs import RULES, KnownRuns

_PLANNED = re.compile(r"^(\w+) +(\d+)$")
_RULE = re.compile(r"^(?:local)?(?:rule|checkpoint) (\w+):$")
_JOB = re.compile(r"^\s+jobid: (\d+)$")
_WILDCARDS = re.compile(r"^\s+wildcards: (.*)$")
_FINISHED = re.compile(r"^Finished jobid: (\d+)\b")
_ERROR = re.compile(r"^Error in (?:rule|checkpoint) \w+")
_WILDCARD = re.compile(r"(\w+)=(.*?)(?=, \w+=|$)")
_MOST = 4
_TARGET = "all"  # the rule that asks for the report, no step of its own


@dataclass
class _Step:
    rule: str
    wildcards: str = ""
    job: str = ""
    began: float = 0.0
    expected_s: Span | None = None

    @property
    def name(self) -> str:
        return f"{self.rule} ({self.wildcards})" if self.wildcards else self.rule


class RunningSteps:
    """Reads Snakemake's lines; a step starts when its description is complete."""

    def __init__(self, known: KnownRuns | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._known = known or KnownRuns()
        self._clock = clock
        self._described: _Step | None = None
        self._failing = False
        self._running: dict[str, _Step] = {}
        self._planned: set[str] = set()

    def read(self, line: str) -> str:
        """Read one line; return the line at the start of a step, or nothing.

        Before the first step, return a line if Snakemake plans more measured runs than were announced.
        """
        started = ""
        if (match := _PLANNED.match(line)) and match[1] in RULES and match[1] not in self._planned:
            self._planned.add(match[1])
            return self._unannounced(match[1], int(match[2]))
        if not line.startswith(" "):
            started = self.described()
            self._failing = _ERROR.match(line) is not None
        if match := _RULE.match(line):
            self._described = _Step(match[1])
        elif match := _JOB.match(line):
            if self._failing:
                self._running.pop(match[1], None)
            elif self._described is not None:
                self._described.job = match[1]
        elif (match := _WILDCARDS.match(line)) and self._described is not None:
            self._described.wildcards = match[1]
        elif match := _FINISHED.match(line):
            self._running.pop(match[1], None)
        return started

    def _unannounced(self, rule: str, planned: int) -> str:
        announced = self._known.announced
        more = 0 if announced is None else planned - announced.get(rule, 0)
        if more <= 0:
            return ""
        return (
            f"{planned} run{'' if planned == 1 else 's'} of {rule} to come, {more} more than announced: "
            "what was measured is older than its code or its inputs"
        )

    def described(self) -> str:
        """Return the line at the start of the last described step, whose description is complete."""
        step, self._described = self._described, None
        if step is None or step.rule == _TARGET:
            return ""
        step.began = self._clock()
        self._running[step.job] = step
        run = self._known.of(step.rule, dict(_WILDCARD.findall(step.wildcards)))
        if run is None:
            return step.name
        trial = self._known.trial
        step.expected_s = run.time_s(trial) if trial is None or trial.ended else None
        return f"{step.name}: {run.words(trial)}"

    @property
    def running(self) -> int:
        """The number of running steps."""
        return len(self._running)

    def words(self) -> list[str]:
        """Return a line for each running step, the longest first."""
        steps = sorted(self._running.values(), key=lambda step: step.began)
        now = self._clock()
        found = [f"{step.name}: {running_words(now - step.began, step.expected_s)}" for step in steps[:_MOST]]
        return [*found, f"and {len(steps) - _MOST} more"] if len(steps) > _MOST else found

    def longest(self) -> str:
        """Return how long the oldest step has run, for a self-updating line; nothing while none runs."""
        if not self._running:
            return ""
        step = min(self._running.values(), key=lambda step: step.began)
        return running_words(self._clock() - step.began, step.expected_s)
