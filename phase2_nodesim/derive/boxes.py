"""Grids of other jobs, of a program that divides a box so that its parts have the least surface.

The box is not known, and may be of any shape, as those of LAMMPS. In: the extents that some numbers of ranks have. Out:
those of another number, if they are the same for all boxes whose known extents have the least surface.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import linprog

from manynode.derived.grids import Extents
from phase2_nodesim.derive.read_grids import shapes_of

# Another rule may agree with some box at fewer numbers of ranks.
_FEWEST = 5
# Of surfaces, as a share of the sum of all weights: what is closer may be equal for the program.
_MARGIN = 1e-6


def extents_at(known: Mapping[int, Extents], ranks: int) -> Extents | None:
    """Return the extents of the grid of ``ranks`` ranks; None if boxes of several shapes give several, or equal ones.

    A part's surface is the sum of extent times weight; the weights are one over the lengths of the box.
    """
    if len(known) < _FEWEST:
        return None
    dimensions = len(next(iter(known.values())))
    rows = np.array([
        np.subtract(found, other)
        for count, found in known.items()
        for other in shapes_of(count, dimensions)
        if other != found
    ])  # fmt: skip
    one = np.ones((1, dimensions))
    # As far as possible from the weights of boxes with other grids: the last variable is the distance.
    apart = linprog(
        [*[0] * dimensions, -1],
        A_ub=np.column_stack([rows, np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        A_eq=np.append(one, 0)[None, :],
        b_eq=[1],
    )
    if not apart.success:
        return None
    weights = apart.x[:-1]
    best = min(shapes_of(ranks, dimensions), key=lambda found: float(weights @ found))
    for other in shapes_of(ranks, dimensions):
        least = linprog(np.subtract(other, best), A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=one, b_eq=[1])
        if other != best and not (least.success and least.fun > _MARGIN):
            return None
    return best
