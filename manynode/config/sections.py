"""The structure of configuration field types: sections, lists and mappings of sections, alternatives.

The reference page uses it to show every section, and the loader to name keys as the user wrote them.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, Tag


def plain(annotation: Any) -> Any:
    """Return the type inside Annotated and Optional; a union of several types stays."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (typing.Union, types.UnionType) and len(_members(annotation)) == 1:
            annotation = _members(annotation)[0]
        else:
            return annotation


def _members(union: Any) -> list[Any]:
    return [member for member in typing.get_args(union) if member is not type(None)]


def section_of(annotation: Any) -> type[BaseModel] | None:
    """Return the one section that a field holds, or may hold."""
    inner = plain(annotation)
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def alternatives(annotation: Any) -> dict[str, Any]:
    """Return the members of a union by the tags that choose among them; empty for other types."""
    inner = plain(annotation)
    if typing.get_origin(inner) not in (typing.Union, types.UnionType):
        return {}
    return {tag: member for member in _members(inner) for tag in _tags(member)}


def _tags(member: Any) -> Sequence[str]:
    for note in getattr(member, "__metadata__", ()):
        if isinstance(note, Tag):
            return [note.tag]
    section = section_of(member)
    if section is not None and "kind" in section.model_fields:
        return [str(kind) for kind in typing.get_args(section.model_fields["kind"].annotation)]
    return [getattr(plain(member), "__name__", str(member))]


def sections_in(annotation: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield every section that a field may hold, with its path from the field's name."""
    section = section_of(annotation)
    inner = plain(annotation)
    if section is not None:
        yield "", section
    elif typing.get_origin(inner) is list:
        for words, found in sections_in(typing.get_args(inner)[0]):
            yield f": each{words}", found
    elif typing.get_origin(inner) is dict:
        for words, found in sections_in(typing.get_args(inner)[1]):
            yield f": NAME{words}", found
    else:
        for tag, member in alternatives(annotation).items():
            for words, found in sections_in(member):
                yield (f" ({tag}){words}" if section_of(member) is not None else words), found


def as_written(model: type[BaseModel], location: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Return a location of pydantic's errors as the user wrote it, and the keys known there.

    pydantic adds the names of validators and of chosen union members; they are removed. Known keys are those of the
    section at the location, or of its parent section.
    """
    current: Any = model
    parts: list[Any] = []
    known: list[str] = []
    for part in location:
        section = section_of(current)
        members = alternatives(current)
        if part in members:
            current = members[part]
            continue
        if isinstance(part, str) and part.startswith("function-"):
            continue
        parts.append(part)
        known = []
        arguments = typing.get_args(plain(current))
        if section is not None:
            fields = {field.alias or name: field for name, field in section.model_fields.items()}
            known = list(fields)
            current = fields[part].annotation if part in fields else None
        elif typing.get_origin(plain(current)) in (list, dict):
            current = arguments[-1]
        else:
            current = None
    return parts, known
