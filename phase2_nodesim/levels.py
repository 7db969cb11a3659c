"""What the ranks of a class have in common at an execution -> a sequence of levels that all of them replay.

In: times, one row for each rank and one column for each execution. Out: the level of each execution, or none.

An execution may take long on all ranks: another octant of a sweep, more work in a part of the problem, caches that an
earlier phase has emptied. Draws for each rank by itself would bring such times at other places on each rank, and the
others wait for each of them. The test for a common order is Friedman's, which looks at the order of the times alone, so
that a few very long ones prove nothing. How much is common says the analysis of variance (times = execution + rank +
rest). The means of the executions over the ranks are then cut into a few levels. What is left within a level is drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from phase2_nodesim.distributions import Labels, Times
from phase2_nodesim.parameters import FitParameters


@dataclass(frozen=True)
class Common:
    """Variance of an execution's times [s^2] that all ranks have in common, and of the rest of it (not of ranks)."""

    common_s2: float
    rest_s2: float

    @property
    def share(self) -> float:
        """Return the common share of both."""
        total = self.common_s2 + self.rest_s2
        return self.common_s2 / total if total > 0 else 0.0


def common_variance(table: Times) -> Common:
    """Return the variance components of ``table`` by its mean squares (two ways, no repetition)."""
    ranks, executions = table.shape
    of_execution = table.mean(axis=0) - table.mean()
    rest = table - table.mean(axis=1, keepdims=True) - of_execution
    rest_s2 = float((rest**2).sum()) / ((ranks - 1) * (executions - 1))
    square = ranks * float((of_execution**2).sum()) / (executions - 1)
    return Common(max(0.0, (square - rest_s2) / ranks), rest_s2)


def in_common_order(table: Times, significance: float) -> bool:
    """Return whether executions have an order that is common to the ranks (Friedman's test, as Iman and Davenport)."""
    from scipy.stats import f, rankdata

    ranks, executions = table.shape
    # Even one and the same order on all ranks is no rare chance where there are few.
    if (ranks - 1) * math.lgamma(executions + 1) < -math.log(significance):
        return False
    order = rankdata(table, axis=1)
    # Equal times share a place; the places' own variance takes that into account.
    variance = order.var(axis=1, ddof=1).mean()
    if variance == 0:
        return False
    chi2 = float(((order.mean(axis=0) - (executions + 1) / 2) ** 2).sum()) * ranks / float(variance)
    most = ranks * (executions - 1)
    if chi2 >= most:
        return True
    statistic = (ranks - 1) * chi2 / (most - chi2)
    return bool(f.sf(statistic, executions - 1, (ranks - 1) * (executions - 1)) < significance)


def common_levels(table: Times, parameters: FitParameters) -> Labels | None:
    """Return the level of each execution (column), 0 the longest; None where the ranks have too little in common."""
    ranks, executions = table.shape
    if ranks < 2 or not 3 <= executions <= parameters.max_sequence or parameters.max_levels < 2:
        return None
    known = common_variance(table)
    if known.share < parameters.least_common or not in_common_order(table, parameters.significance):
        return None
    means = table.mean(axis=0)
    for count in range(2, parameters.max_levels + 1):
        labels = _cut(means, count)
        left = means - by_level(means, labels)
        within_s2 = float((left**2).sum()) / max(1, executions - count)
        # The means themselves are known as well as the rest lets them.
        if within_s2 - known.rest_s2 / ranks <= parameters.left_common * known.common_s2:
            break
    return labels


def by_level(means: Times, labels: Labels) -> Times:
    """Return for each execution's time the mean over the executions of its level or cluster."""
    return np.asarray((np.bincount(labels, means) / np.bincount(labels))[labels])


def _cut(means: Times, count: int) -> Labels:
    """Return which of ``count`` intervals each mean is in, the longest first: those of a regression tree."""
    from sklearn.tree import DecisionTreeRegressor

    # A tree takes features that differ by less than 1e-7 for one: seconds are too long a unit.
    scaled = means / means.max()
    column = scaled.reshape(-1, 1)
    fitted = DecisionTreeRegressor(max_leaf_nodes=count, random_state=0).fit(column, scaled).predict(column)
    return np.asarray(np.unique(-fitted, return_inverse=True)[1], dtype=np.int64)
