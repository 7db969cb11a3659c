"""Field types for quantities: strings with units in files ("90 ns"), SI floats inside and in ``model_dump``.

A field is written ``latency: Latency = Field(default=written("90 ns"), description=...)``. Every dimension has bounds;
:class:`Quantity` makes a type with narrower ones. Sizes are whole bytes. String defaults need
``validate_default=True``, which :class:`Section` sets. Only strings are accepted, because a bare ``90`` has no unit.
Read a resolved document, whose quantities are already SI floats, with ``model_validate(document, context=RESOLVED)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from manynode.units import DIMENSIONS, parse, render

RESOLVED: Final[Mapping[str, bool]] = {"resolved": True}

# dimension -> smallest and largest value (SI) of any field. They are generous, but sums still fit the engines' numbers
# (64 bits of picoseconds and of bytes).
BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "time": (0.0, 1e6),
    "bandwidth": (1.25e5, 1e15),
    "size": (0.0, 2.0**50),
    "frequency": (1e6, 1e11),
    "time_per_size": (0.0, 1e-6),
}


class Section(BaseModel):
    """A configuration section: unknown keys are errors, defaults are checked, values are immutable.

    Types are strict (true is not a number, 2.0 is not a whole number), and numbers are finite.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, strict=True, allow_inf_nan=False)


def written(text: str) -> Any:
    """Return ``text`` as the default of a quantity; validation turns the string into a float."""
    return text


class Quantity:
    """Reads a string with a unit of one dimension, checks its bounds, and describes both in the JSON schema."""

    def __init__(self, dimension: str, *, least: float | None = None, most: float | None = None) -> None:
        """Bounds are in SI units; the defaults are those of the dimension."""
        lower, upper = BOUNDS[dimension]
        self.dimension = dimension
        self.least = lower if least is None else least
        self.most = upper if most is None else most

    def read(self, value: Any, info: ValidationInfo) -> float:
        if info.context and info.context.get("resolved") and isinstance(value, (int, float)):
            if isinstance(value, bool):
                raise ValueError("true and false are not quantities")
            number = float(value)
            # A sample from a range (plan sobol) is rarely a whole number of bytes.
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
        raise ValueError(f"{size:g} B is not a whole number of bytes")
    return float(round(size))


MOST_COUNT: Final = 2**31 - 1
"""Ranks, nodes and links are numbered with 31 bits."""

PositiveInt = Annotated[int, Field(ge=1, le=MOST_COUNT)]
NotNegativeInt = Annotated[int, Field(ge=0, le=MOST_COUNT)]
MOST_RUNS: Final = 100_000
"""Simulations that one key of a study asks for: each has a folder of its own."""

Seconds = Annotated[float, Quantity("time")]
# Delay of a message in a wire, a switch or a processor.
Latency = Annotated[float, Quantity("time", most=1.0)]
# An interval or a limit: never zero.
Duration = Annotated[float, Quantity("time", least=1e-9)]
BytesPerSecond = Annotated[float, Quantity("bandwidth")]
Bytes = Annotated[float, Quantity("size")]
PositiveBytes = Annotated[float, Quantity("size", least=1)]
# Buffer of a switch: engines count its bytes with 32 bits.
BufferBytes = Annotated[float, Quantity("size", least=1, most=2.0**32)]
Hertz = Annotated[float, Quantity("frequency")]
SecondsPerByte = Annotated[float, Quantity("time_per_size")]
