"""What an inverse question wants kept: a time, or a loss against a baseline; and whether an answer keeps it.

In: an answer's seconds by replica. Out: a :class:`Verdict`. A loss is decided by pairs of replicas: both draw the same
numbers, and what chance adds to both cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manynode import seeds
from manynode.errors import UsageError
from phase3_sst.analysis.paired_difference import probability
from phase3_sst.analysis.projection_tables import bootstrap_interval
from phase3_sst.explore.answer import Answer


@dataclass(frozen=True)
class Verdict:
    """Whether an answer keeps the goal.

    ``over_s`` is its time less the allowed one, with the interval [``low_s``, ``high_s``]; below zero the goal is kept.
    ``settled``: the interval excludes zero. ``probability`` that another run keeps it.
    """

    holds: bool
    settled: bool
    over_s: float
    low_s: float
    high_s: float
    probability: float
    replicas: int

    @property
    def level(self) -> int:
        """Return 0 for surely not, 1 for rather not, 2 for rather, 3 for surely."""
        return (3 if self.settled else 2) if self.holds else (0 if self.settled else 1)


@dataclass(frozen=True)
class Goal:
    """A time [s] that is kept, or a loss: the share by which the time may exceed the baseline's."""

    time_s: float | None = None
    loss: float | None = None
    baseline: Answer | None = None

    def __post_init__(self) -> None:
        if (self.time_s is None) == (self.loss is None):
            raise UsageError(
                "an inverse question keeps either a time or a loss",
                where="goal",
                found="neither" if self.time_s is None else "both",
            )
        if self.time_s is not None and not 0 < self.time_s < 1e12:
            raise UsageError("a time to keep is above zero", where="goal: time", found=self.time_s)
        if self.loss is not None and not -1 < self.loss < 1e6:
            raise UsageError(
                "a loss is a share of the baseline's time",
                where="goal: loss",
                found=self.loss,
                allowed="0.05 for 5 %; below zero for a gain, but above -1",
            )
        if self.loss is not None and self.baseline is None:
            raise UsageError("a loss needs a baseline", where="goal: loss", remedy="pin an answer as the baseline")

    @property
    def allowed_s(self) -> float:
        """Return the longest mean time that keeps the goal."""
        if self.time_s is not None:
            return self.time_s
        assert self.baseline is not None and self.loss is not None
        return self.baseline.time_s * (1 + self.loss)

    def words(self) -> str:
        """Return the goal as part of a sentence."""
        if self.time_s is not None:
            return f"a time of {self.time_s:.4g} s"
        assert self.loss is not None
        kind = f"a loss of {100 * self.loss:.3g} %" if self.loss >= 0 else f"a gain of {-100 * self.loss:.3g} %"
        return f"{kind} against the baseline ({self.allowed_s:.4g} s)"

    def verdict(self, answer: Answer) -> Verdict:
        """Return whether ``answer`` keeps the goal."""
        if self.time_s is not None:
            gaps = np.array(list(answer.makespans.values())) - self.time_s
            low, high = answer.low_s - self.time_s, answer.high_s - self.time_s
        else:
            assert self.baseline is not None and self.loss is not None
            gaps = paired(answer, self.baseline, 1 + self.loss)
            low, high = interval(gaps, answer)
        over = float(gaps.mean())
        # A single replica has an interval without width, which says nothing of chance.
        certain = len(gaps) > 1 or not drawn(answer)
        return Verdict(
            holds=over <= 0,
            settled=certain and (high <= 0 if over <= 0 else low > 0),
            over_s=over,
            low_s=low,
            high_s=high,
            probability=probability(-gaps),
            replicas=len(gaps),
        )


def drawn(answer: Answer) -> bool:
    """Say whether chance is in an answer: a technique with constant times has none."""
    return not answer.technique.endswith("-const")


def paired(one: Answer, other: Answer, factor: float = 1.0) -> np.ndarray:
    """Return ``one`` less ``factor`` times ``other`` [s], over the replicas that both have."""
    shared = sorted(one.makespans.keys() & other.makespans.keys())
    if one.seed != other.seed or not shared:
        raise UsageError(
            "two answers have no draws in common and cannot be paired",
            where="baseline",
            found=f"seeds {one.seed} and {other.seed}, {len(shared)} common replicas",
            remedy="pin an answer with the same seed and with replicas",
        )
    return np.array([one.makespans[replica] - factor * other.makespans[replica] for replica in shared])


def interval(gaps: np.ndarray, answer: Answer) -> tuple[float, float]:
    """Return the interval of the mean gap at the answer's confidence."""
    return bootstrap_interval(list(gaps), answer.confidence, seeds.generator(answer.seed, "bootstrap", "inverse"))


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict for the page."""
    return dict(vars(verdict))
