"""Times above a threshold -> a generalised Pareto distribution of times beyond the samples, with its goodness of fit.

Excesses over a high threshold tend to this distribution, whatever the distribution of the times (Balkema and de Haan
1974, Pickands 1975). Shape and scale come from probability-weighted moments (Hosking and Wallis, *Technometrics* 29,
1987). These need fewer samples than maximum likelihood and exist below a shape of 1/2; the shape is kept below that,
and such that the longest sample is possible. Goodness of fit is the Anderson-Darling statistic, which emphasises the
tail. Its p-value comes from samples of the fitted distribution that are fitted themselves (Stute, Gonzalez-Manteiga,
Presedo-Quindimil 1993). Fits above other thresholds show whether the shape depends on the choice of the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manynode.timing_profile import Tail, TailFit
from phase2_nodesim.distributions import Distribution, Times

# From a shape of 1/2 on, the variance of a generalised Pareto distribution is infinite and its moments say little; at
# -1 it is uniform.
_HEAVIEST, _LIGHTEST = 0.5, -0.99
_RESAMPLES = 199
# Shares of the times above the threshold's that other thresholds leave above them.
_OTHERS = (2.0, 0.5)
_MOST = 20_000


@dataclass(frozen=True)
class Pareto:
    """Scale [s] and shape of one or several distributions of excesses."""

    scale_s: Times
    shape: Times

    def cdf(self, excesses_s: Times) -> Times:
        """Return the share of excesses below ``excesses_s`` [distribution, excess]."""
        scale, shape = self.scale_s[:, None], self.shape[:, None]
        flat = np.abs(shape) < 1e-9
        safe = np.where(flat, 1.0, shape)
        with np.errstate(divide="ignore"):
            curved = -np.log1p(np.maximum(safe * excesses_s / scale, -1.0)) / safe
        return np.asarray(-np.expm1(np.where(flat, -excesses_s / scale, curved)))

    def quantile(self, probability: Times) -> Times:
        """Return the excesses [s] that shares ``probability`` do not exceed [distribution, probability]."""
        scale, shape = self.scale_s[:, None], self.shape[:, None]
        flat = np.abs(shape) < 1e-9
        safe = np.where(flat, 1.0, shape)
        steps = -np.log1p(-probability)
        return np.asarray(scale * np.where(flat, steps, np.expm1(safe * steps) / safe))


def fit_excesses(excesses_s: Times) -> Pareto:
    """Return the fits of rows of sorted ``excesses_s`` [sample, excess], by probability-weighted moments."""
    n = excesses_s.shape[1]
    mean = excesses_s.mean(axis=1)
    weights = (n - 1 - np.arange(n)) / (n - 1)
    moment = (excesses_s * weights).mean(axis=1)
    # 2 moment is the mean of the smaller of two: equal to the mean only where all are equal.
    shape = 2 - mean / np.maximum(mean - 2 * moment, 1e-300)
    shape = np.clip(shape, _LIGHTEST, _HEAVIEST)
    # A negative shape has a longest time, -scale / shape, with scale = mean (1 - shape).
    longest = excesses_s[:, -1]
    possible = np.where(longest > mean, -mean / np.maximum(longest - mean, 1e-300), _LIGHTEST)
    shape = np.where(shape < 0, np.maximum(shape, np.minimum(possible * (1 - 1e-6), 0.0)), shape)
    return Pareto(mean * (1 - shape), shape)


def anderson_darling(excesses_s: Times, fitted: Pareto) -> Times:
    """Return the Anderson-Darling statistics of rows of sorted excesses."""
    n = excesses_s.shape[1]
    u = np.clip(fitted.cdf(excesses_s), 1e-15, 1 - 1e-15)
    weights = (2 * np.arange(1, n + 1) - 1) / n
    return np.asarray(-n - ((np.log(u) + np.log1p(-u[:, ::-1])) * weights).sum(axis=1))


def fit_tail(
    times_s: Times, distribution: Distribution, threshold: float, min_exceedances: int, resamples: int = _RESAMPLES
) -> Tail | None:
    """Return the tail of ``times_s`` [s] above the quantile ``threshold`` of their distribution.

    None where fewer than ``min_exceedances`` times, or only equal ones, lie above it. ``resamples`` are for the
    p-value; it is 1 without any.
    """
    fitted = _above(times_s, distribution, threshold, min_exceedances)
    if fitted is None:
        return None
    level, excesses, tail = fitted
    rng = np.random.default_rng(0)
    statistic = float(anderson_darling(excesses[None, :], tail)[0])
    size = min(excesses.size, _MOST)
    drawn = np.sort(tail.quantile(rng.random((resamples, size))), axis=1)
    simulated = anderson_darling(drawn, fit_excesses(drawn))
    others = [1 - share * (1 - threshold) for share in _OTHERS]
    return Tail(
        model="generalised-pareto",
        threshold_s=level,
        anderson_darling=statistic,
        p_value=(1 + int((simulated >= statistic).sum())) / (1 + resamples),
        others=[fit for other in others if (fit := _fit_at(times_s, distribution, other, min_exceedances)) is not None],
        **_fields(threshold, excesses, tail),
    )


def _above(
    times_s: Times, distribution: Distribution, threshold: float, least: int
) -> tuple[float, Times, Pareto] | None:
    """Return the threshold's time, the sorted excesses over it, and their fit."""
    level = float(np.interp(threshold, distribution.probability, distribution.time_s))
    excesses = np.sort(times_s[times_s > level]) - level
    if excesses.size < max(least, 3) or excesses[0] == excesses[-1]:
        return None
    return level, excesses, fit_excesses(excesses[None, :])


def _fit_at(times_s: Times, distribution: Distribution, threshold: float, least: int) -> TailFit | None:
    if threshold < 0:
        return None
    fitted = _above(times_s, distribution, threshold, least)
    return None if fitted is None else TailFit(**_fields(threshold, fitted[1], fitted[2]))


def _fields(threshold: float, excesses: Times, tail: Pareto) -> dict[str, Any]:
    return {
        "probability": threshold,
        "exceedances": int(excesses.size),
        "scale_s": float(tail.scale_s[0]),
        "shape": float(tail.shape[0]),
    }
