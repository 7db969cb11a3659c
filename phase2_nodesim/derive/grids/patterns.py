"""The grid of ranks behind a program's messages, found over all recorded numbers of ranks together.

In: who sends to whom, by place and number of ranks. Out: the rule (:mod:`manynode.derived.grids`) under which the
messages are the fewest distinct displacements, the axes around whose edges messages go, and the other rules that the
recordings do not tell from it. Messages along a tree, or to one rank, say nothing of a grid and are left out.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from manynode.derived.grids import Grid, Layout, Order, Ties, extents
from phase2_nodesim.derive.recorded.events import Stream, peers
from phase2_nodesim.derive.recorded.identity import Identity, Place

_MOST_DIMENSIONS = 4
_USUAL_DIMENSIONS = 3
# Along axes of up to three ranks, the next ranks on both sides are the whole line.
_SHORT = 3

Pairs = dict[int, dict[Place, set[tuple[int, int]]]]
Displacement = tuple[int, ...]
# A displacement, or ("line", axis) where a rank reaches its whole line.
Label = tuple[object, ...]


@dataclass(frozen=True)
class GridRule:
    """A rule of the contract; ``periodic`` is empty until it is known.

    ``exceptions`` are numbers of ranks with the extents that a program made of them, where the rule has others. If it
    is ``stated``, the program has a rule of its own, and its grids of other numbers of ranks are not known: those of
    the rule are mere examples, to tell expressions apart.
    """

    rule: str
    dimensions: int
    order: Order
    ties: Ties = "first"
    periodic: tuple[bool, ...] = ()
    layout: Layout = "first-fastest"
    exceptions: tuple[tuple[int, tuple[int, ...]], ...] = ()
    stated: bool = False

    def grid(self, ranks: int) -> Grid:
        found = dict(self.exceptions).get(ranks) or self._rule(ranks)
        return Grid(found, self.periodic or (True,) * self.dimensions, self.layout)

    def __str__(self) -> str:
        if self.stated:
            return f"of the program's own, {self.dimensions}-D"
        return f"{self.rule} {self.dimensions}-D {self.order}" + (" (ties last)" if self.ties == "last" else "")

    def except_at(self, made: Mapping[int, tuple[int, ...]]) -> GridRule:
        """Return the rule with exceptions for the numbers of ranks at which a program made other extents."""
        return replace(self, exceptions=tuple(sorted((n, one) for n, one in made.items() if self._rule(n) != one)))

    def _rule(self, ranks: int) -> tuple[int, ...]:
        return extents(self.rule, ranks, self.dimensions, self.order, self.ties)


def rules() -> list[GridRule]:
    """Return all rules, simple ones first."""
    found = [GridRule("line", 1, "unsorted")]
    for dimensions in range(2, _MOST_DIMENSIONS + 1):
        both: tuple[Order, Order] = ("descending", "ascending")
        found += [GridRule("least-surface", dimensions, order) for order in both]
        found += [GridRule("dealt", dimensions, order) for order in both]
        found += [GridRule("dealt", dimensions, "unsorted", ties) for ties in ("first", "last")]
        found += [GridRule("dims-create-mpich", dimensions, order) for order in both]
        found += [GridRule("least-surface", dimensions, order, "last") for order in both]
    return [*found, GridRule("hpcg", 3, "unsorted")]


def own_grid(made: Mapping[int, tuple[int, ...]]) -> GridRule:
    """Return the rule of a grid that is known for some numbers of ranks alone."""
    dimensions = len(next(iter(made.values())))
    return GridRule("dealt", dimensions, "unsorted", exceptions=tuple(sorted(made.items())), stated=True)


@dataclass(frozen=True)
class Pattern:
    """What was found. ``twins`` have the same extents in all runs; ``rivals`` others, and as few displacements.

    ``orders`` are the rules with the same extents in another order, if the grid is no rule's at some runs: which of
    them it has elsewhere is not known.
    """

    grid: GridRule | None
    twins: tuple[GridRule, ...] = ()
    rivals: tuple[GridRule, ...] = ()
    orders: tuple[GridRule, ...] = ()
    families: Mapping[Place, str] | None = None
    displacements: int = 0
    labels: Labels | None = field(default=None, compare=False, repr=False)

    def with_grid(self, rule: GridRule) -> Pattern:
        """Return the pattern under another rule of the grid."""
        return replace(self, grid=rule, twins=(), rivals=())

    def family(self, place: Place) -> str:
        found = (self.families or {}).get(place, "grid")
        if found == "grid" and self.labels is not None and self.grid is not None:
            return "transposed" if place in self.labels.transposed(self.grid) else found
        return found


def find_pattern(
    streams: Mapping[int, Sequence[Stream]], identity: Identity, made: Mapping[int, tuple[int, ...]] | None = None
) -> Pattern:
    """Return the pattern of the messages in streams by number of ranks.

    ``made`` are the extents of the grids that the program itself made of its ranks, the last axis fastest.
    """
    pairs = pairs_of(streams, identity)
    families = {place: _family(place, pairs) for place in {place for found in pairs.values() for place in found}}
    on_grid = sorted((place for place, family in families.items() if family == "grid"), key=str)
    if not on_grid:
        return Pattern(None, families=families)
    labels = Labels(pairs)
    scores = {rule: _score(rule, labels, on_grid) for rule in rules()}
    own, orders = _of_program({count: made[count][::-1] for count in streams} if made else {})
    scores |= {rule: _score(rule, labels, on_grid) for rule in own}
    least = min(scores.values())
    within = {rule: _steps_within(rule, labels, on_grid) for rule, score in scores.items() if score == least}
    # What the program made is its grid, as far as the messages show, also where no rule gives all of it.
    best = min(within, key=lambda rule: (rule.stated, rule not in own, within[rule], rule.dimensions))
    extents_of = {rule: tuple(rule.grid(count).extents for count in streams) for rule in scores}
    chosen = replace(best, periodic=periodic_axes(best, labels, on_grid))
    twins = [rule for rule in scores if rule != best and extents_of[rule] == extents_of[best]]
    rivals: list[GridRule] = []
    known = {extents_of[best]}
    not_shown = _dimensions_not_shown(streams)
    for rule, score in scores.items():
        shown = _uses_all_axes(extents_of[rule]) or rule.dimensions <= not_shown
        if score == scores[best] and extents_of[rule] not in known and shown:
            known.add(extents_of[rule])
            rivals.append(replace(rule, periodic=periodic_axes(rule, labels, on_grid)))
    orders = orders if best.exceptions else ()
    return Pattern(chosen, tuple(twins), tuple(rivals), orders, families, scores[best], labels)


def _of_program(made: Mapping[int, tuple[int, ...]]) -> tuple[list[GridRule], tuple[GridRule, ...]]:
    """Return the rule with the fewest exceptions for extents that no rule has at all runs, and the rules beside it.

    Where the extents are no rule's in any order, they are all that is known.
    A program that compares surfaces in floating-point numbers takes one of several equal ones by how they round.
    """
    orders = [
        rule
        for rule in rules()
        if made and all(sorted(rule.grid(count).extents) == sorted(found) for count, found in made.items())
    ]
    if not orders:
        return ([own_grid(made)] if made else []), ()
    best = min((rule.except_at(made) for rule in orders), key=lambda rule: len(rule.exceptions))
    return ([best] if best.exceptions else []), tuple(rule for rule in orders if str(rule) != str(best))


def _uses_all_axes(found: Sequence[tuple[int, ...]]) -> bool:
    """Say whether each axis had several ranks in some run; one that never had is no hypothesis, but a spare axis."""
    return all(any(one > 1 for one in axis) for axis in zip(*found, strict=True))


def _dimensions_not_shown(counts: Iterable[int]) -> int:
    """Return the number of axes, at most three, that no grid of so many ranks uses: they have too few factors."""
    factors = max(sum(one > 1 for one in extents("dealt", count, count.bit_length(), "unsorted")) for count in counts)
    return factors + 1 if factors < _USUAL_DIMENSIONS else 0


def pairs_of(streams: Mapping[int, Sequence[Stream]], identity: Identity) -> Pairs:
    pairs: Pairs = {}
    for count, ranks in streams.items():
        found: dict[Place, set[tuple[int, int]]] = defaultdict(set)
        for rank, stream in enumerate(ranks):
            for event in stream:
                for number, peer in enumerate(peers(event)):
                    if peer >= 0:
                        operation, site, communicator, tag = identity.place(event)
                        found[(f"{operation}/{number}", site, communicator, tag)].add((rank, peer))
        pairs[count] = dict(found)
    return pairs


def _family(place: Place, pairs: Pairs) -> str:
    """Return ``root``, ``tree``, ``xor`` or ``grid``: the simplest of these that all messages of a place have."""
    found = [(count, rank, peer) for count in pairs for rank, peer in pairs[count].get(place, ())]
    if len({peer for _, _, peer in found}) == 1 and len({rank for _, rank, _ in found}) > 1:
        return "root"
    if max(count for count, _, _ in found) > 4 and all(tree_label(rank, peer) for _, rank, peer in found):
        return "tree"
    bits = {rank ^ peer for _, rank, peer in found}
    # Neighbours of a hypercube are neighbours of a grid of twos, too: more than those of a grid must be there.
    if all(bit & (bit - 1) == 0 for bit in bits) and len(bits) > 2 and max(bits) >= 8:
        return "xor"
    return "grid"


def tree_label(rank: int, peer: int) -> str | None:
    """Return what ``peer`` is for ``rank`` in the binary tree whose root is 0."""
    if rank > 0 and peer == (rank - 1) // 2:
        return "parent"
    return {2 * rank + 1: "first child", 2 * rank + 2: "second child"}.get(peer)


class Labels:
    """The displacements at each place; many rules have the same grid, and many places the same messages."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = {
            count: {place: np.array(sorted(one), np.int64).reshape(-1, 2) for place, one in found.items()}
            for count, found in pairs.items()
        }
        self._known: dict[tuple[tuple[int, ...], bytes], set[Label]] = {}
        self._transposed: dict[tuple[tuple[int, ...], ...], frozenset[Place]] = {}

    def transposed(self, rule: GridRule) -> frozenset[Place]:
        """Return the places at which each rank has the messages of a transposed matrix, on some grid of 3 x 3 ranks."""
        grids = {count: rule.grid(count) for count in self.pairs}
        if rule.dimensions != 2 or not any(min(grid.extents) >= _SHORT for grid in grids.values()):
            return frozenset()
        key = tuple(grid.extents for grid in grids.values())
        if key not in self._transposed:
            self._transposed[key] = frozenset(
                place
                for place in {place for found in self.pairs.values() for place in found}
                if all(
                    np.array_equal(transposed(found[place][:, 0], grids[count]), found[place][:, 1])
                    for count, found in self.pairs.items()
                    if place in found
                )
                and any(place in self.pairs[count] for count, grid in grids.items() if min(grid.extents) >= _SHORT)
            )
        return self._transposed[key]

    def of(self, place: Place, count: int, grid: Grid) -> set[Label]:
        """Return the displacements of the messages of a place at a number of ranks."""
        pairs = self.pairs[count].get(place)
        if pairs is None:
            return set()
        key = (grid.extents, pairs.tobytes())  # all rules have one layout
        if key not in self._known:
            self._known[key] = _labels(pairs, grid)
        return self._known[key]


