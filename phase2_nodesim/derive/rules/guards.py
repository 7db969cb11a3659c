"""Conditions under which a call happens: which ranks, at which numbers of ranks.

In: the points at which a call was seen and those at which it was not. Out: all conditions that separate them, simplest
first. A condition on the axes along which a message goes is believed before one on anything else; without such axes all
conditions of the fewest parts remain, and differ where they differ. Two parts at most, beside that the peer is there,
and others where another axis of the grid is the longer one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phase2_nodesim.derive.grids.patterns import Displacement, GridRule
from phase2_nodesim.derive.grids.points import Points, Truths
from phase2_nodesim.derive.grids.probe import Probe

_MOST_LEVELS = 7  # of a tree

ALWAYS = "1"
NEVER = "0"
# With a call of one rank that has no other name.
_FEWEST_JOBS = 3
# Tried where nothing else fits: the first or second half of the ranks, and one rank in so many.
_HALVES = [f"rank {relation} {half}" for half in ("P // 2", "ceil_div(P, 2)") for relation in ("<", ">=")]
_FEWEST_APART, _MOST_APART = 3, 16
# Of some jobs: more of them multiply.
_MOST_IN_JOBS = 3


def axis_conditions(axis: int) -> list[str]:
    """Return the conditions on one axis."""
    c, d = f"c{axis}", f"d{axis}"
    ends = [f"{c} > 0", f"{c} < {d} - 1", f"{c} == 0", f"{c} == {d} - 1"]
    extents = [f"{d} > 1", f"{d} > 2", f"{d} == 1", f"{d} <= 2"]
    return [*ends, *extents, f"{c} % 2 == 0", f"{c} % 2 == 1", f"{d} % 2 == 0", f"{d} % 2 == 1"]


def square_conditions(axes: int) -> list[str]:
    """Return the conditions on two axes: programs order their work by the longer one."""
    pairs = itertools.combinations(range(axes), 2)
    relations = ("==", "!=", "<=", ">", ">=", "<")
    return [f"d{one} {relation} d{other}" for one, other in pairs for relation in relations]


def general_conditions(rule: GridRule | None) -> list[str]:
    """Return the conditions that no axis is behind, then those of all axes."""
    found = ["P > 1", "P > 2", "P == 1", "P <= 2", "rank == 0", "rank > 0", "rank == P - 1", "rank < P - 1"]
    found += ["rank % 2 == 0", "rank % 2 == 1", "P & (P - 1) == 0", "P & (P - 1) != 0", "P % 2 == 0", "P % 2 == 1"]
    # In a binary tree: a second child, and how long the way down along first children is.
    found += ["2 * rank + 2 < P", "2 * rank + 2 >= P"]
    for divisor in (3, 4, 5, 8):
        found += [f"P % {divisor} == 0", f"P % {divisor} != 0"]
    for level in range(1, _MOST_LEVELS):
        last = f"{2**level} * (rank + 1) - 1"
        found += [f"{last} < P", f"{last} >= P"]
    for axis in range(rule.dimensions if rule else 0):
        found += axis_conditions(axis)
    return found


def step_conditions(displacements: Iterable[Displacement]) -> list[str]:
    """Return the conditions on the axes of a message: that its peer is there, and conditions on each of these axes."""
    found = []
    for steps in displacements:
        found += [f"at({', '.join(map(str, steps))}) >= 0"]
        for axis, step in enumerate(steps):
            found += axis_conditions(axis) if step else []
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class _Condition:
    """A condition, or two joined by ``and`` or ``or``."""

    text: str
    parts: tuple[str, ...]
    both: bool = True


class Guards:
    """Finds conditions on the points of the training runs."""

    def __init__(self, points: Points, probe: Probe) -> None:
        self.points = points
        self.probe = probe
        self._known: dict[tuple[bytes, bytes, tuple[str, ...]], list[str]] = {}

    @cached_property
    def _general(self) -> dict[str, Truths]:
        return self._table(general_conditions(self.points.rule))

    @cached_property
    def _squares(self) -> list[str]:
        return square_conditions(self.points.rule.dimensions if self.points.rule else 0)

    @cached_property
    def _of_places(self) -> dict[str, Truths]:
        """Those on a rank's place in the grid: together with others, sizes of jobs explain anything."""
        return {text: values for text, values in self._general.items() if text.startswith("c")}

    def find(self, yes: Truths, no: Truths, own: Sequence[str] = ()) -> list[str]:
        """Return the conditions that hold at ``yes`` and not at ``no``; empty if there are none.

        ``own`` are the conditions on the message's own axes: if some of them fit, only those remain.
        """
        if not no.any():
            return [ALWAYS]
        key = (yes.tobytes(), no.tobytes(), tuple(own))
        if key not in self._known:
            self._known[key] = self._distinct(self._of_few_parts(yes, no, own)) or self._by_longer_axis(yes, no)
        return self._known[key]

    def _of_few_parts(self, yes: Truths, no: Truths, own: Sequence[str]) -> list[_Condition]:
        # Sizes of jobs alone never explain a call, but they may be what is behind it.
        found = _separating(self._table(own), yes, no) if own else []
        if found:
            return found + self._thresholds(yes, no, own[0])
        found = _separating(self._general, yes, no)
        if found:
            return found + self._thresholds(yes, no)
        found = _separating(self._table([*own, *self._squares]), yes, no)
        return found or self._where_the_peer_is(yes, no, own) or self._of_ranks(yes, no)

    def _of_ranks(self, yes: Truths, no: Truths) -> list[_Condition]:
        """Return the single conditions that fit: the same rank in all jobs that have it, a half, one in so many."""
        ranks = self.points.values("rank")
        assert ranks is not None
        if np.count_nonzero(yes) < _FEWEST_JOBS:
            return []
        first = ranks[yes][0]
        texts = [f"rank == {first}", *_HALVES]
        # Two ranks always are so many apart.
        if len(np.unique(ranks[yes])) >= _FEWEST_APART:
            texts += [f"rank % {number} == {first % number}" for number in range(3, _MOST_APART + 1)]
        table = self._table(texts)
        return [_Condition(text, (text,)) for text, one in table.items() if one[yes].all() and not one[no].any()]

    def _where_the_peer_is(self, yes: Truths, no: Truths, own: Sequence[str]) -> list[_Condition]:
        """Return conditions beside that the message's peer is there."""
        there = self.points.truths(own[0]) if own else None
        if there is None or not there[yes].all():
            return []
        found = _separating(self._of_places, yes, no & there)
        return [_Condition(f"{own[0]} and ({one.text})", (own[0], one.text)) for one in found]

    def _by_longer_axis(self, yes: Truths, no: Truths) -> list[str]:
        """Return conditions that are others in jobs whose grid is longer along one axis."""
        found = []
        for relation in self._squares:
            there = self.points.truths(relation)
            if there is None or not 0 < np.count_nonzero(there) < there.size:
                continue
            parts = [self._in_jobs(yes & jobs, no & jobs) for jobs in (there, ~there)]
            found += [f"({one}) if {relation} else ({other})" for one in parts[0] for other in parts[1]]
        return self.probe.distinct(found)

    def _in_jobs(self, yes: Truths, no: Truths) -> list[str]:
        """Return the conditions in some jobs."""
        if not no.any():
            return [ALWAYS]
        if not yes.any():
            return [NEVER]
        return self._distinct(_separating(self._of_places, yes, no))[:_MOST_IN_JOBS]

    def on(self, points: Points) -> Guards:
        """Return the same on other points."""
        return Guards(points, self.probe)

    def _table(self, texts: Iterable[str]) -> dict[str, Truths]:
        truths = {text: self.points.truths(text) for text in texts}
        return {text: values for text, values in truths.items() if values is not None}

    def _thresholds(self, yes: Truths, no: Truths, under: str | None = None) -> list[_Condition]:
        """Return the limits of the number of ranks that separate the points, if any do; ``under`` another condition."""
        sizes = self.points.values("P")
        assert sizes is not None
        if under is not None:
            truths = self.points.truths(under)
            if truths is None or not truths[yes].all():
                return []
            no = no & truths
        if not no.any():
            return []
        there, absent = sizes[yes], sizes[no]
        texts = []
        if there.min() > absent.max():
            texts = [f"P > {absent.max()}", f"P >= {there.min()}"]
        elif there.max() < absent.min():
            texts = [f"P < {absent.min()}", f"P <= {there.max()}"]
        if under is None:
            return [_Condition(text, (text,)) for text in texts]
        return [_Condition(f"{under} and {text}", (under, text)) for text in texts]

    def _distinct(self, found: Iterable[_Condition]) -> list[str]:
        """Return the first of all conditions that hold at the same points of the probe."""
        seen: dict[bytes, str] = {}
        for one in found:
            parts = [self.probe.points.truths(part) for part in one.parts]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                seen.setdefault(one.text.encode(), one.text)
                continue
            joined = np.logical_and.reduce(known) if one.both else np.logical_or.reduce(known)
            seen.setdefault(joined.tobytes(), one.text)
        return list(seen.values())


def _separating(table: dict[str, Truths], yes: Truths, no: Truths) -> list[_Condition]:
    """Return the conditions, or pairs of them, that are true at ``yes`` and false at ``no``."""
    everywhere = {text: values for text, values in table.items() if values[yes].all()}
    found = [_Condition(text, (text,)) for text, values in everywhere.items() if not values[no].any()]
    if found:
        return found
    wrong = {text: values[no] for text, values in everywhere.items()}
    found = [
        _Condition(f"{one} and {other}", (one, other))
        for one, other in itertools.combinations(wrong, 2)
        if not (wrong[one] & wrong[other]).any()
    ]
    if found:
        return found
    right = {text: values[yes] for text, values in table.items() if not values[no].any()}
    return [
        _Condition(f"{one} or {other}", (one, other), both=False)
        for one, other in itertools.combinations(right, 2)
        if (right[one] | right[other]).all()
    ]


def as_truths(size: int, indices: Iterable[int]) -> Truths:
    """Return an array that is true at the indices."""
    found = np.zeros(size, bool)
    found[list(indices)] = True
    return found
