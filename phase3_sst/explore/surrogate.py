"""A surrogate of simulated times: a Gaussian process that says how uncertain each of its values is.

In: coordinates of simulated points (0 to 1 on each axis) and their times [s]. Out: times at other coordinates with
relative standard errors, and the error of leaving each point out. The process is one of the logarithm of time over a
trend (:mod:`phase3_sst.explore.cost_trend`): parameters act as factors, and the trend knows how costs add up. Its
kernel is Matérn 5/2 with a length per coordinate, and a small nugget for the draws.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from phase3_sst.explore.cost_trend import CostTrend

Array = np.ndarray

# Bounds of the lengths, in axes: shorter than the distance of neighbours on a fine map, or practically a constant.
_LENGTHS = (0.08, 20.0)
# Bounds of the nugget, as a share of the variance of the points around their trend.
_NUGGET = (1e-8, 1.0)
_JITTER = 1e-10
# No surface is known better than this, however well a trend fits the points.
_SMALLEST = 2e-3
# Fewer points do not tell a length from another one.
FEWEST = 4


@dataclass(frozen=True)
class LeaveOneOut:
    """What the surrogate says of each simulated point without knowing it."""

    errors: Array  # (predicted - simulated) / simulated
    deviations: Array  # errors of log time over the stated standard errors

    @property
    def error(self) -> float:
        """Return the root mean square of the relative errors."""
        return float(np.sqrt(np.mean(self.errors**2)))

    @property
    def worst(self) -> float:
        """Return the largest relative error."""
        return float(np.abs(self.errors).max())


class Surrogate:
    """Times over coordinates between 0 and 1; ``spans`` as in :class:`CostTrend`."""

    def __init__(self, spans: Sequence[float], seed: int = 0) -> None:
        self.spans = spans
        self.seed = seed

    def fit(self, places: Array, times: Array, kernel: object = None) -> Surrogate:
        """Learn from points (n, d) and their times [s]; with the ``kernel_`` of an earlier fit, keep its lengths."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor

        if len(places) < FEWEST:
            raise ValueError(f"{len(places)} points are too few for a surrogate; it needs {FEWEST}")
        times = np.asarray(times, dtype=float)
        if not (np.isfinite(times).all() and (times > 0).all()):
            raise ValueError("times are finite and above zero")
        self.places_, self.times_, self.logs_ = np.asarray(places, dtype=float), times, np.log(times)
        self.trend_ = CostTrend(self.spans).fit(self.places_, times)
        rest = self.logs_ - np.log(self.trend_.predict(self.places_))
        self.mean_ = float(rest.mean())
        self.scale_ = max(float(rest.std()), _SMALLEST)
        process = GaussianProcessRegressor(
            kernel if kernel is not None else _kernel(self.places_.shape[1]),
            alpha=_JITTER,
            optimizer=None if kernel is not None else "fmin_l_bfgs_b",
            n_restarts_optimizer=0 if kernel is not None else 2,
            random_state=self.seed,
        )
        with _one_thread(), warnings.catch_warnings():
            # A length at its bound is an answer: no dependence on this coordinate, or a rough one.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.process_ = process.fit(self.places_, (rest - self.mean_) / self.scale_)
            self.kernel_ = process.kernel_
            self.left_out_ = self._leave_each_out()
        # The likelihood trusts a smooth surface too much where there are few points. Errors of points left out say by
        # how much; errors are never called smaller than the process says.
        self.calibration_ = max(1.0, float(np.sqrt(np.mean(self.left_out_.deviations**2))))
        return self

    def _leave_each_out(self) -> LeaveOneOut:
        """Predict each point from the others: with their trend, and the kernel of all points.

        The variance of a point left out is the inverse of the diagonal element of the inverse covariance (Rasmussen and
        Williams, *Gaussian Processes for Machine Learning*, 2006, equation 5.12).
        """
        covariance = self.kernel_(self.places_) + _JITTER * np.eye(len(self.logs_))
        deviations = np.sqrt(1 / np.diag(np.linalg.inv(covariance))) * self.scale_
        misses = np.empty(len(self.logs_))
        for point in range(len(self.logs_)):
            others = np.arange(len(self.logs_)) != point
            trend = CostTrend(self.spans).fit(self.places_[others], np.exp(self.logs_[others]))
            rest = self.logs_[others] - np.log(trend.predict(self.places_[others]))
            weights = np.linalg.solve(covariance[np.ix_(others, others)], covariance[others, point])
            expected = rest.mean() + weights @ (rest - rest.mean())
            misses[point] = expected + np.log(trend.predict(self.places_[[point]])[0]) - self.logs_[point]
        return LeaveOneOut(np.expm1(misses), misses / deviations)

    def predict(self, places: Array) -> tuple[Array, Array]:
        """Return times [s] at ``places`` and their relative standard errors.

        A time beyond all simulated ones is moved back to the nearest of them, and its error is at least the distance.
        """
        with _one_thread():
            rest, deviations = self.process_.predict(np.asarray(places, dtype=float), return_std=True)
        logs = self._logs(places, rest)
        errors = np.expm1(deviations * self.scale_ * self.calibration_)
        kept = np.clip(logs, self.logs_.min(), self.logs_.max())
        return self._kept(logs), np.maximum(errors, np.expm1(np.abs(logs - kept)))

    def covariance(self, places: Array) -> Array:
        """Return the covariance of the log times at ``places``, calibrated."""
        with _one_thread():
            _, covariance = self.process_.predict(np.asarray(places, dtype=float), return_cov=True)
        return np.asarray(covariance) * (self.scale_ * self.calibration_) ** 2

    def curves(self, places: Array, count: int) -> Array:
        """Return ``count`` curves of times (count, n) that the points allow at ``places``, by chance."""
        rng = np.random.default_rng(self.seed)
        with _one_thread():
            rest, covariance = self.process_.predict(np.asarray(places, dtype=float)), self.covariance(places)
            drawn = rng.multivariate_normal(self._logs(places, rest), covariance, size=count, method="eigh")
        return self._kept(drawn)

    def _kept(self, logs: Array) -> Array:
        """Return times that are not beyond all simulated ones."""
        return np.asarray(np.clip(np.exp(logs), self.times_.min(), self.times_.max()))

    def _logs(self, places: Array, rest: Array) -> Array:
        """Return log times: what the process says is left (``rest``), and the trend."""
        return np.asarray(rest * self.scale_ + self.mean_ + np.log(self.trend_.predict(places)))


@functools.cache
def _threads() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[Any]:
    """Keep matrices of twenty rows on one thread: many threads wait for each other most of the time."""
    limited: AbstractContextManager[Any] = _threads().limit(limits=1)
    return limited


def _kernel(dimensions: int) -> object:
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    return ConstantKernel(1.0, (1e-2, 1e3)) * Matern([0.5] * dimensions, _LENGTHS, nu=2.5) + WhiteKernel(1e-3, _NUGGET)
