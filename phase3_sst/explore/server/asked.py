"""What a page wrote, as the models that questions and axes have; words for what is not one."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from manynode.errors import UsageError
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.question import Question

Model = TypeVar("Model", bound=BaseModel)


def question_of(content: dict[str, Any]) -> Question:
    """Return the question that the page wrote; raises UsageError."""
    return _as(Question, content, "question")


def axis_of(content: dict[str, Any]) -> Axis:
    """Return the axis that the page wrote; raises UsageError."""
    return _as(Axis, content, "axis")


def _as(model: type[Model], content: dict[str, Any], name: str) -> Model:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join([name, *(str(part) for part in first["loc"])])
        raise UsageError(f"this is no {name}", where=place, found=first["msg"]) from None
