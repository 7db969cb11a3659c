"""All ranks of several runs at once, on which expressions are evaluated.

In: (number of ranks, parameters) of each run and the rule of the grid. Out: :class:`Points`, one point for each rank of
each run, the runs one after the other; an expression has a value at each point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from manynode.derived.expression import Expression, ExpressionError, Scope, parse
from manynode.derived.grids import coordinate_names
from phase2_nodesim.derive.patterns import GridRule

Values = NDArray[np.int64]
Truths = NDArray[np.bool_]


class Points:
    """The ranks of runs; values of expressions are kept, because the same ones are tried again and again."""

    def __init__(self, runs: Sequence[tuple[int, Mapping[str, int]]], rule: GridRule | None) -> None:
        self.runs = list(runs)
        self.rule = rule
        self.starts = np.concatenate([[0], np.cumsum([ranks for ranks, _ in runs])]).astype(int)
        self.size = int(self.starts[-1])
        self.scopes = [_scope(ranks, parameters, rule) for ranks, parameters in runs]
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

    def run_of(self, point: int) -> int:
        """Return the run that a point belongs to."""
        return int(np.searchsorted(self.starts, point, side="right")) - 1

    def _evaluated(self, expression: Expression, bound: Mapping[str, int]) -> Values | None:
        found = []
        try:
            for (ranks, _), scope in zip(self.runs, self.scopes, strict=True):
                value = expression.evaluate(scope.bound(**bound) if bound else scope)
                found.append(np.broadcast_to(np.asarray(value, np.int64), ranks))
        except ExpressionError:
            return None
        return np.concatenate(found) if found else np.zeros(0, np.int64)


def _scope(ranks: int, parameters: Mapping[str, int], rule: GridRule | None) -> Scope:
    own = np.arange(ranks, dtype=np.int64)
    grid = rule.grid(ranks) if rule else None
    places = coordinate_names(grid, own) if grid else {}
    return Scope({"P": ranks, "rank": own, **places, **parameters}, grid=grid)
