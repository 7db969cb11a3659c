"""Compares the makespans of two engines, with an interval of their difference.

In: the makespans [s] of job 0, replica by replica. Both engines draw the same compute times for a replica, so the
replicas are paired: common effects of the draws do not widen the interval of the difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

RESAMPLES = 9999
# Ratios that differ by less than this are equal except for rounding.
_SAME = 1e-12


@dataclass(frozen=True)
class Difference:
    """Mean makespans [s] of an engine and of the reference, (mean - reference) / reference and its interval.

    The interval is NaN with a single replica.
    """

    replicas: int
    time_s: float
    reference_s: float
    difference: float
    low: float
    high: float


def difference(
    times_s: Mapping[int, float], references_s: Mapping[int, float], confidence: float, rng: np.random.Generator
) -> Difference:
    """Return the difference of the makespans (by replica); replicas that only one engine has are an error.

    The interval is a paired bootstrap of the ratio of means, bias-corrected and accelerated (Efron 1987).
    """
    if times_s.keys() != references_s.keys():
        raise ValueError(f"replicas differ: {sorted(times_s)} and {sorted(references_s)}")
    replicas = sorted(times_s)
    times = np.array([times_s[replica] for replica in replicas])
    references = np.array([references_s[replica] for replica in replicas])
    value = relative_difference(float(times.mean()), float(references.mean()))
    low, high = _interval(times, references, value, confidence, rng)
    return Difference(len(replicas), float(times.mean()), float(references.mean()), value, low, high)


def relative_difference(value: float, reference: float) -> float:
    """Return (value - reference) / reference; 0 where both are 0, infinite where only the reference is."""
    if reference == 0:
        return 0.0 if value == 0 else math.inf
    return value / reference - 1


def _interval(
    times: np.ndarray, references: np.ndarray, value: float, confidence: float, rng: np.random.Generator
) -> tuple[float, float]:
    if len(times) < 2:
        return math.nan, math.nan
    if not references.all():
        return value, value
    ratios = times / references
    if np.ptp(ratios) <= _SAME * ratios.max():
        return value, value
    from scipy.stats import bootstrap

    def ratio_of_means(sample: np.ndarray, reference: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(sample.mean(axis=axis) / reference.mean(axis=axis) - 1)

    found = bootstrap(
        (times, references), ratio_of_means, paired=True, vectorized=True, confidence_level=confidence,
        n_resamples=RESAMPLES, method="BCa", rng=rng,
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)
