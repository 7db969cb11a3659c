"""Converts overheads by segments of message sizes to parameters of firefly's ``LatencyMod``.

firefly computes ``base + factor * bytes`` with the factor of the range in which the size falls, and rounds to whole
nanoseconds. ``base`` is the constant part of the first segment. A segment with the same constant is one exact range. In
any other segment, the difference of the constants is spread over the bytes: the segment is split into ranges short
enough for an error of the whole overhead of at most :data:`TOLERANCE`. Factors are never negative (SST reads no sign),
and a message never costs less than the constant of the first segment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

TOLERANCE = 0.005
# Sizes are parsed as 31-bit integers.
_LARGEST = 2**31 - 2

Segments = Sequence[tuple[int, float, float]]  # from bytes, seconds, seconds per byte


def segments_of(overhead: Sequence[Mapping[str, float]]) -> list[tuple[int, float, float]]:
    """Return the segments of ``overhead_send`` or ``overhead_recv`` of a run file."""
    return [(int(part["from_bytes"]), part["seconds"], part["seconds_per_byte"]) for part in overhead]


def time_of(segments: Segments, size: int) -> float:
    """Return the time of a message, without rounding."""
    seconds, per_byte = next((s, b) for first, s, b in reversed(segments) if size >= first)
    return seconds + per_byte * size


def latency_parameters(module: str, segments: Segments) -> dict[str, str]:
    """Return the parameters that make the module ``module`` (such as "txSetupMod") compute ``segments``."""
    base = segments[0][1]
    parameters = {
        module: "firefly.LatencyMod",
        f"{module}Params.base": f"{base * 1e9:.6f}ns",
        f"{module}Params.op": "Mult",
    }
    ranges = []
    for place, (first, seconds, per_byte) in enumerate(segments):
        last = segments[place + 1][0] - 1 if place + 1 < len(segments) else _LARGEST
        ranges.extend(_ranges(max(first, 1), last, seconds - base, per_byte, lambda size: time_of(segments, size)))
    ranges = [part for part in ranges if part[2] != 0]
    for number, (first, last, factor) in enumerate(ranges):
        end = "" if last == _LARGEST else str(last)
        parameters[f"{module}Params.range.{number:04d}"] = f"{first}-{end}:{factor * 1e9:.9f}ns"
    return parameters


def _ranges(
    first: int, last: int, extra: float, per_byte: float, time: Callable[[int], float]
) -> list[tuple[int, int, float]]:
    """Return ranges (first, last, factor) in which factor * size is nearly extra + per_byte * size."""
    if extra == 0:
        return [(first, last, per_byte)]
    ranges = []
    while first <= last:
        # The relative error of the extra part at the ends of the range is their distance to the middle over the middle.
        spread = max(TOLERANCE * time(first), 0.5e-9) / abs(extra)
        end = min(last, max(first, int(first * (1 + 2 * spread)))) if spread < 1e6 else last
        middle = (first + end) / 2
        ranges.append((first, end, max(0.0, extra / middle + per_byte)))
        first = end + 1
    return ranges
