"""Field types for quantities: strings with units at the border ("90 ns"), SI floats inside and in ``model_dump``.

A field is written ``latency: Seconds = Field(default=written("90 ns"), ge=0, description=...)``; its bounds are in SI
units. The model needs ``validate_default=True`` for a default to be a string (:class:`Section` has it). Only strings
are accepted, since a bare ``90`` says nothing about its unit. A resolved document, whose quantities are SI floats
already, is read with ``model_validate(document, context=RESOLVED)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from manynode.units import DIMENSIONS, parse

RESOLVED: Final[Mapping[str, bool]] = {"resolved": True}


class Section(BaseModel):
    """A configuration section: unknown keys are errors, defaults are checked, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def written(text: str) -> Any:
    """Return ``text``, as the default of a quantity: a string here, a float once the model is validated."""
    return text


class _Quantity:
    """Reads a string with a unit of one dimension and describes itself as such a string in the JSON schema."""

    def __init__(self, dimension: str) -> None:
        self.dimension = dimension

    def read(self, value: Any, info: ValidationInfo) -> float:
        if info.context and info.context.get("resolved") and isinstance(value, (int, float)):
            if not isinstance(value, bool):
                return float(value)
        return parse(value, self.dimension)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = handler(schema)
        bounds = {
            "minimum": ">=",
            "exclusiveMinimum": ">",
            "maximum": "<=",
            "exclusiveMaximum": "<",
        }
        unit, examples = DIMENSIONS[self.dimension]
        limits = [f"{sign} {described[key]:g} {unit}" for key, sign in bounds.items() if key in described]
        kept = {key: value for key, value in described.items() if key not in bounds and key != "type"}
        extra: dict[str, Any] = {"x-bounds": ", ".join(limits)} if limits else {}
        return {
            **kept,
            "type": "string",
            "examples": [word.strip(" '") for word in examples.split(",")],
            "x-dimension": self.dimension,
            **extra,
        }


_time, _bandwidth, _size, _frequency, _time_per_size = (
    _Quantity(dimension) for dimension in ("time", "bandwidth", "size", "frequency", "time_per_size")
)

PositiveInt = Annotated[int, Field(ge=1, strict=True)]
Seconds = Annotated[float, BeforeValidator(_time.read), _time]
# For members of unions, to which bounds of the field would not apply.
NonNegativeSeconds = Annotated[float, Field(ge=0), BeforeValidator(_time.read), _time]
BytesPerSecond = Annotated[float, BeforeValidator(_bandwidth.read), _bandwidth]
Bytes = Annotated[float, BeforeValidator(_size.read), _size]
Hertz = Annotated[float, BeforeValidator(_frequency.read), _frequency]
SecondsPerByte = Annotated[float, BeforeValidator(_time_per_size.read), _time_per_size]
