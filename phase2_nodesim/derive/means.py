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

from manynode.errors import InputError

Reals = NDArray[np.float64]

# Fewer runs fit any sum of two terms.
FEWEST_RUNS = 4
_MOST_TERMS = 4
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


def means(sizes: Sequence[float], extents: Sequence[Sequence[int]], names: Sequence[str], where: str) -> list[str]:
    """Return expressions for the mean size [bytes], the most believable first.

    Args:
        sizes: mean of each run [bytes], of at least ``FEWEST_RUNS``.
        extents: in each run, what ``names`` stand for: the extents of the grid, or the number of ranks.
        where: what the messages are, for errors.

    Raises:
        InputError: no sum fits all runs within a tenth.
    """
    wanted = np.asarray(sizes, float)
    if np.ptp(wanted) == 0:
        return [str(round(wanted[0]))]
    products = [one for number in range(len(names) + 1) for one in itertools.combinations(range(len(names)), number)]
    table = np.array([[1 / math.prod(found[axis] for axis in one) for one in products] for found in extents])
    table /= np.maximum(wanted, wanted.max() / 100)[:, None]
    target = wanted / np.maximum(wanted, wanted.max() / 100)
    found = []
    for number in range(1, min(_MOST_TERMS, len(wanted) - 2) + 1):
        for chosen in itertools.combinations(range(len(products)), number):
            part = table[:, chosen]
            factors = nnls(part, target)[0]
            if ((part * factors).max(axis=0) > _NOTHING).all():
                errors = np.abs(part @ factors - target)
                terms = tuple(products[i] for i in chosen)
                criterion = _criterion(errors, number)
                found.append(_Sum(terms, tuple(factors.tolist()), criterion, float(errors.max())))
    found.sort(key=lambda one: one.criterion)
    if not found or found[0].worst > _LOOSE:
        raise InputError(
            "sizes that depend on load follow no rule of the number of ranks",
            where=where,
            found=", ".join(f"{size:.0f}" for size in sizes),
            allowed="a sum of products of 1 / extent, within 10 %",
            remedy="replay a recording at its number of ranks, or write the skeleton by hand",
        )
    near = [one for one in found if one.criterion < found[0].criterion + _RIVAL]
    return list(dict.fromkeys(_text(one, names) for one in near[: _MOST_RIVALS + 1]))


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
