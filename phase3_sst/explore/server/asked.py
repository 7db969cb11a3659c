"""What a page wrote, as the model that axes have; questions have :func:`phase3_sst.explore.question.question_of`."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from manynode.config.resolved import validation_error
from phase3_sst.explore.axis import Axis


def axis_of(content: dict[str, Any]) -> Axis:
    """Return the axis that the page wrote; raises UsageError."""
    try:
        return Axis.model_validate(content)
    except ValidationError as error:
        raise validation_error(error, Axis, "the axis", "the axis") from None
