"""A surrogate of simulated times: a Gaussian process that says how uncertain each of its values is.

In: coordinates of simulated points (0 to 1 on each axis) and their times [s]. Out: times at other coordinates with
relative standard errors, and the error of leaving each point out. The process is one of log time, because parameters act
as factors: a kernel of Matérn 5/2 with a length per coordinate, a linear part for the trend, and a small nugget for the
draws. The formulas for leaving a point out are those of Rasmussen and Williams (*Gaussian Processes for Machine
Learning*, 2006, equations 5.10 to 5.12).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

# Bounds of the lengths, in axes: shorter than the distance of neighbours on a fine map, or practically a constant.
_LENGTHS = (0.08, 20.0)
# Bounds of the nugget, as a share of the variance of the points.
_NUGGET = (1e-8, 1e-3)
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
    """Times of one kind of point over coordinates between 0 and 1."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, places: Array, times: Array, kernel: object = None) -> Surrogate:
        """Learn from points (n, d) and their times [s]; with the ``kernel_`` of an earlier fit, keep its lengths."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from threadpoolctl import threadpool_limits

        if len(places) < FEWEST:
            raise ValueError(f"{len(places)} points are too few for a surrogate; it needs {FEWEST}")
        if not (np.isfinite(times).all() and (times > 0).all()):
            raise ValueError("times are finite and above zero")
        self.places_ = np.asarray(places, dtype=float)
        logs = np.log(np.asarray(times, dtype=float))
        self.least_, self.greatest_ = float(logs.min()), float(logs.max())
        self.mean_ = float(logs.mean())
        # Equal times leave nothing to learn; any scale does.
        self.scale_ = float(logs.std()) or 1.0
        targets = (logs - self.mean_) / self.scale_
        given = kernel if kernel is not None else _kernel(self.places_.shape[1])
        process = GaussianProcessRegressor(
            given,
            alpha=1e-10,
            optimizer=None if kernel is not None else "fmin_l_bfgs_b",
            n_restarts_optimizer=0 if kernel is not None else 3,
            random_state=self.seed,
        )
        # Many threads for matrices of twenty rows wait for each other most of the time.
        with threadpool_limits(1), warnings.catch_warnings():
            # A length at its bound is an answer: no dependence on this coordinate, or a rough one.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.process_ = process.fit(self.places_, targets)
        self.kernel_ = process.kernel_
        self._learn_deviations(logs)
        return self

    def _learn_deviations(self, logs: Array) -> None:
        covariance = self.kernel_(self.places_) + 1e-10 * np.eye(len(logs))
        inverse = np.linalg.inv(covariance)
        targets = (logs - self.mean_) / self.scale_
        variances = 1 / np.diag(inverse)
        misses = -(inverse @ targets) * variances * self.scale_
        self.left_out_ = LeaveOneOut(np.expm1(misses), misses / (np.sqrt(variances) * self.scale_))
        # The likelihood trusts a smooth surface too much where there are few points. Errors of points left out say by
        # how much; errors are never called smaller than the process says.
        self.calibration_ = max(1.0, float(np.sqrt(np.mean(self.left_out_.deviations**2))))

    def predict(self, places: Array) -> tuple[Array, Array]:
        """Return times [s] at ``places`` and their relative standard errors.

        A time beyond all simulated ones is moved back to the nearest of them, and its error is at least the distance.
        """
        means, deviations = self.process_.predict(np.asarray(places, dtype=float), return_std=True)
        logs = means * self.scale_ + self.mean_
        errors = np.expm1(deviations * self.scale_ * self.calibration_)
        kept = np.clip(logs, self.least_, self.greatest_)
        return np.exp(kept), np.maximum(errors, np.expm1(np.abs(logs - kept)))

    def covariance(self, places: Array) -> Array:
        """Return the covariance of the log times at ``places``, calibrated."""
        _, covariance = self.process_.predict(np.asarray(places, dtype=float), return_cov=True)
        return np.asarray(covariance) * (self.scale_ * self.calibration_) ** 2

    def curves(self, places: Array, count: int) -> Array:
        """Return ``count`` curves of times (count, n) that the points allow at ``places``, by chance."""
        logs = self.process_.predict(np.asarray(places, dtype=float)) * self.scale_ + self.mean_
        rng = np.random.default_rng(self.seed)
        drawn = rng.multivariate_normal(logs, self.covariance(places), size=count, method="eigh")
        return np.exp(np.clip(drawn, self.least_, self.greatest_))


def _kernel(dimensions: int) -> object:
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel

    smooth = ConstantKernel(1.0, (1e-3, 1e3)) * Matern([0.5] * dimensions, _LENGTHS, nu=2.5)
    trend = ConstantKernel(0.1, (1e-5, 1e2)) * DotProduct(1.0, (1e-2, 1e2))
    return smooth + trend + WhiteKernel(1e-5, _NUGGET)
