"""Reads curves of latencies: plateaus, the sizes at which they end, misses in flight. Pure functions of numbers.

A curve is the latency of dependent loads over the size of the memory that they touch. Each level of the memory
hierarchy is a plateau of it; noise only adds time, and the true curve never falls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[np.float64]

TOLERANCE = 0.05
"""Deviation of the logarithm within a plateau that costs one point of the fit."""
_LEVEL_COST = 3.0
_POINT_OFF_COST = 2.0
_LEAST_POINTS = 3
_BESIDE = 5
_AFTER = 3
_LEAST_RISE = 1.5
"""A level is slower than the one before by at least this factor. A level bends by less: where other guests have a part
of a cache, where lines fall together in its sets, where page tables leave the caches."""
SHARE_OF_RISE = 0.25
"""A capacity is where the latency has risen by this share of the step to the next plateau. A cache that replaces the
least recently used line steps at its size, one that replaces any line rises slowly from it on."""


@dataclass(frozen=True)
class Plateau:
    """A level of a curve: its latency, and the first and last point that belong to it."""

    latency: float
    first: int
    last: int


def without_spikes(latencies: Numbers) -> NDArray[np.float64]:
    """Return the largest curve below the measured one that never falls."""
    return np.minimum.accumulate(np.asarray(latencies, dtype=np.float64)[::-1])[::-1]


def plateaus(sizes: Numbers, latencies: Numbers) -> list[Plateau]:
    """Return the plateaus of a curve, the fastest first; ``sizes`` rise.

    Dynamic programming over all cuts: points are on a plateau, whose cost is the deviation from its median, or on the
    way between two, at a fixed cost. Plateaus that differ by less than a half are one.
    """
    size = np.asarray(sizes, dtype=np.float64)
    logs = np.log(without_spikes(latencies))
    count = len(logs)
    best = [0.0] + [math.inf] * count
    came: list[tuple[int, bool]] = [(0, False)] * (count + 1)
    for end in range(1, count + 1):
        best[end], came[end] = best[end - 1] + _POINT_OFF_COST, (end - 1, False)
        for start in range(end - _LEAST_POINTS, -1, -1):
            if size[end - 1] < 1.4 * size[start]:
                continue
            part = logs[start:end]
            cost = best[start] + _LEVEL_COST + float(np.abs(part - np.median(part)).sum()) / TOLERANCE
            if cost < best[end]:
                best[end], came[end] = cost, (start, True)
    found: list[Plateau] = []
    end = count
    while end > 0:
        start, level = came[end]
        if level:
            found.append(Plateau(float(np.exp(np.median(logs[start:end]))), start, end - 1))
        end = start
    return _to_the_end(_merged(found[::-1], logs), logs)


def _to_the_end(found: list[Plateau], logs: NDArray[np.float64]) -> list[Plateau]:
    """Return the plateaus, the last one with what comes after it and is no other level: it may rise slowly."""
    if not found:
        return found
    last = found[-1]
    end = int(np.searchsorted(logs, math.log(_LEAST_RISE * last.latency))) - 1
    return [*found[:-1], Plateau(last.latency, last.first, max(last.last, end))]


def _merged(found: list[Plateau], logs: NDArray[np.float64]) -> list[Plateau]:
    merged: list[Plateau] = []
    for plateau in found:
        if merged and plateau.latency < _LEAST_RISE * merged[-1].latency:
            first = merged.pop().first
            part = logs[first : plateau.last + 1]
            plateau = Plateau(float(np.exp(np.median(part))), first, plateau.last)
        merged.append(plateau)
    return merged


def crossing(sizes: Numbers, latencies: Numbers, lower: float, upper: float, share: float = SHARE_OF_RISE) -> float:
    """Return the size at which a curve has risen by ``share`` of the way from ``lower`` to ``upper``.

    Between points the logarithm of the size is interpolated.
    """
    curve = without_spikes(latencies)
    threshold = lower + share * (upper - lower)
    above = np.nonzero(curve > threshold)[0]
    if len(above) == 0:
        return float(sizes[-1])
    index = int(above[0])
    if index == 0:
        return float(sizes[0])
    part = (threshold - curve[index - 1]) / (curve[index] - curve[index - 1])
    return float(np.exp(np.log(sizes[index - 1]) * (1 - part) + np.log(sizes[index]) * part))


def last_below(sizes: Numbers, values: Numbers, threshold: float) -> float | None:
    """Return the largest size of which no larger one has a value above the threshold before it, or None."""
    curve = without_spikes(values)
    below = [size for size, value in zip(sizes, curve, strict=True) if value <= threshold]
    return float(below[-1]) if below else None


def steepest(sizes: Numbers, values: Numbers) -> int | None:
    """Return the index after which a rising curve of positive values grows by the largest factor per octave.

    The last points are no candidates: nothing after them shows that they are no spikes.
    """
    curve = without_spikes(values)
    if len(curve) < _AFTER + 2:
        return None
    rise = np.diff(np.log(curve)) / np.diff(np.log(np.asarray(sizes, dtype=np.float64)))
    return int(np.argmax(rise[:-_AFTER]))


def misses_in_flight(chains: Numbers, gaps: Numbers) -> tuple[float, bool]:
    """Return how many misses are in flight at most, and whether that number still grew with the last chains.

    ``gaps`` are the times from one miss to the next with that many chases at the same time; the first is one chase.
    Little's law: misses in flight are the latency over the gap. Up to four chases hinder each other nowhere: the least
    noisy of them shows the latency.
    """
    latency = min(chain * gap for chain, gap in zip(chains, gaps, strict=True) if chain <= 4)
    in_flight = latency / np.asarray(gaps, dtype=np.float64)
    most = float(in_flight.max())
    return most, bool(in_flight[-1] >= 0.97 * most and in_flight[-1] > 1.03 * in_flight[-2])


def window(fillers: Numbers, times: Numbers) -> tuple[int, int] | None:
    """Return the last number of instructions with which two misses overlap and the first with which they do not.

    The step is the cut with the smallest deviations from the medians of both sides. None if the points beside it differ
    by less than two fifths.
    """
    logs = np.log(np.asarray(times, dtype=np.float64))

    def deviation(part: NDArray[np.float64]) -> float:
        return float(np.abs(part - np.median(part)).sum())

    if len(logs) < 4:
        return None
    costs = [deviation(logs[:cut]) + deviation(logs[cut:]) for cut in range(1, len(logs))]
    cut = int(np.argmin(costs)) + 1
    beside = np.median(logs[cut : cut + _BESIDE]) - np.median(logs[max(0, cut - _BESIDE) : cut])
    if beside < math.log(1.4):
        return None
    return round(float(fillers[cut - 1])), round(float(fillers[cut]))


def nearest_size(value: float) -> int:
    """Return the power of two, or three times one, that is nearest to ``value`` by its factor."""
    exponent = math.floor(math.log2(value))
    sizes = [2.0**exponent, 1.5 * 2.0**exponent, 2.0 ** (exponent + 1)]
    distances = [abs(math.log(size / value)) for size in sizes]
    return max(1, round(sizes[distances.index(min(distances))]))
