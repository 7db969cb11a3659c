"""The error of a model on a machine that was never validated, from its errors on those that were.

In: records of one component and engine (:mod:`manynode.known_errors.records`). Out: an interval of
ln(measured / predicted). The method is a hierarchical one, because records of a machine are alike:

- The groups are machines; below :data:`LEAST` of them, applications of machines. Each group counts the same, in it each
  application, in that each record: a long table does not outvote a short one.
- A new group's mean is a draw around the groups' mean: Student's t with (groups - 1) degrees of freedom, the standard
  deviation of the group means and the factor sqrt(1 + 1/groups) (the prediction interval of a normal sample).
- A new record lies around its group's mean as records of all groups do: their residuals, as they are, with no form
  assumed. Residuals of n records are widened by sqrt(n / (n - 1)), because their mean was fitted to them.

Applications of a machine need no term of their own. With m of them, a machine's mean has 1/m of the variance between
applications, and its residuals have the rest: the sum has all of it, whether m is 1 or large.

The distribution of the sum is computed on a grid of the quantiles of t, without random numbers. Nothing is fitted to
coverage; :func:`left_out` measures it: each group's records, or each application's, against the interval of all others.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode.known_errors.records import NOTHING, log_errors

# Below this number of groups the spread between them is hardly known, and no interval is given.
LEAST = 3
_GRID = 200

# All that an interval depends on.
_USED = [
    *("machine", "application", "component", "predicted_s", "measured_s"),
    *("communication_share", "doublings", "fitted_to"),
]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class KnownError:
    """Interval of ln(measured / predicted) at ``confidence``; ``level``: what the groups are, machine or application.

    ``bias`` is the mean of the groups.
    """

    bias: float
    low: float
    high: float
    confidence: float
    level: str
    groups: int
    machines: tuple[str, ...]
    records: int
    doublings: float
    """Largest distance in scale among the records."""
    fitted_to: tuple[str, ...]
    """What the models had been fitted to before; empty if to nothing."""

    @property
    def half_width(self) -> float:
        """Return half of the interval's width, as a share of the time."""
        return math.expm1((self.high - self.low) / 2)


def known_error(records: pd.DataFrame, confidence: float) -> KnownError | None:
    """Return the error to expect on a machine without a record; None if too few groups are known."""
    # A report asks for each of its points, and a server for each answer, mostly about the same records.
    return _known_error(tuple(records[_USED].itertuples(index=False, name=None)), confidence)


@functools.lru_cache(maxsize=16)
def _known_error(rows: tuple[tuple[object, ...], ...], confidence: float) -> KnownError | None:
    records = pd.DataFrame(rows, columns=_USED)
    level = level_of(records)
    if level is None:
        return None
    means, residuals, weights = _groups(records, level)
    low, high = _interval(means, residuals, weights, confidence)
    return KnownError(
        bias=float(np.mean(means)),
        low=low,
        high=high,
        confidence=confidence,
        level=level,
        groups=len(means),
        machines=tuple(sorted(records["machine"].unique())),
        records=len(records),
        doublings=float(records["doublings"].max()),
        fitted_to=tuple(sorted(set(records["fitted_to"]) - {NOTHING})),
    )


def level_of(records: pd.DataFrame) -> str | None:
    """Return what the groups are: ``machine``; ``application`` (of a machine) where machines are too few; or None."""
    if records["machine"].nunique() >= LEAST:
        return "machine"
    applications = len(records[["machine", "application"]].drop_duplicates())
    return "application" if applications >= LEAST else None


def left_out(records: pd.DataFrame, confidence: float, by: Literal["group", "application"] = "group") -> pd.DataFrame:
    """Return a row per record: its ``group``, ``error`` (log), and the interval ``low``, ``high`` of all other groups.

    With ``by`` application, an application is left out on all machines. Those without which too few groups are left
    have no row.
    """
    level = level_of(records)
    rows = []
    groups = records.groupby("application", sort=True) if by == "application" else _by_group(records, str(level))
    for group, own in [] if level is None else groups:
        others = records.drop(own.index)
        known = None if others.empty else _at_level(others, str(level), confidence)
        if known is not None:
            errors = log_errors(own)
            rows += [{"group": group, "error": float(e), "low": known[0], "high": known[1]} for e in errors]
    found = pd.DataFrame(rows, columns=["group", "error", "low", "high"])
    found["covered"] = found["error"].between(found["low"], found["high"])
    return found


def _at_level(records: pd.DataFrame, level: str, confidence: float) -> tuple[float, float] | None:
    means, residuals, weights = _groups(records, level)
    return None if len(means) < LEAST - 1 else _interval(means, residuals, weights, confidence)


def _by_group(records: pd.DataFrame, level: str) -> Iterator[tuple[str, pd.DataFrame]]:
    for key, own in records.groupby(_keys(level), sort=True):
        yield ", ".join(map(str, key)), own


def _keys(level: str) -> list[str]:
    return ["machine"] if level == "machine" else ["machine", "application"]


def _groups(records: pd.DataFrame, level: str) -> tuple[Array, Array, Array]:
    """Return the means of the groups, and the residuals of all records with their weights (sum 1)."""
    means, residuals, weights = [], [], []
    all_errors, groups = log_errors(records).to_numpy(), records.groupby(_keys(level), sort=True)
    all_applications = records["application"].to_numpy()
    for _, places in sorted(groups.indices.items()):
        errors = all_errors[places]
        _, application, counts = np.unique(all_applications[places], return_inverse=True, return_counts=True)
        # Each application of a group has the same weight, and each record of an application.
        weight = 1 / (counts[application] * len(counts))
        mean = float((errors * weight).sum())
        widened = math.sqrt(len(errors) / (len(errors) - 1)) if len(errors) > 1 else 1.0
        means.append(mean)
        residuals.append((errors - mean) * widened)
        weights.append(weight)
    return np.array(means), np.concatenate(residuals), np.concatenate(weights) / len(means)


def _interval(means: Array, residuals: Array, weights: Array, confidence: float) -> tuple[float, float]:
    from scipy.special import stdtrit  # Student's t; scipy.stats takes longer to import than all intervals of a report

    count = len(means)
    probability = (np.arange(_GRID) + 0.5) / _GRID
    between = float(np.std(means, ddof=1)) * math.sqrt(1 + 1 / count) * stdtrit(count - 1, probability)
    sums = (between[:, None] + residuals[None, :]).ravel()
    masses = np.tile(weights / _GRID, (_GRID, 1)).ravel()
    order = np.argsort(sums, kind="stable")
    reached = np.cumsum(masses[order])
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    places = np.minimum(np.searchsorted(reached, ends), len(sums) - 1)
    low, high = np.mean(means) + sums[order][places]
    return float(low), float(high)
