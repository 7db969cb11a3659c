"""Doubts about numbers that were seen with too few values of a parameter, or in jobs of one size only.

Messages along an axis that the runs with other parameters do not have are an example: their sizes are known for the
first parameters alone. Where other calls of the same place depend on the parameter, such a size may, too, and using
another value is a doubt. Where none of them does, the place is believed not to depend on it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from phase2_nodesim.derive.rules.formulas import FEWEST_VALUES, Formulas
from phase2_nodesim.derive.rules.guards import ALWAYS
from phase2_nodesim.derive.writing.gates import NOTHING

Content = dict[str, Any]
# Operation, site and field.
Kind = tuple[str, ...]

_FEWEST_COUNTS = 2  # of ranks
_SIZES = re.compile(r"P|[cd][0-9]+")


@dataclass(frozen=True)
class _Seen:
    kind: Kind
    where: str
    condition: str
    when: str
    few: tuple[tuple[str, tuple[int, ...]], ...]  # names of parameters (or P) with the few values seen


class Unvaried:
    """Collects the numbers of one body, then says which of them are doubts."""

    def __init__(self, formulas: Formulas) -> None:
        self.formulas = formulas
        self._seen: list[_Seen] = []
        self._mentioned: dict[Kind, set[str]] = defaultdict(set)

    def seen(self, kind: Kind, where: str, runs: Iterable[int], condition: str, when: str) -> None:
        """Note in which runs a number was seen; ``condition`` is where it applies."""
        points = [self.formulas.points.runs[run] for run in set(runs)]
        few = []
        for name, fewest in [*((name, FEWEST_VALUES) for name in self.formulas.varied), ("P", _FEWEST_COUNTS)]:
            values = {ranks if name == "P" else int(parameters[name]) for ranks, parameters in points}
            if len(values) < fewest:
                few.append((name, tuple(sorted(values))))
        if few:
            self._seen.append(_Seen(kind, where, condition, when, tuple(few)))

    def fitted(self, kind: Kind, text: str) -> None:
        """Note the expression that a number of this kind has."""
        words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))
        self._mentioned[kind] |= words | ({"P"} if any(_SIZES.fullmatch(word) for word in words) else set())

    def doubts(self) -> list[Content]:
        """Return the doubts, each once."""
        found: dict[tuple[object, ...], Content] = {}
        for one in self._seen:
            others = []
            for name, values in one.few:
                if name in self._mentioned[one.kind]:
                    unseen = [f"{name} != {value}" for value in values]
                    others.append(" and ".join(unseen if one.condition == ALWAYS else [*unseen, one.condition]))
            if others:
                doubt = {"at": one.where, "says": NOTHING, "or": others}
                found.setdefault((one.condition, one.when, *others), doubt)
        return list(found.values())
