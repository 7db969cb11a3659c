"""What the searches need of an explorer: it checks, knows and answers questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from phase3_sst.explore.axis import Axis, Written


class Asked(Protocol):
    """A question: changes of the experiment by key, and the nodes."""

    @property
    def changes(self) -> Mapping[str, Any]: ...
    @property
    def nodes(self) -> int: ...


class Answered(Protocol):
    """An answer: seconds, their interval from the draws, and the seconds by replica."""

    @property
    def digest(self) -> str: ...
    @property
    def time_s(self) -> float: ...
    @property
    def low_s(self) -> float: ...
    @property
    def high_s(self) -> float: ...
    @property
    def makespans(self) -> Mapping[int, float]: ...
    @property
    def breakdown(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def links(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def losses(self) -> Sequence[Mapping[str, Any]] | None: ...


class Asker(Protocol):
    """Answers questions; :class:`phase3_sst.explore.explorer.Explorer` is one."""

    def checked(self, question: Any) -> Any:
        """Return the question's experiment; one that cannot be simulated is a ManynodeError."""

    def known(self, question: Any) -> Answered | None:
        """Return the answer if it is there; simulates nothing."""

    async def answer(self, question: Any, *, urgent: bool = True) -> Answered:
        """Return the answer, simulated if need be."""


Q = TypeVar("Q")


def with_value(question: Q, axis: Axis, value: Written) -> Q:
    """Return the question with a value of an axis, in all its keys."""
    content: dict[str, Any] = question.model_dump()  # type: ignore[attr-defined]
    for key in axis.keys:
        if key == "nodes":
            content["nodes"] = value
        else:
            content["changes"] = {**content["changes"], key: value}
    return type(question).model_validate(content)  # type: ignore[attr-defined,no-any-return]
