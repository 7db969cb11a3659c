"""Doubts about what small jobs cannot show: axes that never were long, neighbourhoods that may be whole lines.

In: the rules and the points of the training runs. Out: doubts as those of :mod:`.compose`: an expression that the
skeleton stands for (0: nothing more happens) against one that tells where this is not known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from phase2_nodesim.derive.patterns import Pattern
from phase2_nodesim.derive.points import Points
from phase2_nodesim.derive.rules import Rule

Content = dict[str, Any]

NOTHING = "0"
# Up to two ranks along an axis, a neighbour on one side is that on the other, and both ends are neighbours.
_SHORT = 2


def unseen(rules: Sequence[Rule], points: Points, pattern: Pattern) -> list[Content]:
    """Return the doubts about what no training run can have shown."""
    found = [*_grid(pattern), *_axes(points), *_nobody(rules, points)]
    return [*found, *_neighbourhoods(rules, points), *_growing(rules, points)]


def _grid(pattern: Pattern) -> Iterator[Content]:
    if pattern.grid is not None and (pattern.twins or pattern.rivals):
        others = [str(rule) for rule in (*pattern.twins, *pattern.rivals)]
        yield {"at": "grid", "says": str(pattern.grid), "or": others}


def _axes(points: Points) -> Iterator[Content]:
    """Yield a doubt for each axis that had at most two ranks in all runs."""
    for axis in range(points.rule.dimensions if points.rule else 0):
        extents = points.values(f"d{axis}")
        assert extents is not None
        if extents.max() <= _SHORT:
            yield {"at": f"grid/{axis}", "says": NOTHING, "or": [f"d{axis} > {int(extents.max())}"]}


def _nobody(rules: Sequence[Rule], points: Points) -> Iterator[Content]:
    """Yield a doubt if some call had MPI_PROC_NULL as its peer in all runs: when it has one is not known."""
    if any(texts == ["null"] for rule in rules for texts in rule.peers.values()):
        yield {"at": "body", "says": NOTHING, "or": [f"P > {_most(points)}"]}


def _most(points: Points) -> int:
    return max(ranks for ranks, _ in points.runs)


def _neighbourhoods(rules: Sequence[Rule], points: Points) -> Iterator[Content]:
    """Yield a doubt for each place whose messages always reached whole lines, so that longer lines may have more."""
    if points.rule is None:
        return
    extents = [points.rule.grid(ranks).extents for ranks, _ in points.runs]
    by_place: dict[tuple[str, str], list[tuple[Rule, int]]] = defaultdict(list)
    for rule in {id(rule): rule for rule in rules}.values():
        for number, texts in rule.peers.items():
            if rule.slot.is_message and not rule.along and texts[0].startswith("at("):
                by_place[rule.slot.operation, rule.slot.site].append((rule, number))
    for together in by_place.values():
        steps = [step for rule, number in together for step in _steps(rule.peers[number][0])]
        far = max((abs(step) for step in steps), default=0)
        # Another step would have been seen on an axis that has room for it on both sides, or at one end.
        room = 2 * far + 1 if any(points.rule.periodic) else far + 1
        moved = {axis for rule, number in together for axis, step in _axis_steps(rule.peers[number][0]) if step}
        longest = max((found[axis] for found in extents for axis in moved), default=0)
        if longest <= room:
            conditions = [f"d{axis} > {max(found[axis] for found in extents)}" for axis in sorted(moved)]
            yield {"at": "body", "says": NOTHING, "or": [" or ".join(conditions)]}


def _axis_steps(text: str) -> list[tuple[int, int]]:
    inside = text[len("at(") : text.index(")")]
    return list(enumerate(int(step) for step in inside.split(",")))


def _steps(text: str) -> list[int]:
    return [step for _, step in _axis_steps(text)]


def _growing(rules: Sequence[Rule], points: Points) -> Iterator[Content]:
    """Yield a doubt for each place whose calls become more with the number of ranks, or whose bits of it are used up.

    Such are the steps of a hand-written reduction, one for each doubling of the ranks.
    """
    starts: dict[tuple[str, str], set[int]] = defaultdict(set)
    bits: dict[tuple[str, str], int] = defaultdict(int)
    for rule in {id(rule): rule for rule in rules}.values():
        place = (rule.slot.operation, rule.slot.site)
        if (since := _since(rule, points)) > 1 and not rule.slot.is_message and not rule.borrowed:
            starts[place].add(since)
        for texts in rule.peers.values():
            if texts[0].startswith("rank ^ "):
                bits[place] = max(bits[place], int(texts[0].split()[2]))
    most = _most(points)
    if any(len(found) > 1 for found in starts.values()):
        yield {"at": "body", "says": NOTHING, "or": [f"P > {most}"]}
    for bit in bits.values():
        yield {"at": "body", "says": NOTHING, "or": [f"P > {2 * bit}"]}


def _since(rule: Rule, points: Points) -> int:
    """Return the least number of ranks at which a call happens, if it does so on all ranks from there on, else 0."""
    counts = {}
    for run, (ranks, _) in enumerate(points.runs):
        part = rule.present[points.starts[run] : points.starts[run + 1]]
        if np.any(part) != np.all(part):
            return 0
        counts[ranks] = bool(part.all())
    with_it = [ranks for ranks, there in counts.items() if there]
    least = min(with_it)
    if least == min(counts) or any(not there for ranks, there in counts.items() if ranks >= least):
        return 0
    return least
