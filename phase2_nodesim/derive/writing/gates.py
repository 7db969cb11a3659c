"""Doubts about what small jobs cannot show: axes that never were long, neighbourhoods that may be whole lines.

In: the rules and the points of the training runs. Out: doubts as those of :mod:`.compose`: an expression that the
skeleton stands for (0: nothing more happens) against one that tells where this is not known.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from phase2_nodesim.derive.grids.patterns import Pattern
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.grids.probe import Probe
from phase2_nodesim.derive.rules.guards import square_conditions
from phase2_nodesim.derive.rules.rules import Rule

Content = dict[str, Any]

NOTHING = "0"
# Up to two ranks along an axis, a neighbour on one side is that on the other, and both ends are neighbours.
_SHORT = 2
# What has not changed over so many times the ranks is believed to stay.
_SETTLED = 4


def unseen(rules: Sequence[Rule], points: Points, pattern: Pattern, probe: Probe) -> list[Content]:
    """Return the doubts about what no training run can have shown; ``rules`` are in the order of the program."""
    found = [*_grid(pattern), *_axes(points), *_nobody(rules, points)]
    return [*found, *_neighbourhoods(rules, points), *_growing(rules, points), *_orders(rules, points, probe)]


def _grid(pattern: Pattern) -> Iterator[Content]:
    if pattern.grid is not None and (pattern.twins or pattern.rivals or pattern.orders):
        others = list(dict.fromkeys(str(rule) for rule in (*pattern.twins, *pattern.rivals, *pattern.orders)))
        yield {"at": "grid", "says": str(pattern.grid), "or": others}


def _axes(points: Points) -> Iterator[Content]:
    """Yield a doubt for each axis that never had one rank, never had two, never had more, or always had as many.

    One rank has no neighbour along the axis, or itself; of two, the neighbours on both sides may be one.
    """
    for axis in range(points.rule.dimensions if points.rule else 0):
        extents = points.values(f"d{axis}")
        assert extents is not None
        never = [f"d{axis} == {extent}" for extent in range(1, _SHORT + 1) if not (extents == extent).any()]
        if extents.max() <= _SHORT:
            never.append(f"d{axis} > {_SHORT}")
        if extents.min() == extents.max() > _SHORT:
            never.append(f"d{axis} != {extents.max()}")
        if never:
            yield {"at": f"grid/{axis}", "says": NOTHING, "or": never}


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
    """Yield doubts about calls that may become more, or others, with the number of ranks.

    Such are the steps of a hand-written reduction, one for each doubling of the ranks; iterations until a solver
    converges; messages of one size in small jobs and of another one in large jobs.
    """
    distinct = list({id(rule): rule for rule in rules}.values())
    most = _most(points)
    starts = [rule for rule in distinct if not rule.slot.is_message and not rule.borrowed and _since(rule, points)]
    if starts or any(_take_turns(together, points) for together in _alike(distinct)):
        yield {"at": "body", "says": NOTHING, "or": [f"P > {most}"]}
    for rule in distinct:
        for texts in rule.peers.values():
            if not rule.along and texts[0].startswith("rank ^ "):
                yield {"at": "body", "says": NOTHING, "or": [f"P > {2 * int(texts[0].split()[2])}"]}


def _alike(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Yield the messages of one place to the same peers."""
    by_peers: dict[tuple[object, ...], list[Rule]] = defaultdict(list)
    for rule in rules:
        if rule.slot.is_message:
            by_peers[(*rule.slot.place[:2], *(texts[0] for texts in rule.peers.values()))].append(rule)
    yield from (together for together in by_peers.values() if len(together) > 1)


def _take_turns(rules: Sequence[Rule], points: Points) -> bool:
    """Say whether some of the messages are made in some runs only, and others of them in other runs only.

    A change that is followed by runs of four times its size is believed to be the last one, and so is a condition on
    which axis of the grid is longer.
    """
    relations = square_conditions(points.rule.dimensions if points.rule else 0)
    runs = [(rule, frozenset(points.run_of(int(point)) for point in np.flatnonzero(rule.present))) for rule in rules]
    for (a, one), (b, other) in itertools.combinations(runs, 2):
        if one & other or all(any(relation in rule.when[0] for relation in relations) for rule in (a, b)):
            continue
        which = sorted((points.runs[run][0], run in one) for run in one | other)
        changes = [after[0] for before, after in itertools.pairwise(which) if before[1] != after[1]]
        if changes and changes[-1] * _SETTLED > _most(points):
            return True
    return False


def _orders(rules: Sequence[Rule], points: Points, probe: Probe) -> Iterator[Content]:
    """Yield a doubt for calls that no rank made together: where one rank makes both, their order is not known.

    Calls that all ranks make divide the program: the order of what is before and after them is known.
    """
    pairs: dict[tuple[str, str], None] = {}
    between: list[Rule] = []
    for rule in rules:
        if rule.present.all():
            between = []
            continue
        for other in between:
            if not (other.present & rule.present).any():
                pairs[other.when[0], rule.when[0]] = None
        between.append(rule)
    for first, second in pairs:
        both = f"({first}) and ({second})"
        truths = probe.points.truths(both)
        if truths is None or truths.any():
            yield {"at": "body", "says": NOTHING, "or": [both]}


def _since(rule: Rule, points: Points) -> int:
    """Return the least number of ranks at which a call happens, if it does so on all ranks from there on, else 0.

    What only a single rank does not do is no growth, nor what does not change in jobs of up to four times the size.
    """
    counts = {}
    for run, (ranks, _) in enumerate(points.runs):
        part = rule.present[points.starts[run] : points.starts[run + 1]]
        if np.any(part) != np.all(part):
            return 0
        counts[ranks] = bool(part.all())
    least = min(ranks for ranks, there in counts.items() if there)
    if any(not there for ranks, there in counts.items() if ranks >= least):
        return 0
    settled = least * _SETTLED <= max(counts)
    return least if any(1 < ranks < least for ranks in counts) and not settled else 0
