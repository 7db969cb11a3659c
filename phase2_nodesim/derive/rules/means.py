"""How the mean of sizes that depend on load changes with the number of ranks.

In: the mean of a distribution in each run, and the extents of the grid there. Out: expressions for the mean. A domain
that is dealt to a grid of ranks has parts whose volume, faces and edges are sums of products of ``1 / d0``, ``1 / d1``
and so on; with a border of fixed width around a part, the same holds for what it exchanges. The factors are positive
(`scipy.optimize.nnls`). Of all sums of few terms the one with the least Bayesian information criterion (Schwarz 1978)
is taken; those that are nearly as good are rivals.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Reals = NDArray[np.float64]

# Fewer runs fit any sum of two terms.
FEWEST_RUNS = 4
_MOST_TERMS = 4
# With more products than this, sums have two terms at most.
_MANY_PRODUCTS = 16
# A term that never is more than this share of the mean is none.
_NOTHING = 1e-3
# Relative: no mean of sizes is better known than this.
_FLOOR = 1e-4
# Sums that are worse by less than this are rivals; more is strong evidence against them (Kass and Raftery 1995).
_RIVAL, _MOST_RIVALS = 6.0, 4
# The largest error of a run's mean that is still a fit.
_LOOSE = 0.1


@dataclass(frozen=True)
class _Sum:
    """``terms``: the axes of each product."""

    terms: tuple[tuple[int, ...], ...]
    factors: tuple[float, ...]
    criterion: float
    worst: float  # largest relative error of a run


def means(sizes: Sequence[float], extents: Sequence[Sequence[int]], names: Sequence[str]) -> list[str]:
    """Return expressions for the mean size [bytes], the most believable first.

    Where no sum fits all runs within a tenth, the last expression is the best one with its largest error.

    Args:
        sizes: mean of each run [bytes], of at least ``FEWEST_RUNS``.
        extents: in each run, what ``names`` stand for: the extents of the grid, or the number of ranks. A name may be
            there twice: blocks that each rank has for each other one are parts of parts.
    """
    wanted = np.asarray(sizes, float)
    if np.ptp(wanted) == 0:
        return [str(round(wanted[0]))]
    axes = range(len(names))
    by_names = {
        tuple(sorted(names[axis] for axis in one)): one
        for number in range(len(names) + 1)
        for one in itertools.combinations(axes, number)
    }
    products = list(by_names.values())
    most = _MOST_TERMS if len(products) <= _MANY_PRODUCTS else 2
    table = np.array([[1 / math.prod(found[axis] for axis in one) for one in products] for found in extents])
    table /= np.maximum(wanted, wanted.max() / 100)[:, None]
    target = wanted / np.maximum(wanted, wanted.max() / 100)
    found = []
    for number in range(1, min(most, len(wanted) - 2) + 1):
        for chosen in itertools.combinations(range(len(products)), number):
            part = table[:, chosen]
            factors = nnls(part, target)[0]
            if ((part * factors).max(axis=0) > _NOTHING).all():
                errors = np.abs(part @ factors - target)
                terms = tuple(products[i] for i in chosen)
                criterion = _criterion(errors, number)
                found.append(_Sum(terms, tuple(factors.tolist()), criterion, float(errors.max())))
    found.sort(key=lambda one: one.criterion)
    near = [one for one in found if one.criterion < found[0].criterion + _RIVAL]
    texts = [_text(one, names) for one in near[: _MOST_RIVALS + 1]]
    if found[0].worst > _LOOSE:
        # As far off as at the worst run, it may be elsewhere.
        texts.append(f"({texts[0]}) * {100 + round(100 * found[0].worst)} // 100")
    return list(dict.fromkeys(texts))


def _criterion(errors: Reals, terms: int) -> float:
    runs = len(errors)
    return runs * math.log(float(np.mean(np.square(errors))) + _FLOOR**2) + terms * math.log(runs)


def _text(one: _Sum, names: Sequence[str]) -> str:
    parts = []
    for term, factor in zip(one.terms, one.factors, strict=True):
        below = " * ".join(names[axis] for axis in term)
        number = str(round(factor))
        parts.append(f"{number} // ({below})" if len(term) > 1 else f"{number} // {below}" if term else number)
    return " + ".join(parts)
