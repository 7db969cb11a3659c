"""The run-to-run noise of the features: repetitions of the same job in, one relative value per feature out.

The noise is the residual of the logarithms after subtracting the mean of each rank and the mean of each repetition,
pooled over all job sizes. The latter is subtracted because a run that is slower as a whole does not distinguish ranks.
The upper confidence limit of the noise counts, because it is estimated from few values. It is never below the stated
floor; with one repetition it equals the floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from phase1_profile.features import FEATURES
from phase1_profile.parameters import ClassifyParameters

CONFIDENCE = 0.9
# Exact counts and a floor of zero: what rounding alone makes of equal counts is still no difference.
SMALLEST = 1e-6


@dataclass(frozen=True)
class Noise:
    """Relative noise (0.01 is 1 %) per feature.

    ``used``: what the classification compares with; ``measured``: the pooled standard deviation, None without
    repetitions; ``floor``: the stated lower bound; ``degrees_of_freedom`` and ``repetitions`` (the smallest number of
    any job size).
    """

    used: dict[str, float]
    measured: dict[str, float | None]
    floor: dict[str, float]
    degrees_of_freedom: int
    repetitions: int

    def as_dict(self) -> dict[str, object]:
        """Return the record for a rank-classes file."""
        return {
            "relative": self.used,
            "measured": self.measured,
            "floor": self.floor,
            "degrees_of_freedom": self.degrees_of_freedom,
            "repetitions": self.repetitions,
            "description": self.describe(),
        }

    def describe(self) -> str:
        """Return one sentence for the report."""
        if self.degrees_of_freedom == 0:
            return "one run of each job: the noise is not measured, the stated floor is used"
        return (
            f"measured from repetitions ({self.degrees_of_freedom} degrees of freedom, upper {CONFIDENCE:.0%} limit), "
            "never below the stated floor"
        )


def estimate_noise(logs: Mapping[int, np.ndarray], names: Sequence[str], parameters: ClassifyParameters) -> Noise:
    """Return the noise of the features ``names`` in ``logs`` (job size -> repetitions x ranks x features)."""
    squares = np.zeros(len(names))
    freedom = 0
    for values in logs.values():
        repetitions, ranks, _ = values.shape
        if repetitions < 2 or ranks < 2:
            continue
        rest = values - values.mean(axis=0, keepdims=True)
        rest = rest - rest.mean(axis=1, keepdims=True)
        squares += np.sum(rest**2, axis=(0, 1))
        freedom += (repetitions - 1) * (ranks - 1)
    floor = {
        name: max(SMALLEST, parameters.timing_noise_floor if FEATURES[name].timing else parameters.noise_floor)
        for name in names
    }
    fewest = min((values.shape[0] for values in logs.values()), default=0)
    if freedom == 0:
        return Noise(dict(floor), dict.fromkeys(names), floor, 0, fewest)
    deviation = np.sqrt(squares / freedom)
    # (n-1) s^2 / sigma^2 is chi-squared distributed: the textbook one-sided limit of a standard deviation.
    factor = float(np.sqrt(freedom / stats.chi2.ppf(1 - CONFIDENCE, freedom)))
    measured = {name: float(value) for name, value in zip(names, deviation, strict=True)}
    used = {name: max(floor[name], factor * measured[name]) for name in names}
    return Noise(used, dict(measured), floor, freedom, fewest)


def standardise(values: np.ndarray, noise: Noise, names: Sequence[str]) -> np.ndarray:
    """Return the ranks of one job in units of the noise (ranks x features), the mean over its repetitions."""
    return np.asarray(values.mean(axis=0) / np.array([noise.used[name] for name in names]))
