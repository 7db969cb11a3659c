"""A question: which changes to the base experiment, at which node count, by which technique.

In: what a person or a search asks. Out: a frozen :class:`Question`; two questions in the same words are equal and have
the same JSON. :mod:`phase3_sst.explore.base` makes the experiment that answers it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator

from manynode.config import yaml_text
from manynode.config.experiment import Technique
from manynode.config.quantities import PositiveInt, Section
from manynode.config.resolved import validation_error
from manynode.errors import UsageError

MOST_CHANGES = 100
MOST_CHARACTERS = 64 * 1024

Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+(\.[A-Za-z0-9_-]+)*$", max_length=200)]


class Question(Section):
    """What is asked: the base experiment with changes, at one node count, by one technique."""

    changes: dict[Key, Any] = Field(
        default_factory=dict,
        max_length=MOST_CHANGES,
        description="dotted key of the experiment -> value as its file has it, such as "
        "{network.link.bandwidth: 50 Gbit/s}; 'machine' names the results folder whose measured node is used",
    )
    nodes: PositiveInt = Field(description="node count")
    technique: Technique = Field(default="ext-var", description="technique that projects the time")
    losses: bool = Field(default=False, description="whether to simulate the counterfactual networks of the waterfall")

    @field_validator("changes", mode="after")
    @classmethod
    def _is_plain(cls, changes: dict[str, Any]) -> dict[str, Any]:
        try:
            text = json.dumps(changes, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("values must be texts, finite numbers, true, false, null, lists or mappings") from None
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"{len(text)} characters; at most {MOST_CHARACTERS} are allowed")
        for words in _texts(changes):
            if (character := yaml_text.unshowable(words)) is not None:
                raise ValueError(f"a text has the control character {character}")
        return changes

    def canonical(self) -> str:
        """Return the question as JSON with sorted keys: equal for equal questions."""
        return json.dumps(self.as_json(), sort_keys=True, ensure_ascii=False)

    def as_json(self) -> dict[str, Any]:
        """Return the question as JSON, as :func:`question_of` reads it."""
        return self.model_dump(mode="json")

    def __hash__(self) -> int:
        return hash(self.canonical())

    def changed(self, **changes: Any) -> Question:
        """Return the question with other members."""
        return question_of({**self.as_json(), **changes})

    def with_change(self, key: str, value: Any) -> Question:
        """Return the question with another value at ``key``; ``nodes`` is the node count."""
        if key == "nodes":
            return self.changed(nodes=value)
        return self.changed(changes={**self.changes, key: value})


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (str(key), *_texts(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def question_of(content: Mapping[str, Any], where: str = "the question") -> Question:
    """Return the checked question; a mistake is a :class:`UsageError` that names the member."""
    try:
        return Question.model_validate(dict(content))
    except ValidationError as error:
        raise validation_error(error, Question, where, "the question") from None
    except RecursionError:
        raise UsageError("the question is nested too deeply", where=where) from None