def _score(rule: GridRule, labels: Labels, places: Iterable[Place]) -> int:
    """Return the number of distinct displacements by place; where both signs are possible, the one known counts."""
    solid: set[tuple[Place, Label]] = set()
    open_: set[tuple[Place, Label]] = set()
    across = labels.transposed(rule)
    for count in labels.pairs:
        grid = rule.grid(count)
        for place in places:
            for label in [("transposed",)] if place in across else labels.of(place, count, grid):
                (open_ if "+-" in label else solid).add((place, label))
    more = [(p, label) for p, label in open_ if not any((p, one) in solid for one in signs(label))]
    return len(solid) + len(more)


def _steps_within(rule: GridRule, labels: Labels, places: Sequence[Place]) -> int:
    """Return the number of distinct displacements, of all places together, if none goes around an edge.

    On small grids with messages to all sides, edges and corners, around an edge is another neighbour.
    """
    found: set[tuple[int, ...]] = set()
    for count, by_place in labels.pairs.items():
        pairs = [by_place[place] for place in places if place in by_place]
        if pairs:
            here, there = map(rule.grid(count).coordinates, np.unique(np.concatenate(pairs), axis=0).T)
            steps = np.stack([b - a for a, b in zip(here, there, strict=True)], axis=1)
            found |= set(map(tuple, np.unique(steps, axis=0).tolist()))
    return len(found)


