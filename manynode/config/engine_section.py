"""Sections of an experiment that one engine reads: their key is the engine's name.

Results depend on such a section only if its engine is, or may be, chosen, and then on all of its keys but those marked
with :data:`CHANGES_NO_RESULT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from pydantic import BaseModel

from manynode.config.quantities import Section
from manynode.config.sections import section_of

AUTO: Final = "auto"
"""In place of an engine's name: the phase chooses one that this host has."""


class _ChangesNoResult:
    """Marks a key that only says how the engine is started or watched, or what the report shows besides."""


CHANGES_NO_RESULT: Final = _ChangesNoResult()


class EngineSection(Section):
    """Settings of one engine; other engines ignore them."""

    AUTOMATIC: ClassVar[bool] = False
    """Whether ``engine: auto`` may choose the engine."""

    def cores(self) -> int:
        """Return the number of cores that one simulation keeps busy."""
        return 1

    def has_own_collectives(self) -> bool:
        """Return whether the engine's own collectives replace the algorithms of the experiment."""
        return False


def engine_sections(model: type[BaseModel]) -> dict[str, type[EngineSection]]:
    """Return the sections of engines in a section of the experiment, by the engine's name."""
    found = {name: section_of(field.annotation) for name, field in model.model_fields.items()}
    return {name: kind for name, kind in found.items() if kind is not None and issubclass(kind, EngineSection)}


def unread_keys(place: str, model: type[BaseModel], content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of the engines' sections in ``content`` (of ``model``, at ``place``) that change no result."""
    for name, kind in engine_sections(model).items():
        if content.get("engine") not in ((name, AUTO) if kind.AUTOMATIC else (name,)):
            yield f"{place}.{name}"
            continue
        for key, field in kind.model_fields.items():
            if CHANGES_NO_RESULT in field.metadata:
                yield f"{place}.{name}.{key}"
