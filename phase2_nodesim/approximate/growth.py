"""How a mean over the ranks follows the number of ranks.

In: the mean in recorded runs. Out: a :class:`~manynode.derived.skeleton_model.Growth`, constant + scale x family. The
families are what domains that ranks divide have: neighbours across faces, or across faces, edges and corners, of a grid
with the least surface, the same on all levels of a multigrid, faces of a problem that the ranks divide, levels of a
tree, shifts along the side of a square. Of all of them, with and without a constant, the one with the least information
criterion for small samples is taken (AICc; Hurvich and Tsai 1989). The same formulas are in
``skeletons/recorded/lift.cpp``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from scipy.optimize import nnls

from manynode.derived.grids import extents
from manynode.derived.skeleton_model import Family, Growth

_MOST_DIMENSIONS = 3
# Relative: no growth is better known than this.
_FLOOR = 1e-2
_FEWEST = 3
_SMALLEST = 4


def _faces(sides: Sequence[int], _ranks: int) -> float:
    return sum(2 * (1 - 1 / side) for side in sides)


def _boxes(sides: Sequence[int], _ranks: int) -> float:
    return math.prod(3 - 2 / side for side in sides) - 1


def _level_boxes(sides: Sequence[int], ranks: int) -> float:
    return _boxes(sides, ranks) * (1 + math.log2(ranks))


def _torus(sides: Sequence[int], _ranks: int) -> float:
    return sum(2.0 for side in sides if side > 1)  # else the neighbour is the rank itself


def _most_faces(sides: Sequence[int], _ranks: int) -> float:
    return float(sum(min(side - 1, 2) for side in sides))


def _most_boxes(sides: Sequence[int], _ranks: int) -> float:
    return math.prod(min(side, 3) for side in sides) - 1.0


def _most_level_boxes(sides: Sequence[int], ranks: int) -> float:
    return _most_boxes(sides, ranks) * (1 + math.log2(ranks))


_OF_RANKS: Mapping[Family, Callable[[int], float]] = {
    "constant": lambda _ranks: 1.0,
    "ranks": lambda ranks: ranks - 1.0,
    "levels": lambda ranks: math.log2(ranks),
    "side": lambda ranks: math.sqrt(ranks),
    "share": lambda ranks: 1 / ranks,
}
_OF_GRIDS: Mapping[Family, Callable[[Sequence[int], int], float]] = {
    "faces": _faces,
    "boxes": _boxes,
    "level-boxes": _level_boxes,
    "torus": _torus,
}
_DIVIDED: Final[tuple[Family, ...]] = ("divided-faces", "divided-torus")
# Widths of a halo as a share of the whole problem's extent: none, then 1/1,024 to 1/4.
_WIDTHS: Final = (0.0, *np.geomspace(2**-10, 2**-2, 65).tolist())
_OF_PEAKS: Mapping[Family, Callable[[Sequence[int], int], float]] = {
    "torus": _torus,
    "most-faces": _most_faces,
    "most-boxes": _most_boxes,
    "most-level-boxes": _most_level_boxes,
}


def at(growth: Growth, ranks: int) -> float:
    """Return the mean at a number of ranks."""
    return growth.constant + growth.scale * _family(growth.family, growth.dimensions, growth.width, ranks)


def _family(name: Family, dimensions: int, width: float, ranks: int) -> float:
    if name in _OF_RANKS:
        return _OF_RANKS[name](ranks)
    sides = extents("least-surface", ranks, dimensions, "descending", "first")
    if name in _DIVIDED:
        return _halo(sides, width, around=name == "divided-torus") / ranks
    return {**_OF_GRIDS, **_OF_PEAKS}[name](sides, ranks)


def _halo(sides: Sequence[int], width: float, *, around: bool) -> float:
    """Return the volume of the halos of all parts, divided by their width; the faces for width 0.

    The problem has the volume 1. Halos include edges and corners.
    """
    neighbours = [2.0 * (side > 1) if around else 2 * (1 - 1 / side) for side in sides]
    if width == 0:
        return sum(number * side for number, side in zip(neighbours, sides, strict=True))
    return (math.prod(1 + width * n * side for n, side in zip(neighbours, sides, strict=True)) - 1) / width


def growth_of(means: Mapping[int, float], base: int, *, peaks: bool = False) -> Growth:
    """Return how a mean, given by number of ranks, grows from ``base`` ranks on; with ``peaks``, the largest value.

    Runs of which ``base`` is a multiple show it best, because their grids are alike; with fewer than three of them all
    smaller ones do. A grid of less than four ranks has one axis.
    """
    smaller = [ranks for ranks in sorted(means) if _SMALLEST <= ranks <= base]
    alike = [ranks for ranks in smaller if base % ranks == 0]
    counts = alike if len(alike) >= _FEWEST else smaller
    wanted = np.array([means[ranks] for ranks in counts])
    # Single messages are no trend.
    if len(counts) < _FEWEST or not (wanted > 0).all():
        return Growth(family="constant")
    best: tuple[float, Growth] | None = None
    for family, dimensions, width in _candidates(peaks=peaks):
        values = np.array([_family(family, dimensions, width, ranks) for ranks in counts])
        for constant in (False, True):
            if constant and (family == "constant" or width):
                continue
            table = np.stack([values, np.ones(len(counts))] if constant else [values], axis=1) / wanted[:, None]
            factors = nnls(table, np.ones(len(counts)))[0]
            if not (factors > 0).all():
                continue
            error = float(np.mean(np.square(table @ factors - 1)))
            criterion = len(counts) * math.log(error + _FLOOR**2) + _penalty(len(factors) + (width > 0), len(counts))
            if best is None or criterion < best[0] - 1e-9:
                scale, rest = (_rounded(factor) for factor in (*factors.tolist(), 0.0)[:2])
                found = Growth(family=family, dimensions=dimensions, width=width, scale=scale, constant=rest)
                best = criterion, found
    assert best is not None
    return best[1]


def _candidates(*, peaks: bool) -> Iterator[tuple[Family, int, float]]:
    """Yield families with the dimensions of their grid and the width of their halo."""
    yield from ((name, 1, 0.0) for name in _OF_RANKS)
    dimensions = range(1, _MOST_DIMENSIONS + 1)
    yield from ((name, number, 0.0) for name in (_OF_PEAKS if peaks else _OF_GRIDS) for number in dimensions)
    if not peaks:
        yield from itertools.product(_DIVIDED, dimensions, _WIDTHS)


def _penalty(factors: int, runs: int) -> float:
    """Return what factors cost: more where there are few runs, and two are too many for three runs."""
    left = runs - factors - 1
    return 2 * factors + (2 * factors * (factors + 1) / left if left > 0 else math.inf)


def _rounded(factor: float) -> float:
    """Return a factor as people read it."""
    return float(f"{factor:.6g}")
