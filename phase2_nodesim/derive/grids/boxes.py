"""Grids of other jobs, of a program that divides a box so that its parts have the least surface.

The box is not known, and may be of any shape, as those of LAMMPS. In: the extents that some numbers of ranks have. Out:
those of other numbers, if they are the same for all boxes whose known extents have the least surface.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from scipy.optimize import linprog

from manynode.derived.grids import Extents
from phase2_nodesim.derive.grids.read_grids import shapes_of

# Another rule may agree with some box at fewer numbers of ranks.
_FEWEST = 5
# Of surfaces, as a share of the sum of all weights: what is closer may be equal for the program.
_MARGIN = 1e-6


def extents_at(known: Mapping[int, Extents], wanted: Iterable[int]) -> dict[int, Extents]:
    """Return the extents of the grids of other numbers of ranks; none where boxes differ, or have several equal ones.

    A part's surface is the sum of extent times weight; the weights are one over the lengths of the box.
    """
    if len(known) < _FEWEST:
        return {}
    dimensions = len(next(iter(known.values())))
    others = [(found, one) for count, found in known.items() for one in shapes_of(count, dimensions) if one != found]
    rows = np.array([np.subtract(found, other) for found, other in others])
    # Boxes: their weights have the sum 1, and no other grid at a known number of ranks has less surface.
    boxes = {"A_ub": rows, "b_ub": np.zeros(len(rows)), "A_eq": np.ones((1, dimensions)), "b_eq": [1]}
    # One of them, as far as possible from boxes with other grids: the last variable is the distance.
    inner = linprog(
        [*[0] * dimensions, -1],
        A_ub=np.column_stack([rows, np.ones(len(rows))]),
        b_ub=boxes["b_ub"],
        A_eq=[[*[1] * dimensions, 0]],
        b_eq=[1],
    )
    if not inner.success:
        return {}
    result = {}
    for ranks in wanted:
        shapes = shapes_of(ranks, dimensions)
        best = min(shapes, key=lambda shape: float(inner.x[:-1] @ shape))
        least = (linprog(np.subtract(other, best), **boxes) for other in shapes if other != best)
        if all(one.success and one.fun > _MARGIN for one in least):
            result[ranks] = best
    return result
