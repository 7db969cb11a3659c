"""Which cell of a map to simulate next.

In: coordinates of the cells, which of them are simulated or on their way, a surrogate. Out: the number of a cell. The
first cells spread over the map. Later ones are those that would lower the variance of the whole map most (Cohn,
*Neural Network Exploration Using Optimal Experiment Design*, 1996): a variance counts more where the surrogate missed
the nearest simulated point. The stated variance alone does not see a kink.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from phase3_sst.explore.axis import Axis
from phase3_sst.explore.surrogate import Surrogate

Array = np.ndarray


def places(x: Axis, y: Axis) -> Array:
    """Return the coordinates of the cells, row by row: a row has one value of ``y``."""
    across, up = _columns(x), _columns(y)
    return np.array([np.concatenate([one, other]) for other in up for one in across])


def spans(x: Axis, y: Axis) -> list[float]:
    """Return the logarithm of high over low for each coordinate of a cell; 0 where the axis is linear or a choice."""
    return [*_spans(x), *_spans(y)]


def _spans(axis: Axis) -> list[float]:
    if not axis.ordered:
        return [0.0] * len(axis.written)
    low, high = axis.ends()
    return [math.log(high / low) if axis.scale == "log" else 0.0]


def _columns(axis: Axis) -> Array:
    if axis.ordered:
        return np.array([[axis.coordinate(axis.number(value))] for value in axis.written])
    # Any two choices are one unit apart.
    return np.asarray(np.eye(len(axis.written)) / np.sqrt(2))


def spread(cells: Array, allowed: Collection[int], taken: Collection[int], count: int) -> list[int]:
    """Return ``count`` cells among ``allowed``: the outermost ones, then each time the one farthest from all others."""
    free = [cell for cell in allowed if cell not in taken]
    found: list[int] = []
    middle = (cells.max(axis=0) + cells.min(axis=0)) / 2
    while free and len(found) < count:
        others = [*taken, *found]
        if others:
            distances = [float(np.linalg.norm(cells[others] - cells[cell], axis=1).min()) for cell in free]
        else:
            distances = [float(np.linalg.norm(cells[cell] - middle)) for cell in free]
        # Rounded: equal distances are decided by the order of the cells, on every host.
        found.append(free.pop(int(np.argmax(np.round(distances, 9)))))
    return found


def corners(rows: int, columns: int, allowed: Collection[int]) -> list[int]:
    """Return the four corners as far as they are allowed."""
    last = (rows - 1) * columns
    return [cell for cell in dict.fromkeys((0, columns - 1, last, last + columns - 1)) if cell in allowed]


def most_helpful(
    surrogate: Surrogate, cells: Array, simulated: Sequence[int], pending: Sequence[int], free: Sequence[int]
) -> int:
    """Return the free cell that helps most; ``simulated`` are the surrogate's points in their order."""
    covariance = surrogate.covariance(cells)
    for cell in pending:
        # The variance after a point does not depend on its time.
        covariance = covariance - np.outer(covariance[cell], covariance[cell]) / max(covariance[cell, cell], 1e-300)
    misses = np.abs(surrogate.left_out_.errors)
    typical = max(surrogate.left_out_.error, 1e-300)
    nearest = np.linalg.norm(cells[:, None, :] - cells[list(simulated)][None, :, :], axis=2).argmin(axis=1)
    weights = 1 + (misses[nearest] / typical) ** 2
    variances = np.clip(np.diag(covariance), 1e-300, None)
    lowered = (weights[:, None] * covariance**2).sum(axis=0) / variances
    return max(free, key=lambda cell: (lowered[cell], -cell))
