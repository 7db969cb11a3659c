"""Curves of a host whose properties are known, for tests of the calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

KIB, MIB = 1024, 1024**2


@dataclass(frozen=True)
class Hierarchy:
    """Caches as (bytes, cycles), fastest first; the latency of memory [cycles]."""

    caches: tuple[tuple[float, float], ...] = ((48 * KIB, 4.0), (1 * MIB, 14.0), (32 * MIB, 50.0))
    memory: float = 600.0
    replaces_any: bool = False
    """Caches replace a random line, not the least recently used one."""

    def latency(self, size: float) -> float:
        """Return the latency of a chase over ``size`` bytes."""
        levels = [latency for _, latency in self.caches] + [self.memory]
        total = levels[0]
        for index, (capacity, _) in enumerate(self.caches):
            total += (levels[index + 1] - levels[index]) * self._missing(size, capacity)
        return total

    def _missing(self, size: float, capacity: float) -> float:
        if size <= capacity:
            return 0.0
        if self.replaces_any:
            # A line comes back after `size` accesses. Each miss among them evicts it with the probability 1 / capacity.
            hits = 0.0
            for _ in range(200):
                hits = math.exp(-size / capacity * (1 - hits))
            return 1 - hits
        # Some sets overflow before others.
        return min(1.0, (size - capacity) / (0.25 * capacity))


def noisy(values: NDArray[np.float64], noise: float, seed: int, spikes: int = 0) -> NDArray[np.float64]:
    """Return values that took longer by up to ``noise``, and ``spikes`` of them by a multiple.

    Spikes are alone: nothing tells two beside each other from a rise of the curve.
    """
    generator = np.random.default_rng(seed)
    out = values * (1 + noise * generator.random(len(values)))
    if spikes:
        out[3 * generator.choice(len(values) // 3, spikes, replace=False)] *= 3.0
    return out
