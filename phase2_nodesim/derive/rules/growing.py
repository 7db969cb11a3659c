"""Numbers that change from each turn of a walk to the next: by the same step, or to twice or half of what they were.

In: a number at points, by turn. Out: expressions of the turn and of the number in the first one, which may be that of
turns itself, as where tags count down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from phase2_nodesim.derive.grids.points import Values
from phase2_nodesim.derive.rules.formulas import Formulas, Observed, fits
from phase2_nodesim.derive.sequence.walks import TURN, Along, number_of


def growing_numbers(observed: Sequence[Observed], along: Along, formulas: Formulas) -> list[str]:
    """Return the expressions that fit, or none; ``observed`` has a number for each turn."""
    turns = number_of(along)
    found = []
    for form, first in _forms(observed):
        # The number in the first turn, as all turns say.
        where = np.logical_or.reduce([one.where for one in observed])
        values = np.zeros_like(observed[0].values)
        for turn, one in reversed(list(enumerate(observed))):
            values[one.where] = first(one.values, turn)[one.where]
        base = [Observed(where, values, {})]
        number = formulas.points.values(turns)
        more = set((values - number)[where].tolist()) if number is not None else set()
        # On squares, other axes have as many turns.
        own = [f"{turns} + {more.pop()}".removesuffix(" + 0")] if len(more) == 1 else []
        texts = dict.fromkeys([*own, *formulas.find(base)])
        found += [text for text in (form.format(text) for text in texts) if fits(text, observed, formulas.points)]
    return found


def _forms(observed: Sequence[Observed]) -> Iterator[tuple[str, Callable[[Values, int], Values]]]:
    """Yield how a number may grow, and the number in the first turn that one in another turn stands for."""
    if len(observed) < 2:
        return
    both = observed[0].where & observed[1].where
    steps = set((observed[1].values - observed[0].values)[both].tolist())
    if len(steps) == 1:
        step = steps.pop()
        times = TURN if abs(step) == 1 else f"{abs(step)} * {TURN}"
        yield f"{{}} {'-' if step < 0 else '+'} {times}", lambda values, turn: values - step * turn
    yield f"({{}}) * (1 << {TURN})", lambda values, turn: values >> turn
    yield f"({{}}) // (1 << {TURN})", lambda values, turn: values << turn
