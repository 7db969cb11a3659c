"""What the searches need of an explorer: it checks, knows and answers questions."""

from __future__ import annotations

from typing import Any, Protocol

from phase3_sst.explore.answer import Answer
from phase3_sst.explore.axis import Axis, Written
from phase3_sst.explore.question import Question


class Asker(Protocol):
    """Answers questions; :class:`phase3_sst.explore.explorer.Explorer` is one."""

    def checked(self, question: Question) -> Any:
        """Return the question's experiment; one that cannot be simulated is a ManynodeError."""

    def known(self, question: Question) -> Answer | None:
        """Return the answer if it is there; simulates nothing."""

    async def answer(self, question: Question, *, urgent: bool = True) -> Answer:
        """Return the answer, simulated if need be."""


def with_value(question: Question, axis: Axis, value: Written) -> Question:
    """Return the question with a value of an axis, in all its keys."""
    for key in axis.keys:
        question = question.with_change(key, value)
    return question
