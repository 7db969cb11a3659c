"""All ranks of several runs at once, on which expressions are evaluated.

In: (number of ranks, parameters) of each run and the rule of the grid. Out: :class:`Points`, one point for each rank of
each run, the runs one after the other; an expression has a value at each point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from manynode.derived.expression import Expression, ExpressionError, Scope, parse
from manynode.derived.grids import Grid, coordinate_names
from phase2_nodesim.derive.grids.patterns import GridRule

Values = NDArray[np.int64]
Truths = NDArray[np.bool_]


class Points:
    """The ranks of runs; values of expressions are kept, because the same ones are tried again and again."""

    def __init__(self, runs: Sequence[tuple[int, Mapping[str, int]]], rule: GridRule | None) -> None:
        self.runs = list(runs)
        self.rule = rule
        self.starts = np.concatenate([[0], np.cumsum([ranks for ranks, _ in runs])]).astype(int)
        self.size = int(self.starts[-1])
        self._scope = _scope(self.runs, rule)
        self._known: dict[str, Values | None] = {}

    def values(self, text: str, **bound: int) -> Values | None:
        """Return the value of an expression at each point, or None if it has none at some point."""
        key = text + repr(sorted(bound.items())) if bound else text
        if key not in self._known:
            self._known[key] = self._evaluated(parse(text, text), bound)
        return self._known[key]

    def truths(self, text: str) -> Truths | None:
        values = self.values(text)
        return None if values is None else values != 0

    def index(self, run: int, rank: int) -> int:
        return int(self.starts[run]) + rank

    def of_run(self, name: str, run: int) -> int:
        """Return a number that is the same on all ranks of a run."""
        values = self.values(name)
        assert values is not None
        return int(values[self.starts[run]])

    def run_of(self, point: int) -> int:
        """Return the run that a point belongs to."""
        return int(np.searchsorted(self.starts, point, side="right")) - 1

    def _evaluated(self, expression: Expression, bound: Mapping[str, int]) -> Values | None:
        try:
            value = expression.evaluate(self._scope.bound(**bound) if bound else self._scope)
        except ExpressionError:
            return None
        return np.broadcast_to(np.asarray(value, np.int64), self.size)


def _scope(runs: Sequence[tuple[int, Mapping[str, int]]], rule: GridRule | None) -> Scope:
    """Return the names of all runs at once, by point."""
    counts = [ranks for ranks, _ in runs]

    def by_point(of_runs: Sequence[int]) -> Values:
        return np.repeat(np.array(of_runs, np.int64), counts)

    own = np.concatenate([np.arange(ranks, dtype=np.int64) for ranks in counts])
    names = {name: by_point([parameters[name] for _, parameters in runs]) for name in runs[0][1]}
    grids = [rule.grid(ranks) for ranks in counts] if rule else []
    grid = None
    if grids:
        extents = tuple(by_point(of_axis) for of_axis in zip(*(one.extents for one in grids), strict=True))
        grid = Grid(extents, grids[0].periodic, grids[0].layout)  # type: ignore[arg-type]
    places = coordinate_names(grid, own) if grid else {}
    return Scope({"P": by_point(counts), "rank": own, **places, **names}, grid=grid)
