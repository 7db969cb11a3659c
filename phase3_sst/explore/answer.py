"""An answer: what the result files of one question say, unrounded, and its paired comparison with another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manynode.report.band import Part, paired_error
from phase3_sst.analysis.paired_difference import PairedDifference, paired_difference
from phase3_sst.explore.question import Question

_ENGINE = "simulate.engine"


@dataclass(frozen=True)
class BandOfAnswer:
    """The band of known errors around the time; no limits where a part is not known."""

    low_s: float | None
    high_s: float | None
    words: str
    parts: list[dict[str, Any]]
    models: list[Part]

    def as_json(self) -> dict[str, Any]:
        """Return the band as JSON; its models are among the parts."""
        return {name: getattr(self, name) for name in ("low_s", "high_s", "words", "parts")}


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
    relevant: float
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
            "band": None if self.band is None else self.band.as_json(),
            "tables": dict(self.tables),
        }

    def paired(self, other: Answer) -> PairedDifference:
        """Return this answer less ``other``; answers with other draws are a :class:`ValueError`."""
        from manynode import seeds

        if self.seed != other.seed:
            raise ValueError("the answers have no draws in common: other seeds")
        rng = seeds.generator(self.seed, "bootstrap", "explore", self.digest, other.digest)
        return paired_difference(
            self.makespans,
            other.makespans,
            relevant=self.relevant,
            confidence=self.confidence,
            rng=rng,
            drawn=not self.technique.endswith("-const"),
        )

    def models_error(self, other: Answer) -> float | None:
        """Return the models' paired error of both times, a share; None if it is not known.

        The node is the same unless the machine differs, and the network unless one of its keys or the engine does.
        """
        if self.band is None or other.band is None:
            return None
        shared = [self._changes(*keys) == other._changes(*keys) for keys in (("machine",), ("network", _ENGINE))]
        return paired_error(self.band.models, other.band.models, shared)

    def _changes(self, *keys: str) -> dict[str, Any]:
        """Return the question's changes at ``keys`` and below them."""
        changes = self.question.changes.items()
        return {key: value for key, value in changes if any(f"{key}.".startswith(f"{of}.") for of in keys)}
