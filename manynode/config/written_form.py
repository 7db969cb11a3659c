"""A resolved experiment written again as a file: quantities as texts with units, defaults left out.

In: a :class:`Resolved`. Out: a mapping for YAML that :func:`manynode.config.loader.resolve` reads back to the same
digest, in any folder. A quantity is written short ("90 ns") where that reads back to the same number, and with all of
its digits otherwise, because a rounded one would be another experiment.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from manynode.config.quantities import Quantity
from manynode.config.resolved import Resolved
from manynode.units import parse, render

# The unit of all digits; reading it multiplies by nothing.
_UNITS: dict[str, str] = {
    "time": "s",
    "bandwidth": "B/s",
    "size": "B",
    "frequency": "Hz",
    "time_per_size": "s/B",
}
# Keys that only the resolved form has.
_RESOLVED_ONLY = {("application", "executable")}


def written_experiment(resolved: Resolved) -> dict[str, Any]:
    """Return the experiment as a file has it."""
    found: dict[str, Any] = {}
    for name, field in type(resolved).model_fields.items():
        value = getattr(resolved, name)
        if value is None:
            continue
        written = written_value(value, field)
        if isinstance(value, BaseModel):
            written = {key: entry for key, entry in written.items() if (name, key) not in _RESOLVED_ONLY}
            if not written and not field.is_required() and field.get_default(call_default_factory=True) is not None:
                continue
        elif _is_default(value, field):
            continue
        found[name] = written
    return found


def written_section(section: BaseModel) -> dict[str, Any]:
    """Return a section as a file has it: keys by their aliases, quantities with units, defaults left out."""
    found: dict[str, Any] = {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if not field.is_required() and _is_default(value, field):
            continue
        found[field.alias or name] = written_value(value, field)
    return found


def written_value(value: Any, field: FieldInfo) -> Any:
    """Return the value of a field as a file has it."""
    return _written(
        value, typing.Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    )


def text_of(value: float, dimension: str) -> str:
    """Return a quantity as the shortest text with a unit that reads back to the same number."""
    for digits in (4, 6, 9, 12):
        text = render(value, dimension, digits)
        if parse(text, dimension) == value:
            return text
    return f"{value!r} {_UNITS[dimension]}"


def quantity_of(annotation: Any) -> Quantity | None:
    """Return the quantity that a type holds itself, not within a section or a list; None for other types."""
    if isinstance(annotation, FieldInfo):
        found = next((note for note in annotation.metadata if isinstance(note, Quantity)), None)
        return found or quantity_of(annotation.annotation)
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        inner, *notes = typing.get_args(annotation)
        return next((note for note in notes if isinstance(note, Quantity)), None) or quantity_of(inner)
    if origin in (typing.Union, types.UnionType):
        return next((found for member in typing.get_args(annotation) if (found := quantity_of(member))), None)
    return None


def _written(value: Any, annotation: Any) -> Any:
    if isinstance(value, BaseModel):
        return written_section(value)
    if isinstance(value, Mapping):
        return {key: _written(entry, _inside(annotation, dict)) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_written(entry, _inside(annotation, list)) for entry in value]
    if isinstance(value, float) and (quantity := quantity_of(annotation)) is not None:
        return text_of(value, quantity.dimension)
    return value


def _inside(annotation: Any, container: type) -> Any:
    """Return the type of the entries of a list or mapping that a type may be."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _inside(typing.get_args(annotation)[0], container)
    if origin in (typing.Union, types.UnionType):
        found = (_inside(member, container) for member in typing.get_args(annotation))
        return next((entry for entry in found if entry is not Any), Any)
    if origin is container or (container is list and origin is tuple):
        return typing.get_args(annotation)[-1]
    return Any


def _is_default(value: Any, field: FieldInfo) -> bool:
    """Return whether a value is the default of its field."""
    default = field.get_default(call_default_factory=True)
    if default is PydanticUndefined or field.is_required():
        return False
    if isinstance(default, str) and isinstance(value, float) and (quantity := quantity_of(field)) is not None:
        return value == parse(default, quantity.dimension)
    # True equals 1, and 2.0 equals 2, but a strict section reads them differently.
    return type(value) is type(default) and bool(value == default)
