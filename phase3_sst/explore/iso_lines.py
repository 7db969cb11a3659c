"""Lines of equal time on a map.

In: a map with a surrogate, and times [s]. Out: polylines in the numbers of the axes (SI), which the page draws. They
are lines of the surrogate: interpolated, except where they pass through simulated points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phase3_sst.explore.axis import Axis
from phase3_sst.explore.parameter_map import Map
from phase3_sst.explore.surrogate import Surrogate

# Steps of the mesh on which lines are traced, for each axis.
STEPS = 48


@dataclass(frozen=True)
class IsoLine:
    """The places with the time ``time_s``: polylines of (x, y)."""

    time_s: float
    parts: list[list[tuple[float, float]]]

    def as_json(self) -> dict[str, Any]:
        """Return the line for the page."""
        return {"time_s": self.time_s, "parts": self.parts}


def iso_lines(found: Map, times_s: Sequence[float] | None = None) -> list[IsoLine]:
    """Return the lines of ``times_s`` (default: round times within the map); axes of choices have no lines."""
    if found.surrogate is None or not (found.x.ordered and found.y.ordered):
        return []
    from contourpy import contour_generator

    across = np.linspace(0, 1, STEPS + 1)
    times = mesh(found.surrogate, across, across)
    generator = contour_generator(across, across, times)
    wanted = levels(float(times.min()), float(times.max())) if times_s is None else times_s
    return [IsoLine(time, [_numbers(found.x, found.y, line) for line in _lines(generator, time)]) for time in wanted]


def mesh(surrogate: Surrogate, across: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return the surrogate's times [s] over coordinates: a row for each of ``up``."""
    places = np.array([(one, other) for other in up for one in across])
    return surrogate.predict(places)[0].reshape(len(up), len(across))


def levels(least_s: float, greatest_s: float, count: int = 7) -> list[float]:
    """Return at most ``count`` round times between two, at equal factors; none if they differ by less than 1 %."""
    if greatest_s < 1.01 * least_s:
        return []
    inner = np.geomspace(least_s, greatest_s, count + 2)[1:-1]
    # As few digits as still tell neighbours apart.
    digits = max(1, math.ceil(-math.log10(inner[1] / inner[0] - 1)) + 1)
    rounded = dict.fromkeys(float(f"{time:.{digits}g}") for time in inner)
    return [time for time in rounded if least_s < time < greatest_s]


def _lines(generator: Any, time: float) -> list[np.ndarray]:
    return [np.asarray(line) for line in generator.lines(time) if len(line) > 1]


def _numbers(x: Axis, y: Axis, line: np.ndarray) -> list[tuple[float, float]]:
    return [(x.at(float(one)), y.at(float(other))) for one, other in line]
