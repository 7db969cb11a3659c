"""Tables of the keys of configuration files (Markdown), made from the pydantic models that declare them."""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from manynode.config.sections import alternatives, plain, section_of, sections_in

# Letters of a cell in a table of the reference; longer descriptions stand beneath it.
_CELL = 70
_BAR = "\\|"
_LONG_DEFAULT = 100


def key_tables(
    root: type[BaseModel], heading: str = "##", place: str = "", shown: set[type[BaseModel]] | None = None
) -> Iterator[str]:
    """Yield the lines of a table of keys for ``root``, which is at ``place`` of the file, and for each section in it.

    Sections in ``shown`` get no table; those that get one are added.
    """
    pending = [(place, root)]
    while pending:
        here, model = pending.pop(0)
        if shown is not None:
            if model in shown:
                continue
            shown.add(model)
        yield from ("", f"{heading} {here or 'the file'}", "")
        yield from (_plain_marks((model.__doc__ or "").strip().splitlines()[0]), "")
        yield from ("| key | type and bounds | default | meaning |", "|---|---|---|---|")
        long = []
        for name, field in model.model_fields.items():
            found = [(f"{name}{words}", inner) for words, inner in sections_in(field.annotation)]
            pending += [(f"{here}: {words}" if here else words, inner) for words, inner in found]
            has_default = not field.is_required() and section_of(field.annotation) is None
            default = f"`{_json(default_of(field))}`" if has_default else ""
            kind = kind_of(field).replace("|", "\\|")
            text, key = description_of(field), f"`{field.alias or name}`"
            meaning = _short(text)
            if meaning != text:
                long.append(f"- {key}: {text}")
            if len(default) > _LONG_DEFAULT:
                long.append(f"- {key}, default: {default}")
                default = "see beneath"
            yield f"| {key} | {kind} | {default} | {meaning.replace('|', _BAR)} |"
        if long:
            yield from ("", *long)


def _json(value: Any) -> str:
    return json.dumps(value, default=lambda section: section.model_dump(mode="json"))


def default_of(field: FieldInfo) -> Any:
    """Return the default of a field; None without one."""
    value = field.get_default(call_default_factory=True)
    return None if value is PydanticUndefined else value


def description_of(field: FieldInfo) -> str:
    """Return the description of a field."""
    return (field.description or "").strip()


def kind_of(field: FieldInfo) -> str:
    """Return type and bounds of a field in words."""
    words = _type_and_bounds(field.annotation, _field_schema(field))
    return f"{words}, required" if field.is_required() else words


def _type_and_bounds(annotation: Any, schema: dict[str, Any]) -> str:
    words = [_type_words(annotation, schema)]
    for key, sign in (("minimum", ">="), ("exclusiveMinimum", ">"), ("maximum", "<="), ("exclusiveMaximum", "<")):
        if key in schema:
            words.append(f"{sign} {schema[key]}")
    if "x-bounds" in schema:
        words.append(str(schema["x-bounds"]))
    return ", ".join(words)


def _type_words(annotation: Any, schema: dict[str, Any]) -> str:
    if "x-dimension" in schema:
        return f"{str(schema['x-dimension']).replace('_', ' ')} with unit, such as {schema['examples'][0]!r}"
    if section_of(annotation) is not None:
        return "section"
    inner = plain(annotation)
    choices = alternatives(annotation)
    if choices and all(section_of(member) is not None for member in choices.values()):
        return f"section of a kind: {' | '.join(choices)}"
    if choices:
        return " or ".join(_type_and_bounds(member, _schema(member)) for member in choices.values())
    if typing.get_origin(inner) is typing.Literal:
        return " | ".join(str(choice) for choice in typing.get_args(inner))
    if typing.get_origin(inner) in (list, dict):
        item = typing.get_args(inner)[-1]
        whole = "list of " if typing.get_origin(inner) is list else "mapping of "
        if section_of(item) is not None:
            return whole + "sections"
        return whole + _type_words(item, {}) if whole == "list of " else "mapping"
    if typing.get_origin(inner) is tuple:
        first, *_ = typing.get_args(inner)
        return f"two of {_type_and_bounds(first, _schema(first))}"
    return {int: "whole number", float: "number", str: "text", bool: "true | false"}.get(inner, str(inner))


def _field_schema(field: FieldInfo) -> dict[str, Any]:
    if any(True for _ in sections_in(field.annotation)):
        return {}
    schema = _schema(typing.Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation)
    given = [choice for choice in schema.get("anyOf", []) if choice.get("type") != "null"]
    return {**schema, **given[0]} if len(given) == 1 else schema


def _schema(annotation: Any) -> dict[str, Any]:
    from pydantic import TypeAdapter

    schema: dict[str, Any] = TypeAdapter(annotation).json_schema()
    return schema


def _plain_marks(text: str) -> str:
    """Return a docstring's line with Markdown's marks for code."""
    return text.replace("``", "`")


def _short(text: str) -> str:
    """Return what of a description fits into a cell: all, or its beginning; the rest stands beneath the table."""
    if len(text) <= _CELL:
        return text
    # The first clause; where that is too long, as many words before a comma as fit.
    for mark in (r"[:;.] ", r"(?:,| \() ?"):
        beginnings = [text[: found.start()] for found in re.finditer(mark, text)]
        fitting = [words for words in beginnings if len(words) <= _CELL and words.count("(") == words.count(")")]
        if fitting:
            return f"{fitting[0] if mark.startswith('[') else fitting[-1]} …"
    return "see beneath"
