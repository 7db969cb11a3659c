"""Judges whether iteration times have converged. Pure arithmetic on the iteration ends of several replicas.

In: the times at which the first n of N iterations ended, by replica [s]. Out: a :class:`Judgement`. The first half is
left out as the start. The last iteration is left out because it includes what follows the loop. The rest is judged by:

- the interval of the mean: batch means (Schmeiser, Operations Research 30, 1982: 10 to 30 batches; here at least 20
  over all replicas and 4 of each), widened for the remaining correlation between neighbouring batches with a
  first-order autoregressive model;
- the drift: the slope of the batch means over the iterations (least squares within replicas, t test). It matters if,
  continued, it would change the remaining iterations by more than the width;
- the halves: the error of the second quarter's mean as a prediction of the second half's mean.

If compute times follow a pattern, ``period`` is its length in iterations, and whole periods are averaged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BATCHES = 20
_BATCHES_OF_A_REPLICA = 4
# The drift is tested at each doubling. At this level, one steady series in a hundred is simulated for longer.
_SIGNIFICANCE = 0.01


@dataclass(frozen=True)
class Judgement:
    """The judgement on the simulated iterations; all members but ``mean_s`` are shares of the mean iteration time.

    ``half_width`` is that of the interval. ``halves`` is the error of the second quarter as a prediction of the second
    half. ``drift`` is how much longer (negative: shorter) the remaining iterations would be if the slope continued; 0
    when the slope is not significant.
    """

    iterations: int
    mean_s: float
    half_width: float
    halves: float
    drift: float

    def objections(self, width: float) -> list[str]:
        """Return why these iterations do not predict the others within ``width``; empty when they do."""
        found = []
        if self.drift and abs(self.drift) > width:
            way = "longer" if self.drift > 0 else "shorter"
            found.append(
                f"iterations get {way}: if that went on, the remaining ones would take {abs(self.drift):.2%} {way}"
            )
        if abs(self.halves) > width:
            found.append(
                f"the second quarter of {self.iterations} iterations predicts the second half {abs(self.halves):.2%} "
                f"too {'long' if self.halves > 0 else 'short'}"
            )
        if self.half_width > width:
            found.append(
                f"after {self.iterations} iterations the interval of the mean iteration time is "
                f"{self.half_width:.2%} to either side"
            )
        return found


def judge(ends_s: Array, total: int, confidence: float, period: int = 1) -> Judgement:
    """Return the judgement of ``ends_s`` [replica, iteration] on the rest of ``total`` iterations.

    The number of iterations is a multiple of four periods, and at least 8.
    """
    count = ends_s.shape[1]
    if count < 8 or count % (4 * period):
        raise ValueError(f"{count} iterations are no multiple of four periods of {period}, or too few")
    half, quarter = count // 2, count // 4
    window = np.diff(ends_s, axis=1)[:, half - 1 : count - 2]
    first = (ends_s[:, half - 1] - ends_s[:, quarter - 1]) / (half - quarter)
    window = window[:, window.shape[1] % period :]
    mean = float(window.mean())
    if mean <= 0:
        return Judgement(count, mean, 0.0, 0.0, 0.0)
    blocks = window.reshape(len(window), -1, period).mean(axis=2)
    half_width, slope = _interval_and_slope(blocks, confidence)
    middle = half + window.shape[1] / 2
    drift = slope / period * ((count + total) / 2 - middle)
    return Judgement(count, mean, half_width / mean, float(first.mean()) / mean - 1, drift / mean)


def batches(blocks: Array) -> Array:
    """Return the means of consecutive, equally long batches of ``blocks`` [replica, block]; may drop first ones."""
    replicas, length = blocks.shape
    count = min(length, max(_BATCHES_OF_A_REPLICA, math.ceil(_BATCHES / replicas)))
    size = length // count
    means: Array = blocks[:, length - count * size :].reshape(replicas, count, size).mean(axis=2)
    return means


def _interval_and_slope(blocks: Array, confidence: float) -> tuple[float, float]:
    """Return the half width of the interval of the mean [s] and its slope per block [s], 0 when not significant."""
    from scipy.stats import t as student

    means = batches(blocks)
    replicas, count = means.shape
    if count < 3:
        return math.inf, 0.0
    size = blocks.shape[1] // count
    deviations = means - means.mean(axis=1, keepdims=True)
    freedom = replicas * (count - 1)
    half = float(student.ppf(0.5 + confidence / 2, freedom)) * _error_of_mean(deviations, freedom)
    place = np.arange(count) - (count - 1) / 2
    spread = replicas * float(place @ place)
    slope = float((deviations @ place).sum()) / spread
    residuals = deviations - slope * place
    error = _error_of_mean(residuals, freedom - 1) * math.sqrt(means.size / spread)
    probability = 2 * float(student.sf(abs(slope) / error, freedom - 1)) if error > 0 else 0.0
    return half, slope / size if probability < _SIGNIFICANCE else 0.0


def _error_of_mean(deviations: Array, freedom: int) -> float:
    """Return the standard error of the mean of batch means, from their deviations [replica, batch]."""
    squares = float((deviations**2).sum())
    if squares == 0:
        return 0.0
    count = deviations.shape[1]
    # The correlation of a short series is underestimated by about 1 / length (Kendall, Biometrika 41, 1954).
    correlation = float((deviations[:, 1:] * deviations[:, :-1]).sum()) / squares + 1 / count
    correlation = min(max(correlation, 0.0), 0.95)
    variance = squares / freedom / deviations.size
    return math.sqrt(variance * (1 + correlation) / (1 - correlation))
