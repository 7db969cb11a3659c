"""Counts finished points from their folders and estimates the time left.

A point with a result or a failure is finished, wherever it was simulated: steps on other machines write into the same
folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from phase3_sst.analysis.estimates.estimate_sentences import duration
from phase3_sst.campaign.planned_point import finished

# Limits the load on a shared file system.
_EVERY_S = 2.0


class CampaignProgress:
    """Counts finished folders; ``expected_s`` is folder -> processor time [s], None if unknown."""

    def __init__(
        self, expected_s: Mapping[Path, float | None], noun: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        known = [value for value in expected_s.values() if value is not None]
        self._noun = noun
        # A point without an estimate counts like the others.
        typical = sum(known) / len(known) if known else 1.0
        self._left = {folder: typical if value is None else value for folder, value in expected_s.items()}
        self._count = len(expected_s)
        self._whole_s = sum(self._left.values())
        self._clock = clock
        self._began = clock()
        self._asked: float | None = None
        self._words = ""

    def read(self, line: str) -> None:
        """Ignore a line of Snakemake's output: the folders already tell everything."""

    def words(self) -> str:
        """Return the number of finished points and the time left, as text."""
        now = self._clock()
        if self._asked is None or now - self._asked >= _EVERY_S:
            self._asked = now
            self._words = self._look(now)
        return self._words

    def _look(self, now: float) -> str:
        for folder in [folder for folder in self._left if finished(folder)]:
            del self._left[folder]
        done = self._count - len(self._left)
        text = f"{done} of {self._count} {self._noun}"
        spent = self._whole_s - sum(self._left.values())
        if not self._left or spent <= 0:
            return text
        left = sum(self._left.values()) * (now - self._began) / spent
        return f"{text}, about {duration(max(1.0, left))} left"
