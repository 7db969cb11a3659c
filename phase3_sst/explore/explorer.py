"""The explorer: the one object that the server and the searches use.

It answers questions about one base experiment. Points are shared: two askers of one question wait for one simulation,
and what is finished is never simulated again.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manynode.config.resolved import Resolved
from manynode.errors import InputError, ManynodeError, UsageError
from phase3_sst.explore import controls, export
from phase3_sst.explore.answer import Answer
from phase3_sst.explore.answer_files import read_answer
from phase3_sst.explore.base import Asked, Base
from phase3_sst.explore.controls import Control
from phase3_sst.explore.limits import Limits
from phase3_sst.explore.question import Question
from phase3_sst.explore.question_log import QuestionLog
from phase3_sst.explore.rehearsal import rehearse
from phase3_sst.explore.store import Store
from phase3_sst.explore.works import Follow, Progress, QuestionCancelledError, Works

__all__ = ["Explorer", "Follow", "Progress", "QuestionCancelledError"]

# Whoever starts a server waits for its link at most this much longer.
_MOST_REHEARSAL_S = 15.0


class Explorer:
    """Questions and answers about the experiment in a results folder. Methods run in one asyncio loop."""

    def __init__(self, results: Path, *, cores: int, limits: Limits | None = None) -> None:
        """Open the base in ``results``; an unfinished or damaged one is an error in words."""
        self.base = Base(results)
        self.store = Store(self.base)
        self.cores = cores
        self.limits = limits or Limits()
        self._works = Works(self.store, cores, self.limits)
        self._log = QuestionLog(self.store.folder / "questions.jsonl")
        self._answers: dict[str, Answer] = {}
        self._rehearsal_over = threading.Event()

    @property
    def name(self) -> str:
        """Return the name of the base experiment."""
        return self.base.name

    @property
    def resolved(self) -> Resolved:
        """Return the base experiment."""
        return self.base.resolved

    @property
    def results(self) -> Path:
        """Return the results folder of the base."""
        return self.base.results

    def baseline(self) -> Question:
        """Return the base's own question: no changes, its largest node count, its most complete technique."""
        return self.base.baseline()

    def check_baseline(self) -> None:
        """Raise :class:`InputError` unless the base has an answer of its own."""
        if self.known(self.baseline()) is None:
            raise InputError(
                "the base experiment has not finished, or its tables were changed",
                where=str(self.results / "projection.parquet"),
                remedy="run it again: manynode run; finished steps are kept",
            )

    def start(self) -> Question:
        """Return the question that a page begins with: the baseline with fewer replicas, which are answered sooner."""
        return self.baseline().changed(changes=controls.starts(self.controls()))

    def controls(self, question: Question | None = None) -> list[Control]:
        """Return what a question can change, with the values of the base, or of a question with another network."""
        return controls.controls(self.base, self.base.asked(question or self.baseline()))

    def catalogue(self) -> dict[str, list[dict[str, str]]]:
        """Return networks, measured machines, price files and techniques: name and description."""
        return controls.catalogue(self.base)

    def checked(self, question: Question) -> Resolved:
        """Return the experiment of a question; a wrong one is a :class:`UsageError` with the key and the remedy."""
        return self.base.asked(question).resolved

    def check(self, question: Question) -> Resolved:
        """Return the experiment of a question within the limits, which its engine can simulate.

        It asks the engine's program, which takes a moment.
        """
        asked = self.base.asked(question)
        self.limits.check_point(asked.resolved, self.cores)
        self.base.check(asked)
        return asked.resolved

    def digest(self, question: Question) -> str:
        """Return the digest of a question: equal for questions that ask the same in other words."""
        return self.base.asked(question).digest

    def known(self, question: Question) -> Answer | None:
        """Return the answer if it is finished; never simulates."""
        asked = self.base.asked(question)
        if asked.digest not in self._answers:
            found = self.store.finished(asked)
            if found is None:
                return None
            self._answers[asked.digest] = read_answer(asked, found)
        return self._answers[asked.digest]

    def known_by(self, digest: str) -> Answer | None:
        """Return the finished answer with this digest."""
        if digest not in self._answers:
            for question in self._asked_before():
                if self.base.asked(question).digest == digest:
                    return self.known(question)
        return self._answers.get(digest)

    async def answer(self, question: Question, *, urgent: bool = True, progress: Follow | None = None) -> Answer:
        """Return the answer, simulating it if needed.

        Urgent questions (a person waits) go before those of searches. When the last asker of a question is cancelled,
        its simulation is ended. :meth:`cancel` ends it with :class:`QuestionCancelledError` for all of its askers.
        """
        asked: Asked = self.base.asked(question)
        if urgent:
            # The points of a search are in the store; the log has what people asked.
            self._log.asked(asked.digest, question)
        if asked.digest not in self._answers:
            self._answers[asked.digest] = await self._works.answer(asked, urgent=urgent, follow=progress)
        return self._answers[asked.digest]

    async def rehearse(self) -> None:
        """Start and import what answers need, by a small question whose answer is thrown away."""
        await self._works.apart(rehearse, self.base, self._rehearsal_over, _MOST_REHEARSAL_S)

    async def foresee(self) -> None:
        """Answer the first question of a page in the background."""
        with contextlib.suppress(ManynodeError):
            await self._works.answer(self.base.asked(self.start()), urgent=False, follow=None)

    def cancel(self, digest: str) -> None:
        """End the simulation of a question for all of its askers."""
        self._works.cancel(digest)

    def running(self) -> list[Progress]:
        """Return the progress of all questions that wait or run."""
        return [work.progress() for work in self._works.running()]

    def finished(self) -> Iterator[tuple[Question, Answer]]:
        """Yield every finished question with its answer: those of the log in its order, then those of searches."""
        seen: set[str] = set()
        for question in self._asked_before():
            digest = self.base.asked(question).digest
            if digest not in seen and (answer := self.known(question)) is not None:
                seen.add(digest)
                yield question, answer

    def log(self) -> list[dict[str, Any]]:
        """Return the log of questions: digest, question, first and last time asked, note, pinned."""
        return self._log.entries()

    def note(self, digest: str, text: str) -> None:
        """Put a note at a question of the log."""
        self._check_logged(digest)
        self._log.note(digest, text)

    def pin(self, digest: str | None) -> None:
        """Make a finished question the baseline of comparisons; None: the base's own."""
        if digest is not None:
            self._check_logged(digest)
        self._log.pin(digest)

    def pinned(self) -> str | None:
        """Return the digest of the pinned question; None: the base's own."""
        return self._log.pinned()

    def exported(self, question: Question) -> str:
        """Return the experiment of a question as YAML, as ``manynode run`` reads it."""
        return export.experiment(self.base.asked(question))

    def exported_study(self, question: Question, axes: export.Axes) -> str:
        """Return a map as an experiment with a sensitivity study (YAML)."""
        return export.study(self.base, question, axes, self._known_of(question, axes))

    def exported_page(self, question: Question, against: Question | None = None) -> str:
        """Return a finished answer as one offline HTML page, beside another one."""
        own = self.known(question)
        other = None if against is None else self.known(against)
        if own is None or (against is not None and other is None):
            raise UsageError("the question has no answer yet", where=question.canonical()[:300])
        return export.page(self.base, own, other)

    async def close(self) -> None:
        """End all simulations and wait until no child is left."""
        self._rehearsal_over.set()
        await self._works.close()

    def _known_of(self, question: Question, axes: export.Axes) -> list[Answer]:
        """Return the finished answers on the grid of a map."""
        found = []
        for values in itertools.product(*(values for _, values in axes)):
            point = question
            for (keys, _), value in zip(axes, values, strict=True):
                for key in keys:
                    point = point.with_change(key, value)
            if (answer := self.known(point)) is not None:
                found.append(answer)
        return found

    def _asked_before(self) -> Iterator[Question]:
        """Yield the questions of the log and of the store that can still be asked."""
        from phase3_sst.explore.question import question_of

        known = [question_of(entry["question"]) for entry in self._log.entries()]
        for question in [*known, *self.store.questions()]:
            try:
                self.base.asked(question)
            except UsageError:
                continue  # a machine that is no longer there, a key that no longer exists
            yield question

    def _check_logged(self, digest: str) -> None:
        if all(entry["digest"] != digest for entry in self._log.entries()):
            raise UsageError("no such question was asked", found=str(digest)[:40], allowed="a digest of the log")
