"""The communicators beside the world: which ranks are together in each, as expressions of a rank.

In: the recordings with the same parameters, whose calls name communicators by the numbers of
:mod:`phase2_nodesim.communicators`. Out: a :class:`Group` for each number, with all expressions that put the same ranks
together in all runs: all ranks, rows, columns and planes of the grid, blocks of ranks, every so many ranks; and a
condition where some ranks are in none. What nothing fits is an :class:`InputError`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from manynode.errors import InputError
from phase2_nodesim.derive.grids.patterns import GridRule, rules
from phase2_nodesim.derive.grids.points import Points, Values
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.derive.rules.guards import ALWAYS, Guards

Content = dict[str, object]

PLACE = "communicators/"
"""How the places of doubts about communicators begin."""
_PARTS = (2, 3, 4, 5, 6, 8)
_MOST_BLOCKS = 16
_TRIVIAL = ("0", "rank")
_ALONE = -1
"""Color of ranks that are in no communicator of a number."""


@dataclass(frozen=True)
class Group:
    """The communicators of one number: ``colors`` and ``key`` as in the contract, ``firsts`` their least ranks."""

    name: str
    colors: tuple[str, ...]
    key: str
    firsts: tuple[str, ...]

    def content(self) -> Content:
        return {"name": self.name, "color": self.colors[0], "key": self.key}

    def doubts(self, place: int) -> list[Content]:
        """Return what the runs leave open, of the communicator at a place of the file's list."""
        where = f"{PLACE}{place}/color"
        return [{"at": where, "says": self.colors[0], "or": list(self.colors[1:])}] if len(self.colors) > 1 else []


def grids_of(base: Sequence[Recording]) -> list[GridRule]:
    """Return the rules of a grid whose rows, columns or planes communicators may be, each with other extents.

    All that no rule of the rank gives must be there; small jobs may have blocks of ranks that are rows.
    """
    plain = Points([(one.ranks, one.parameters) for one in base], None)
    leaders = {number: _leaders(base, number) for number in _numbers(base)}
    leaders = {n: one for n, one in leaders.items() if not any(_fits(color, one, plain) for color in _TRIVIAL)}
    given = {n for n, one in leaders.items() if any(_fits(color, one, plain) for color, _ in _by_rank())}
    found: dict[tuple[tuple[int, ...], ...], GridRule] = {}
    for rule in rules() if leaders else ():
        points = Points(plain.runs, rule)
        fitting = {n for n, one in leaders.items() if any(_fits(color, one, points) for color, _ in _on_grid(rule))}
        if fitting and fitting | given == leaders.keys():
            extents = tuple(rule.grid(one.ranks).extents for one in base)
            found.setdefault(extents, replace(rule, periodic=(True,) * rule.dimensions))
    return list(found.values())


def find_groups(base: Sequence[Recording], points: Points, guards: Guards) -> dict[int, Group]:
    """Return the groups by number, in order."""
    return {number: _group(number, f"group{i}", base, points, guards) for i, number in enumerate(_numbers(base), 1)}


def together(colors: Values, starts: Iterable[int] = ()) -> Values:
    """Return for each rank the least rank of its color, -1 for ranks without one; ``starts``: where runs begin."""
    found = np.full(colors.shape, _ALONE, np.int64)
    bounds = [*starts] or [0, len(colors)]
    for start, end in itertools.pairwise(bounds):
        part = colors[start:end]
        _, first, inverse = np.unique(part, return_index=True, return_inverse=True)
        found[start:end] = np.where(part < 0, _ALONE, first[inverse])
    return found


def _numbers(base: Sequence[Recording]) -> list[int]:
    """Return the numbers of the communicators that calls use; all runs must make them."""
    used = frozenset[int]().union(*(one.communicators for one in base))
    for one in base:
        if missing := used.difference(*one.groups):
            raise InputError(
                "the number of communicators differs between the recordings",
                where=one.where,
                found=f"{len(missing)} of {len(used)} are not made at {one.ranks} ranks",
                remedy="record numbers of ranks at which the program makes the same ones",
            )
    return sorted(used)


def _leaders(base: Sequence[Recording], number: int) -> Values:
    """Return at each point the least rank of the communicator, -1 where the rank is in none."""
    return np.array([min(ranks.get(number, (_ALONE,))) for one in base for ranks in one.groups], np.int64)


