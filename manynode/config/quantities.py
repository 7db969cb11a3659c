"""Field types for quantities: strings with units at the border ("90 ns"), SI floats inside and in ``model_dump``.

A field is written ``latency: Latency = Field(default=written("90 ns"), description=...)``. Every dimension has bounds,
so that no field is without; a type with narrower ones is made with :class:`Quantity`. Sizes are whole bytes. The model
needs ``validate_default=True`` for a default to be a string (:class:`Section` has it). Only strings are accepted, since
a bare ``90`` says nothing about its unit. A resolved document, whose quantities are SI floats already, is read with
``model_validate(document, context=RESOLVED)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from manynode.units import DIMENSIONS, parse, render

RESOLVED: Final[Mapping[str, bool]] = {"resolved": True}

# dimension -> least and largest value (SI) that any field of it takes: generous, and such that sums of them fit the
# engines' numbers (64 bits of picoseconds, of bytes).
BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "time": (0.0, 1e6),
    "bandwidth": (1.25e5, 1e15),
    "size": (0.0, 2.0**50),
    "frequency": (1e6, 1e11),
    "time_per_size": (0.0, 1e-6),
}


class Section(BaseModel):
    """A configuration section: unknown keys are errors, defaults are checked, values do not change.

    Types are strict (true is no number, 2.0 no whole number), and no number is infinite.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, strict=True, allow_inf_nan=False)


def written(text: str) -> Any:
    """Return ``text``, as the default of a quantity: a string here, a float once the model is validated."""
    return text


class Quantity:
    """Reads a string with a unit of one dimension within bounds, and describes itself so in the JSON schema."""

    def __init__(self, dimension: str, *, least: float | None = None, most: float | None = None) -> None:
        """Bounds (SI) that are not given are the dimension's."""
        lower, upper = BOUNDS[dimension]
        self.dimension = dimension
        self.least = lower if least is None else least
        self.most = upper if most is None else most

    def read(self, value: Any, info: ValidationInfo) -> float:
        if info.context and info.context.get("resolved") and isinstance(value, (int, float)):
            if isinstance(value, bool):
                raise ValueError("true and false are no quantities")
            number = float(value)
            # A share of a range (the plan sobol) is seldom a whole number of bytes.
            number = float(round(number)) if self.dimension == "size" and abs(number) < self.most else number
        else:
            number = parse(value, self.dimension)
            if self.dimension == "size":
                number = _whole_bytes(number)
        # Negated, so that NaN is refused.
        if not self.least <= number <= self.most:
            sign, limit = ("less", self.most) if number > self.most else ("greater", self.least)
            raise ValueError(f"should be {sign} than or equal to {render(limit, self.dimension)}")
        return number

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        _, examples = DIMENSIONS[self.dimension]
        least, most = (render(limit, self.dimension) for limit in (self.least, self.most))
        return {
            **{key: value for key, value in handler(schema).items() if key != "type"},
            "type": "string",
            "examples": [word.strip(" '") for word in examples.split(",")],
            "x-dimension": self.dimension,
            "x-bounds": f">= {least}, <= {most}",
        }


def _whole_bytes(size: float) -> float:
    # 8.3 kB is 8300.000000000001 bytes.
    if abs(size - round(size)) > 1e-9 * abs(size):
        raise ValueError(f"{size:g} B is no whole number of bytes")
    return float(round(size))


MOST_COUNT: Final = 2**31 - 1
"""Ranks, nodes and links are numbered with 31 bits."""

PositiveInt = Annotated[int, Field(ge=1, le=MOST_COUNT)]
NotNegativeInt = Annotated[int, Field(ge=0, le=MOST_COUNT)]

Seconds = Annotated[float, Quantity("time")]
# Of a wire, a switch, a processor: what a message may have to wait for.
Latency = Annotated[float, Quantity("time", most=1.0)]
# An interval or a limit, which takes some time.
Duration = Annotated[float, Quantity("time", least=1e-9)]
BytesPerSecond = Annotated[float, Quantity("bandwidth")]
Bytes = Annotated[float, Quantity("size")]
PositiveBytes = Annotated[float, Quantity("size", least=1)]
# Of a switch: engines count its bytes with 32 bits.
BufferBytes = Annotated[float, Quantity("size", least=1, most=2.0**32)]
Hertz = Annotated[float, Quantity("frequency")]
SecondsPerByte = Annotated[float, Quantity("time_per_size")]
