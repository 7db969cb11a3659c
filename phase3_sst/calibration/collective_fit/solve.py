"""Fits parameters so that simulated collectives take the measured times: Gauss-Newton with a prior, by simulation.

In: a function from parameter values to the simulated times [s] of the measured points, the measured times [s], and the
parameters with their prior (value and spread of the base network). Out: a :class:`Solution`.

The cost is a sum over points of the squared error ``log(simulated / measured) / NOISE``, less for outliers (Huber),
over parameters of the squared distance from the base in spreads, and of neighbouring rates from each other. Times of
collectives are maxima of sums of the parameters, therefore piecewise linear: derivatives are forward differences over a
tenth, and a few steps suffice. Parameters stay at or above 0. The prior keeps what the data do not tell at the base's
value; ``told`` says what share of the prior's variance the data have removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from phase3_sst.calibration.collective_fit.parameters import Parameter, smoothness

Array = NDArray[np.float64]
Simulate = Callable[[Sequence[Array]], list[Array]]

# Standard error that a point is expected to have: repeatability and what the model leaves out.
NOISE = 0.05
# Errors beyond so many standard errors count linearly.
HUBER = 2.0
MOST_STEPS = 8
# A step that lowers the cost by less than this share is the last one.
_ENOUGH = 0.01
_DIFFERENCE = 0.1
_HALVINGS = 3


@dataclass(frozen=True)
class Solution:
    """Values [s or s/B], their posterior standard deviations, what the data told, simulated times [s], steps taken."""

    values: Array
    deviations: Array
    told: Array
    correlations: Array
    simulated: Array
    steps: int


def solve(simulate: Simulate, measured: Array, parameters: Sequence[Parameter]) -> Solution:
    """Return the parameters of least cost; ``simulate`` takes several vectors of values at once."""
    base = np.array([parameter.base for parameter in parameters])
    spread = np.array([parameter.spread for parameter in parameters])
    prior = np.vstack([np.eye(len(base)), smoothness(parameters)])
    values = base.copy()
    (simulated,) = simulate([values])
    steps = 0
    jacobian = _jacobian(simulate, values, spread, simulated)
    while steps < MOST_STEPS:
        weight = _weights(simulated, measured)
        distance = prior @ ((values - base) / spread)
        step = _step(jacobian, weight, _errors(simulated, measured), prior, distance, values / spread) * spread
        trials = [np.maximum(values + step / 2**halving, 0.0) for halving in range(_HALVINGS)]
        results = simulate(trials)
        costs = [
            _cost(result, measured, prior @ ((trial - base) / spread))
            for trial, result in zip(trials, results, strict=True)
        ]
        best = int(np.argmin(costs))
        before = _cost(simulated, measured, distance)
        if costs[best] >= before:
            break
        values, simulated, steps = trials[best], results[best], steps + 1
        jacobian = _jacobian(simulate, values, spread, simulated)
        if costs[best] > (1 - _ENOUGH) * before:
            break
    weighted = jacobian * np.sqrt(_weights(simulated, measured))[:, None] / NOISE
    known = prior.T @ prior
    covariance = np.linalg.inv(weighted.T @ weighted + known)
    deviation = np.sqrt(np.diag(covariance))
    told = 1 - deviation**2 / np.diag(np.linalg.inv(known))
    return Solution(values, deviation * spread, told, covariance / np.outer(deviation, deviation), simulated, steps)


def _errors(simulated: Array, measured: Array) -> Array:
    return np.asarray(np.log(simulated / measured))


def _weights(simulated: Array, measured: Array) -> Array:
    """Return the weight of each point's squared error (iteratively reweighted least squares for Huber's loss)."""
    size = np.abs(_errors(simulated, measured)) / NOISE
    return np.asarray(HUBER / np.maximum(size, HUBER))


def _cost(simulated: Array, measured: Array, distance: Array) -> float:
    size = np.abs(_errors(simulated, measured)) / NOISE
    loss = np.where(size <= HUBER, size**2, 2 * HUBER * size - HUBER**2)
    return float(loss.sum() + (distance**2).sum())


def _jacobian(simulate: Simulate, values: Array, spread: Array, simulated: Array) -> Array:
    """Return d log(simulated) / d (value / spread), a column per parameter."""
    change = np.maximum(_DIFFERENCE * values, _DIFFERENCE * spread)
    moved = simulate([values + np.eye(len(values))[index] * change[index] for index in range(len(values))])
    columns = [
        np.log(result / simulated) / (step / width) for result, step, width in zip(moved, change, spread, strict=True)
    ]
    return np.column_stack(columns)


def _step(jacobian: Array, weight: Array, errors: Array, prior: Array, distance: Array, at: Array) -> Array:
    """Return the best step in spreads, so that no value falls below 0."""
    root = np.sqrt(weight) / NOISE
    rows = np.vstack([jacobian * root[:, None], prior])
    target = np.concatenate([-errors * root, -distance])
    # Bounds must leave room: a value at 0 stays there or rises.
    return np.asarray(lsq_linear(rows, target, bounds=(-at - 1e-12, np.inf)).x)