def _group(number: int, name: str, base: Sequence[Recording], points: Points, guards: Guards) -> Group:
    leaders = _leaders(base, number)
    there = leaders >= 0
    candidates = [*_by_rank(), *(_on_grid(points.rule) if points.rule else ())]
    fitting = {color: first for color, first in candidates if _fits(color, leaders, points)}
    conditions = guards.find(there, ~there)
    key = next((key for key in _keys(points.rule) if _in_order(key, base, number, points)), None)
    if not fitting or not conditions or key is None:
        raise _no_rule(number, base, ordered=key is not None)
    colors = [
        color if condition == ALWAYS else f"{color} if {condition} else {_ALONE}"
        for color in fitting
        for condition in conditions
    ]
    return Group(name, tuple(_distinct(colors, guards.probe.points)), key, tuple(dict.fromkeys(fitting.values())))


def _by_rank() -> list[tuple[str, str]]:
    """Return colors that follow from the rank alone, each with the least rank of its color."""
    found = [(color, color) for color in _TRIVIAL]
    for parts in _PARTS:
        found += [
            (f"rank * {parts} // P", f"ceil_div(rank * {parts} // P * P, {parts})"),
            (f"rank % (P // {parts})", f"rank % (P // {parts})"),
        ]
    found += [(f"rank >= {half}", f"{half} if rank >= {half} else 0") for half in ("P // 2", "ceil_div(P, 2)")]
    for size in range(2, _MOST_BLOCKS + 1):
        found += [(f"rank // {size}", f"rank // {size} * {size}"), (f"rank % {size}", f"rank % {size}")]
        found.append((f"min(rank // {size}, 1)", f"min(rank // {size}, 1) * {size}"))
    return found


def _on_grid(rule: GridRule) -> list[tuple[str, str]]:
    """Return colors of ranks with the same place on some axes, the fewest axes first."""
    found = []
    axes = range(rule.dimensions)
    for count in range(1, rule.dimensions):
        for fixed in itertools.combinations(axes, count):
            color = f"c{fixed[-1]}"
            for axis in reversed(fixed[:-1]):
                color = f"({color}) * d{axis} + c{axis}" if "*" in color else f"{color} * d{axis} + c{axis}"
            found.append((color, f"on({', '.join(f'c{axis}' if axis in fixed else '0' for axis in axes)})"))
    return found


def _fits(color: str, leaders: Values, points: Points) -> bool:
    values = points.values(color)
    if values is None:
        return False
    return np.array_equal(together(np.where(leaders >= 0, values, _ALONE), points.starts), leaders)


def _keys(rule: GridRule | None) -> list[str]:
    """Return the orders of members that are looked for: of the ranks, the other way round, the last axis fastest."""
    found = ["rank", "P - rank"]
    if rule is not None and rule.dimensions > 1:
        key = "c0"
        for axis in range(1, rule.dimensions):
            key = f"({key}) * d{axis} + c{axis}"
        found.append(key)
    return found


def _in_order(key: str, base: Sequence[Recording], number: int, points: Points) -> bool:
    values = points.values(key)
    if values is None:
        return False
    for run, one in enumerate(base):
        own = values[points.starts[run] : points.starts[run + 1]]
        for members in {ranks[number] for ranks in one.groups if number in ranks}:
            if list(members) != sorted(members, key=lambda rank: (int(own[rank]), rank)):
                return False
    return True


def _distinct(colors: Sequence[str], points: Points) -> list[str]:
    """Return the first of all colors that put the same ranks together wherever they are tried."""
    seen: dict[bytes, str] = {}
    for color in colors:
        values = points.values(color)
        seen.setdefault(color.encode() if values is None else together(values, points.starts).tobytes(), color)
    return list(seen.values())


def _no_rule(number: int, base: Sequence[Recording], *, ordered: bool) -> InputError:
    largest = max(base, key=lambda one: one.ranks)
    members = next(ranks[number] for ranks in largest.groups if number in ranks)
    listed = ", ".join(map(str, members[:8])) + (", ..." if len(members) > 8 else "")
    return InputError(
        "no expression says which ranks are together in a communicator"
        if ordered
        else "no expression gives the order of the ranks in a communicator",
        where=largest.where,
        found=f"a communicator of ranks {listed} of {largest.ranks}",
        allowed="all ranks, rows, columns and planes of a grid, blocks of ranks, every so many ranks",
        remedy="replay a recording at its number of ranks (application: recorded)",
    )
