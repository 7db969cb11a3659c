"""The trend of times over parameters: a sum of costs, each of which grows or falls with the parameters.

In: coordinates (0 to 1) of points and their times [s]. Out: times at other coordinates. A cost is constant,
proportional to a parameter (latency), inversely proportional (bandwidth), or grows or falls with its logarithm (nodes);
or a product of these over the axes. No cost is negative: the amounts are a least squares fit of the relative errors
without negative amounts (Lawson and Hanson, *Solving Least Squares Problems*, 1974), which keeps few of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray


class CostTrend:
    """A sum of costs over coordinates; ``spans`` are the logarithms of high over low of each, 0 for a linear axis."""

    def __init__(self, spans: Sequence[float]) -> None:
        self.spans = spans

    def fit(self, places: Array, times: Array) -> CostTrend:
        """Learn the amounts from points (n, d) and their times [s]."""
        from scipy.optimize import nnls

        self.amounts_, _ = nnls(self._costs(places) / times[:, None], np.ones(len(times)))
        return self

    def predict(self, places: Array) -> Array:
        """Return times [s], all above zero."""
        return np.asarray(self._costs(places) @ self.amounts_)

    def _costs(self, places: Array) -> Array:
        """Return the costs of a unit amount (n, costs), each between 0 and 1 over the axes."""
        costs = np.ones((len(places), 1))
        for column, span in zip(np.asarray(places, dtype=float).T, self.spans, strict=True):
            shapes = [np.ones_like(column), column, 1 - column]
            if span:
                shapes += [np.exp(span * (column - 1)), np.exp(-span * column)]
            costs = np.hstack([costs * shape[:, None] for shape in shapes])
        return costs
