"""What a last-level cache has for this node where other programs load into it, too: what loads of two speeds keep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from phase2_nodesim.calibration.figures import Cycles, Figure, measured, size_words
from phase2_nodesim.calibration.host import HostCache
from phase2_nodesim.calibration.plan import Plan
from phase2_nodesim.calibration.plateaus import crossing

NEAR = 0.25
"""A measured capacity that differs less from the host's description confirms it."""
_LEAST_STEP = 1.3
"""Loads of lines from memory take at least this factor longer than from the last level, or they show no capacity."""
_FASTER_HAS_MORE = 1.3
"""Fast loads that keep this many times more of the last level than a chase share it with other programs."""


class Kept(NamedTuple):
    """What loads over ranges of memory keep of a cache: the size at which they begin to miss it."""

    bytes: float
    cycles: float
    """From one load to the next, at this size."""


def shared_with_others(slow: Kept, fast: Kept, cache: HostCache) -> bool:
    """Return whether what slow and fast loads keep of a last level shows that other programs use it, too."""
    return slow.bytes < (1 - NEAR) * cache.size_bytes and fast.bytes > _FASTER_HAS_MORE * slow.bytes


def other_traffic(
    cache: HostCache, kept: Mapping[str, Kept], cycle_s: float, spread: float, notes: list[str]
) -> Figure:
    """Return what other programs load into the last level, from what loads of different speeds keep of it.

    With least recently used replacement, a range of memory that is read again and again stays if there is room for it
    and for all that others load between two reads of a line: kept + others x kept / own rate = size. The own rate is
    that at this size, where some loads miss.
    """
    rates = {
        name: cache.line_bytes / (of.cycles * cycle_s) * (cache.size_bytes / of.bytes - 1)
        for name, of in kept.items()
        if of.bytes < cache.size_bytes
    }
    value = f"{math.exp(float(np.mean(np.log(list(rates.values()))))) / 1e9:.3g} GB/s"
    words = " and ".join(f"{rate / 1e9:.3g} GB/s by {name}" for name, rate in rates.items())
    held = " and ".join(f"{name} found {size_words(kept[name].bytes)}" for name in kept)
    notes.append(
        f"caches.last_level.other_traffic: {held} of the {size_words(cache.size_bytes)} of the host's description: "
        f"other programs, or other guests of the host, load about {value} beside them, which changes with what they do"
    )
    return measured(value, spread, words)


def kept_by_fast_loads(cycles: Cycles, plan: Plan) -> Kept | None:
    """Return where independent loads of lines begin to come from memory; None: nowhere, or it was not measured."""
    tasks = plan.fast_lines()
    if not tasks:
        return None
    sizes, curve = [float(dict(one.values)["bytes"]) for one in tasks], [cycles.of(one) for one in tasks]
    octave = sum(size < 2 * sizes[0] for size in sizes)
    cache, memory = float(np.median(curve[:octave])), float(np.median(curve[-octave:]))
    # Of a range as large as the cache, read again and again, half of the sets have too many lines and miss all of them.
    if memory <= _LEAST_STEP * cache:
        return None
    return Kept(crossing(sizes, curve, cache, memory, 0.5), (cache + memory) / 2)
