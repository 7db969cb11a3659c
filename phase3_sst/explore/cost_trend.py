"""The trend of times over parameters: a sum of costs, each of which grows or falls with one parameter.

In: coordinates (0 to 1) of points and their times [s]. Out: times at other coordinates. A cost is constant,
proportional to a parameter (latency) or inversely proportional to it (bandwidth); on a linear axis it grows or falls
evenly. No cost is negative: the amounts are a least squares fit of the relative errors without negative amounts (Lawson
and Hanson, *Solving Least Squares Problems*, 1974). Costs that do not add up are left to the process around the trend.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray

# Weight of the amounts (as shares of a typical time) beside the relative errors: few points do not tell costs apart,
# and large amounts that cancel each other nowhere but there would mislead beyond the points.
_RIDGE = 0.1


class CostTrend:
    """A sum of costs over coordinates; ``spans`` are the logarithms of high over low of each, 0 for a linear axis."""

    def __init__(self, spans: Sequence[float]) -> None:
        self.spans = spans

    def fit(self, places: Array, times: Array) -> CostTrend:
        """Learn the amounts from points (n, d) and their times [s]."""
        from scipy.optimize import nnls

        costs = self._costs(places) / times[:, None]
        held = np.full(costs.shape[1], _RIDGE / float(np.median(times)))
        held[0] = 0  # the constant cost is free
        self.least_ = float(times.min()) / 2
        wanted = np.concatenate([np.ones(len(times)), np.zeros(len(held))])
        self.amounts_, _ = nnls(np.vstack([costs, np.diag(held)]), wanted)
        return self

    def predict(self, places: Array) -> Array:
        """Return times [s], all above zero."""
        # Without a constant cost, the sum can vanish at one end of a linear axis.
        return np.asarray(np.maximum(self._costs(places) @ self.amounts_, self.least_))

    def _costs(self, places: Array) -> Array:
        """Return the costs of a unit amount (n, costs), each between 0 and 1 over the axes."""
        columns = np.asarray(places, dtype=float).T
        costs = [np.ones(len(places))]
        for column, span in zip(columns, self.spans, strict=True):
            costs += [np.exp(span * (column - 1)), np.exp(-span * column)] if span else [column, 1 - column]
        return np.stack(costs, axis=1)
