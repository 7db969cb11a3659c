"""An axis of a map or of an inverse question: the key that is varied, and its values as an experiment writes them.

In: a range or a list of values. Out: the written values in increasing order, their numbers (SI), and coordinates in
which one unit is the length of the axis. Written values are rounded to four digits: the same question asked again is
the same point.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import Section
from manynode.units import parse, render

Written = bool | int | float | str
Kind = Literal["bandwidth", "time", "size", "frequency", "time_per_size", "number", "count", "choice"]

_DIGITS = 4
# One part in a thousand: rounded values nearer to each other than this would be the same question.
_NEAREST = 1e-3


class Axis(Section):
    """One axis: a key of the experiment, or several that take the same value."""

    keys: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        min_length=1, max_length=8, description="Keys of the experiment that take the value, or [nodes]"
    )
    kind: Kind = Field(
        description="Dimension of a quantity with a unit; number; count: whole numbers; choice: names without an order"
    )
    low: Written | None = Field(default=None, description="Lower end of a range, as an experiment writes it")
    high: Written | None = Field(default=None, description="Upper end of a range")
    n: Annotated[int, Field(ge=2, le=40)] = Field(default=8, description="Number of values of a range")
    values: list[Written] = Field(default_factory=list, max_length=40, description="Values, in place of a range")
    scale: Literal["log", "linear"] = Field(default="log", description="Scale on which the values are spread")

    @model_validator(mode="after")
    def _can_be_drawn(self) -> Axis:
        if bool(self.values) == (self.low is not None or self.high is not None):
            raise ValueError("give either 'values' or a range ('low' and 'high')")
        if not self.values and (self.low is None or self.high is None):
            raise ValueError("a range needs both 'low' and 'high'")
        if self.keys == ["nodes"] and self.kind != "count":
            raise ValueError("kind: nodes are a count")
        if self.kind == "choice":
            if not self.values:
                raise ValueError("a choice has no range; give its 'values'")
            numbers: list[float] = []
        else:
            numbers = [self.number(value) for value in self.values or (self.low, self.high) if value is not None]
            if self.scale == "log" and min(numbers) <= 0:
                raise ValueError(
                    "scale: a logarithmic axis has values above zero; write 'linear' or raise the lower end"
                )
            if not self.values and numbers[0] >= numbers[1]:
                raise ValueError(f"low: should be less than 'high' (found {self.low} and {self.high})")
        if len(self.written) < 2:
            raise ValueError("values: an axis needs at least two different values")
        return self

    @property
    def label(self) -> str:
        """Return the name of the axis: the last parts of its keys."""
        return " and ".join(key.rsplit(".", 1)[-1] for key in self.keys)

    @property
    def ordered(self) -> bool:
        """Say whether the values are numbers: only then is there anything between two of them."""
        return self.kind != "choice"

    @property
    def written(self) -> tuple[Written, ...]:
        """Return the values, the smallest first and each once; choices keep their order."""
        if not self.ordered:
            return tuple(dict.fromkeys(self.values))
        if self.values:
            found = {self.number(value): value for value in self.values}
            return tuple(found[number] for number in sorted(found))
        low, high = self.ends()
        texts = [self.text(self._from(self._to(low) + (self._to(high) - self._to(low)) * step / (self.n - 1)))
                 for step in range(1, self.n - 1)]  # fmt: skip
        assert self.low is not None and self.high is not None
        return tuple(dict.fromkeys([self.low, *texts, self.high]))

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest number of the axis [SI]."""
        numbers = [self.number(value) for value in self.values or (self.low, self.high) if value is not None]
        return min(numbers), max(numbers)

    def number(self, value: Written) -> float:
        """Return a written value as a number [SI]; one that does not belong to the axis is a ValueError."""
        if self.kind == "choice":
            raise ValueError("a choice is no number")
        if self.kind in ("number", "count"):
            if isinstance(value, (bool, str)) or (self.kind == "count" and not isinstance(value, int)):
                raise ValueError(f"{value!r} is not a {'whole ' if self.kind == 'count' else ''}number")
            return float(value)
        if not isinstance(value, str):
            raise ValueError(f"{value!r} has no unit")
        return parse(value, self.kind)

    def text(self, number: float) -> Written:
        """Return a number [SI] as an experiment writes it, rounded."""
        if self.kind == "count":
            return round(number)
        if self.kind == "number":
            return float(f"{number:.{_DIGITS}g}")
        if self.kind == "size":
            return f"{round(number)} B"
        return render(number, self.kind, _DIGITS)

    def coordinate(self, number: float) -> float:
        """Return the place of a number on the axis: 0 at its low end, 1 at its high end."""
        low, high = (self._to(end) for end in self.ends())
        return (self._to(number) - low) / (high - low)

    def at(self, coordinate: float) -> float:
        """Return the number at a coordinate."""
        low, high = (self._to(end) for end in self.ends())
        return self._from(low + (high - low) * coordinate)

    def between(self, low: Written, high: Written, resolution: float) -> Written | None:
        """Return the value half way between two; None if they are neighbours at this (relative) resolution."""
        one, other = self.number(low), self.number(high)
        if self.kind == "count" and other - one <= 1:
            return None
        if other - one <= max(resolution, _NEAREST) * (abs(other) if self.scale == "log" else abs(self.ends()[1])):
            return None
        middle = self.text(self._from((self._to(one) + self._to(other)) / 2))
        return middle if one < self.number(middle) < other else None

    def _to(self, number: float) -> float:
        return math.log(number) if self.scale == "log" else number

    def _from(self, place: float) -> float:
        return math.exp(place) if self.scale == "log" else place
