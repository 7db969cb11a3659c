"""An answer: what the result files of one question say, unrounded, and its paired comparison with another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from phase3_sst.explore.question import Question


@dataclass(frozen=True)
class BandOfAnswer:
    """The band of known errors around the time; no limits where a part is not known."""

    low_s: float | None
    high_s: float | None
    words: str
    parts: list[dict[str, Any]]


@dataclass(frozen=True)
class Paired:
    """One answer against another, over the replicas that both have: the first less the second.

    ``probability`` is that of the first being faster in another pair of runs; ``settled`` says whether the interval of
    the difference excludes zero; ``more`` is how many further replicas would probably settle it, None if unknown.
    """

    difference_s: float
    low_s: float
    high_s: float
    ratio: float
    probability: float
    settled: bool
    replicas: int
    more: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Answer:
    """The answer to ``question``: the rows of its result tables. ``makespans`` are seconds by replica."""

    digest: str
    question: Question
    experiment: str
    results: str
    nodes: int
    ranks: int
    technique: str
    seed: int
    confidence: float
    replicas: int
    time_s: float
    low_s: float
    high_s: float
    iteration_s: float
    efficiency: float
    smallest: int
    makespans: Mapping[int, float]
    band: BandOfAnswer | None
    breakdown: list[dict[str, Any]]
    links: list[dict[str, Any]]
    losses: list[dict[str, Any]] | None
    flow_control: dict[str, Any] | None
    warnings: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    tables: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the answer as JSON: numbers as the tables have them."""
        members = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            **members,
            "question": self.question.as_json(),
            "makespans": {str(replica): time for replica, time in self.makespans.items()},
            "band": None if self.band is None else asdict(self.band),
            "tables": dict(self.tables),
        }

    def paired(self, other: Answer) -> Paired:
        """Return this answer less ``other``; answers with other draws are a :class:`ValueError`."""
        from manynode import seeds
        from phase3_sst.analysis.projection_tables import bootstrap_interval
        from phase3_sst.studies.what_if.decide import further_replicas, probability

        shared = sorted(self.makespans.keys() & other.makespans.keys())
        if self.seed != other.seed or not shared:
            raise ValueError("the answers have no draws in common: other seeds, or no common replica")
        own = np.array([self.makespans[replica] for replica in shared])
        others = np.array([other.makespans[replica] for replica in shared])
        gaps = own - others
        rng = seeds.generator(self.seed, "bootstrap", "explore", self.digest, other.digest)
        low, high = bootstrap_interval(list(gaps), self.confidence, rng)
        settled = len(gaps) > 1 and (low > 0 or high < 0)
        more = 0.0 if settled else further_replicas(gaps, self.confidence)
        return Paired(
            float(gaps.mean()),
            low,
            high,
            float(own.mean() / others.mean()) if others.mean() > 0 else float("nan"),
            probability(-gaps),
            settled,
            len(gaps),
            None if np.isnan(more) else more,
        )