TRANSPOSED = (
    "on(d0 // d1 * c1 + c0 % (d0 // d1), c0 // (d0 // d1))",
    "on(c1 // (d1 // d0), d1 // d0 * c0 + c1 % (d1 // d0))",
)
"""The peer that has the transposed block of a matrix, on grids of which one extent is a multiple of the other."""


def transposed(ranks: np.ndarray, grid: Grid) -> np.ndarray:
    """Return the peers of :data:`TRANSPOSED`; -1 on grids that have none."""
    (d0, d1), (c0, c1) = grid.extents, grid.coordinates(ranks)
    if d0 % d1 and d1 % d0:
        return np.full(len(ranks), -1)
    s0, s1 = max(d0 // d1, 1), max(d1 // d0, 1)
    # One of the two is 1.
    to = (c1 // s1 * s0 + c0 % s0, c0 // s0 * s1 + c1 % s1)
    return to[0] * grid.strides[0] + to[1] * grid.strides[1]


def signs(label: Label) -> Iterable[Label]:
    return itertools.product(*[(1, -1) if step == "+-" else (step,) for step in label])


def _labels(pairs: np.ndarray, grid: Grid) -> set[Label]:
    """Return the displacements of pairs, each step of least magnitude, ``+-`` where an axis has two ranks."""
    here, there = grid.coordinates(pairs[:, 0]), grid.coordinates(pairs[:, 1])
    steps = []
    for a, b, extent in zip(here, there, grid.extents, strict=True):
        step = (b - a) % extent
        steps.append(np.where(2 * step > extent, step - extent, step))
    table = np.stack(steps, axis=1)
    whole = {
        axis: kind
        for axis, extent in enumerate(grid.extents)
        if extent > _SHORT and (kind := _whole_line(table, pairs, grid, axis))
    }
    found: set[Label] = set()
    for row in set(map(tuple, table.tolist())):
        moved = [axis for axis, step in enumerate(row) if step]
        if len(moved) == 1 and moved[0] in whole:
            found.add((whole[moved[0]], moved[0]))
        else:
            two = [step and extent == 2 for step, extent in zip(row, grid.extents, strict=True)]
            found.add(tuple("+-" if both else step for step, both in zip(row, two, strict=True)))
    return found


def _whole_line(table: np.ndarray, pairs: np.ndarray, grid: Grid, axis: int) -> str | None:
    """Return what all ranks with messages reach along ``axis``: their whole line, or those a power of two away."""
    alone = np.delete(table, axis, axis=1)
    along = pairs[(alone == 0).all(axis=1) & (table[:, axis] != 0)]
    ranks, counts = np.unique(along[:, 0], return_counts=True)
    extent = grid.extents[axis]
    if len(ranks) != len(np.unique(pairs[:, 0])) or len(set(counts.tolist())) != 1:
        return None
    if counts[0] == extent - 1:
        return "line"
    here, there = (one // grid.strides[axis] % extent for one in along.T)
    if counts[0] != (extent - 1).bit_length():
        return None
    powers = [(here ^ there), (there - here) % extent, (here - there) % extent]
    names = ("bits", "doubling after", "doubling before")
    return next((name for name, one in zip(names, powers, strict=True) if (one & (one - 1) == 0).all()), None)


def periodic_axes(rule: GridRule, labels: Labels, places: Sequence[Place]) -> tuple[bool, ...]:
    """Return the axes along which some message goes around the edge where there are three ranks or more.

    An axis that never had so many is as the others are if those agree; else it is taken as periodic, under which both
    signs of a step remain possible.
    """
    around: dict[int, bool] = {}
    for count, found in labels.pairs.items():
        grid = rule.grid(count)
        nothing = np.empty((0, 2), np.int64)
        together = np.concatenate([nothing, *(found[place] for place in places if place in found)])
        here, there = grid.coordinates(together[:, 0]), grid.coordinates(together[:, 1])
        for axis, extent in enumerate(grid.extents):
            step = np.abs(there[axis] - here[axis])
            if extent > 2 and step.any():
                around[axis] = around.get(axis, False) or bool((step > extent // 2).any())
    known = set(around.values())
    default = known.pop() if len(known) == 1 else True
    return tuple(around.get(axis, default) for axis in range(rule.dimensions))


@functools.lru_cache(maxsize=1 << 16)
def readings(grid: Grid, rank: int, peer: int) -> frozenset[Displacement]:
    """Return the displacements that ``peer`` may be for ``rank``: several where two steps meet at one rank."""
    options = []
    for stride, extent, periodic in zip(grid.strides, grid.extents, grid.periodic, strict=True):
        step = peer // stride % extent - rank // stride % extent
        if not periodic:
            options.append({step})
            continue
        step %= extent
        options.append(
            {0} if step == 0 else {step, -step} if 2 * step == extent else {min(step, step - extent, key=abs)}
        )
    return frozenset(itertools.product(*options))
