"""Piecewise linear regression that finds its break points.

In: sizes, values, and the weight of an error. Out: pieces, each a separate line with non-negative base and slope, since
it is a cost. Jumps between pieces are allowed, such as a protocol change. The breaks are the optimum over all
partitions of the sorted sizes (dynamic programming; Bellman 1961). Their number minimises BIC (Schwarz 1978). Libraries
do not fit: ``pwlf`` and ``piecewise-regression`` fit continuous lines with random search; ``ruptures`` has neither
weights nor bounds. Each line is finally fitted again with a loss that is robust to outliers (soft L1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manynode.errors import InputError

Array = NDArray[np.float64]

FEWEST_POINTS = 3
# The table of all pieces has the square of this size.
MOST_SIZES = 2000
# A piece also has at least this share of the sizes; in dense tables, three neighbours are noise.
_FEWEST_SHARE = 1 / 40
# Smaller relative differences do not justify another piece; no benchmark is more repeatable.
TOLERANCE = 0.005
# Larger residuals count linearly instead of quadratically.
_OUTLIER = 0.03


@dataclass(frozen=True)
class Piece:
    """``seconds + seconds_per_byte * size`` from ``from_bytes`` to the start of the next piece."""

    from_bytes: int
    seconds: float
    seconds_per_byte: float

    def at(self, size: float) -> float:
        """Return the line's value at ``size``."""
        return self.seconds + self.seconds_per_byte * size


def evaluate(pieces: Sequence[Piece], sizes: Array) -> Array:
    """Return the value of ``pieces`` at each size."""
    index = np.searchsorted([piece.from_bytes for piece in pieces], sizes, side="right") - 1
    bases = np.array([piece.seconds for piece in pieces])
    slopes = np.array([piece.seconds_per_byte for piece in pieces])
    return np.asarray(bases[index] + slopes[index] * sizes)


def last_before(left: float, right: float) -> int:
    """Return the last size of the piece on the left, between the sizes measured last in it and first in the next.

    Protocol limits are usually powers of two: take the largest one between the two, else the left size.
    """
    power = 2 ** int(np.floor(np.log2(max(right - 1, 1))))
    return int(power if left <= power < right else left)


def fit_pieces(sizes: Array, values: Array, scale: Array, most: int) -> list[Piece]:
    """Return at most ``most`` pieces; ``sizes`` increase; errors are relative to ``scale``."""
    if len(sizes) < FEWEST_POINTS:
        raise InputError(
            "too few sizes for a regression", found=f"{len(sizes)}", allowed=f"at least {FEWEST_POINTS} different sizes"
        )
    if len(sizes) > MOST_SIZES:
        raise InputError(
            "too many sizes for a regression",
            found=f"{len(sizes)}",
            allowed=f"at most {MOST_SIZES} different sizes",
            remedy="leave some out: a few dozen, evenly spaced on a log scale, are enough",
        )
    fewest = max(FEWEST_POINTS, int(len(sizes) * _FEWEST_SHARE))
    cuts = _best_cuts(_costs(sizes, values, scale, fewest), most)
    pieces = []
    for first, last in cuts:
        chosen = slice(first, last + 1)
        base, slope = _robust_line(sizes[chosen], values[chosen], scale[chosen])
        begin = 0 if first == 0 else last_before(sizes[first - 1], sizes[first]) + 1
        pieces.append(Piece(begin, base, slope))
    return pieces


def _costs(sizes: Array, values: Array, scale: Array, fewest: int) -> Array:
    """Return [first, last] the sum of squared relative errors of the best line through those points (inf: too few)."""
    n = len(sizes)
    weight = 1 / scale**2
    costs = np.full((n, n), np.inf)
    for first in range(n - fewest + 1):
        x, y, w = sizes[first:], values[first:], weight[first:]
        s0, sx, sy = np.cumsum(w), np.cumsum(w * x), np.cumsum(w * y)
        sxx, sxy, syy = np.cumsum(w * x * x), np.cumsum(w * x * y), np.cumsum(w * y * y)
        determinant = s0 * sxx - sx**2
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(determinant > 0, (s0 * sxy - sx * sy) / determinant, 0.0)
            base = (sy - slope * sx) / s0
            through_zero = np.maximum(np.where(sxx > 0, sxy / sxx, 0.0), 0.0)
        # With two unknowns, the constrained optimum has the offender at zero.
        slope, base = np.where(base < 0, through_zero, slope), np.maximum(base, 0.0)
        base, slope = np.where(slope < 0, np.maximum(sy / s0, 0.0), base), np.maximum(slope, 0.0)
        cost = syy - 2 * base * sy - 2 * slope * sxy + base**2 * s0 + 2 * base * slope * sx + slope**2 * sxx
        costs[first, first + fewest - 1 :] = np.maximum(cost, 0.0)[fewest - 1 :]
    return costs


def _best_cuts(costs: Array, most: int) -> list[tuple[int, int]]:
    n = len(costs)
    best = costs[0].copy()  # [last] the least cost of covering 0..last with k pieces
    came_from: list[NDArray[np.intp]] = []
    choices = [(_bic(best[-1], n, 1), 1)]
    for count in range(2, most + 1):
        total = best[:-1, None] + costs[1:, :]  # [end of the piece before, last]
        came_from.append(np.argmin(total, axis=0))
        best = np.min(total, axis=0)
        if not np.isfinite(best[-1]):
            break
        choices.append((_bic(best[-1], n, count), count))
    _, count = min(choices)
    cuts = []
    last = n - 1
    for number in range(count, 1, -1):
        first = int(came_from[number - 2][last]) + 1
        cuts.append((first, last))
        last = first - 1
    return [(0, last), *reversed(cuts)]


def _bic(cost: float, n: int, count: int) -> float:
    # Three parameters per piece: base, slope and end.
    return float(n * np.log(cost / n + TOLERANCE**2) + 3 * count * np.log(n))


def _robust_line(sizes: Array, values: Array, scale: Array) -> tuple[float, float]:
    from scipy.optimize import least_squares

    # Unknowns of order one. The line's values at the first and last size would work too, but cannot be bounded.
    unit_y = float(np.median(np.abs(values))) or 1.0
    unit_x = float(max(sizes[-1], 1.0))
    columns = np.stack([unit_y / scale, unit_y * sizes / unit_x / scale], axis=1)
    target = values / scale
    start = np.clip(np.linalg.lstsq(columns, target, rcond=None)[0], 1e-9, None)
    result = least_squares(
        lambda unknown: columns @ unknown - target,
        start,
        jac=lambda _unknown: columns,
        bounds=(0, np.inf),
        loss="soft_l1",
        f_scale=_OUTLIER,
        xtol=1e-12,
        ftol=1e-12,
        gtol=1e-12,
    )
    base, slope = result.x
    # The solver stays slightly inside its bounds.
    base, slope = (0.0 if value < 1e-7 else float(value) for value in (base, slope))
    return base * unit_y, slope * unit_y / unit_x
