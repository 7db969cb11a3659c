"""Knees of a map: where more of a parameter stops paying.

In: a map with a surrogate. Out, for each row (a value of ``y``) or each column: the value of the other axis from which
on doubling saves less than a stated share of the time; for a parameter whose growth costs time, the value up to which
halving saves less. The position's interval comes from curves that the simulated points allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from manynode.errors import UsageError
from phase3_sst.explore.axis import Axis, Written
from phase3_sst.explore.parameter_map import Map

# Steps of the curve between the ends of the axis, and curves from which the interval is taken.
_STEPS = 96
_CURVES = 200
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Knee:
    """The knee of one row or column.

    ``at`` and its interval [``low``, ``high``] are numbers of the axis (SI). Where the curve has no knee inside the
    axis, ``at`` is None and ``state`` says on which side of it the knee lies. A bound of the interval is None where the
    knees of some curves lie beyond that end of the axis.
    """

    other: Written
    other_number: float | None
    state: Literal["inside", "below", "above"]
    at: float | None
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the knee for the page."""
        return dict(vars(self))


def knees(found: Map, share: float = 0.05, along: Literal["x", "y"] = "x") -> list[Knee]:
    """Return the knees along an axis, one for each value of the other; ``share`` of the time is what must be saved."""
    if not 0 < share < 1:
        raise UsageError("a share of the time lies between 0 and 1", where="knees: share", found=share)
    axis, other = (found.x, found.y) if along == "x" else (found.y, found.x)
    if found.surrogate is None or not axis.ordered or axis.ends()[0] <= 0:
        return []
    low, high = axis.ends()
    # Nothing can be doubled within the axis.
    if high < 2 * low:
        return []
    numbers = np.geomspace(low, high, _STEPS + 1)
    own = np.array([[axis.coordinate(float(number))] for number in numbers])
    result = []
    for position, value in enumerate(other.written):
        rest = np.tile(_coordinates(other, position), (len(own), 1))
        places = np.hstack([own, rest] if along == "x" else [rest, own])
        times, _ = found.surrogate.predict(places)
        result.append(_knee(axis, other, value, numbers, times, found.surrogate.curves(places, _CURVES), share))
    return result


def _coordinates(axis: Axis, position: int) -> np.ndarray:
    if axis.ordered:
        return np.array([axis.coordinate(axis.number(axis.written[position]))])
    return np.asarray(np.eye(len(axis.written))[position] / math.sqrt(2))


def _knee(
    axis: Axis, other: Axis, value: Written, numbers: np.ndarray, times: np.ndarray, curves: np.ndarray, share: float
) -> Knee:
    falls = bool(times[-1] <= times[0])
    at = knee_of(numbers, times, share, falls)
    found = np.array([knee_of(numbers, curve, share, falls) for curve in curves])
    low, high = (float(np.quantile(found, (1 + sign * _CONFIDENCE) / 2, method="nearest")) for sign in (-1, 1))
    inside = math.isfinite(at)
    return Knee(
        other=value,
        other_number=other.number(value) if other.ordered else None,
        state="inside" if inside else "below" if at < 0 else "above",
        at=at if inside else None,
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
    )


def knee_of(numbers: Sequence[float] | np.ndarray, times: np.ndarray, share: float, falls: bool) -> float:
    """Return the knee of a curve over increasing numbers above zero; -inf or inf if it lies outside them.

    ``falls``: the time falls as the number grows, and the knee is the least number from which on no doubling saves as
    much as ``share`` of its time. Otherwise it is the greatest up to which no halving does.
    """
    logs, values = np.log(np.asarray(numbers, dtype=float)), np.log(np.asarray(times, dtype=float))
    if not falls:
        # Mirrored, a halving is a doubling.
        mirrored = knee_of(np.exp(-logs[::-1]), np.asarray(times)[::-1], share, True)
        return 1 / mirrored if math.isfinite(mirrored) else -mirrored
    inside = logs <= logs[-1] - math.log(2) + 1e-12
    doubled = np.interp(logs[inside] + math.log(2), logs, values)
    saved = -np.expm1(doubled - values[inside])
    pays = np.flatnonzero(saved >= share)
    if not len(pays):
        return -math.inf
    last = int(pays[-1])
    if last == len(saved) - 1:
        return math.inf
    # Straight between two steps of the curve.
    part = (saved[last] - share) / (saved[last] - saved[last + 1])
    return float(np.exp(logs[last] + part * (logs[last + 1] - logs[last])))
