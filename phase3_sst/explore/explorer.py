"""The explorer: the one object that the server and the searches use.

It answers questions about one base experiment. Points are shared: two askers of one question wait for one simulation,
and what is finished is never simulated again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.config.resolved import Resolved
from phase3_sst.explore.answer import Answer
from phase3_sst.explore.controls import Control
from phase3_sst.explore.question import Question


@dataclass(frozen=True)
class Progress:
    """How far a question is. ``state``: waiting, running, finished, failed or cancelled; ``share`` is 0 to 1."""

    digest: str
    question: Question
    state: str
    step: str = ""
    share: float | None = None
    seconds: float = 0.0
    words: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        members = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**members, "question": self.question.as_json()}


Follow = Callable[[Progress], None]


class Explorer:
    """Questions and answers about the experiment in a results folder. Methods run in one asyncio loop."""

    def __init__(self, results: Path, *, cores: int, limits: Any = None) -> None:
        """Open the base in ``results``; an unfinished or damaged one is an error in words."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Return the name of the base experiment."""
        raise NotImplementedError

    @property
    def resolved(self) -> Resolved:
        """Return the base experiment."""
        raise NotImplementedError

    @property
    def results(self) -> Path:
        """Return the results folder of the base."""
        raise NotImplementedError

    def baseline(self) -> Question:
        """Return the base's own question: no changes, its largest node count, its most complete technique."""
        raise NotImplementedError

    def controls(self) -> list[Control]:
        """Return what a question can change."""
        raise NotImplementedError

    def catalogue(self) -> dict[str, list[dict[str, str]]]:
        """Return the networks, the machines measured beside the base and the price files: name and description."""
        raise NotImplementedError

    def checked(self, question: Question) -> Resolved:
        """Return the experiment of a question; a wrong one is a :class:`UsageError` with the key and the remedy."""
        raise NotImplementedError

    def digest(self, question: Question) -> str:
        """Return the digest of a question: equal for questions that ask the same in other words."""
        raise NotImplementedError

    def known(self, question: Question) -> Answer | None:
        """Return the answer if it is finished; never simulates."""
        raise NotImplementedError

    def known_by(self, digest: str) -> Answer | None:
        """Return the finished answer with this digest."""
        raise NotImplementedError

    async def answer(self, question: Question, *, urgent: bool = True, progress: Follow | None = None) -> Answer:
        """Return the answer, simulating it if needed.

        Urgent questions (a person waits) go before those of searches. When the last asker of a question is cancelled,
        its simulation is ended.
        """
        raise NotImplementedError

    def cancel(self, digest: str) -> None:
        """End the simulation of a question for all of its askers."""
        raise NotImplementedError

    def running(self) -> list[Progress]:
        """Return the progress of all questions that wait or run."""
        raise NotImplementedError

    def finished(self) -> Iterator[tuple[Question, Answer]]:
        """Yield every question in the store with its answer, in the order in which they were first asked."""
        raise NotImplementedError

    def log(self) -> list[dict[str, Any]]:
        """Return the log of questions: digest, question, time, note, pinned."""
        raise NotImplementedError

    def note(self, digest: str, text: str) -> None:
        """Put a note at a question of the log."""
        raise NotImplementedError

    def pin(self, digest: str | None) -> None:
        """Make a finished question the baseline of comparisons; None: the base's own."""
        raise NotImplementedError

    def pinned(self) -> str | None:
        """Return the digest of the pinned question; None: the base's own."""
        raise NotImplementedError

    def exported(self, question: Question) -> str:
        """Return the experiment of a question as YAML, as ``manynode run`` reads it."""
        raise NotImplementedError

    def exported_page(self, question: Question, against: Question | None = None) -> str:
        """Return a finished answer as one offline HTML page, beside another one."""
        raise NotImplementedError

    def exported_study(self, question: Question, axes: list[tuple[str, list[Any]]]) -> str:
        """Return a map as a sensitivity study (YAML): each axis is a key with its values as written."""
        raise NotImplementedError

    async def close(self) -> None:
        """End all simulations and wait until no child is left."""
        raise NotImplementedError
