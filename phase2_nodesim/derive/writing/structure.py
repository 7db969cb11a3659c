"""What the runs with the same parameters show: calls of one sequence, loops, rules, requests, communicators.

In: recordings at several numbers of ranks. Out: a :class:`Structure` under the rule of the grid that explains the
messages best; rules that explain as much are tried, too, and kept as rivals. Runs without one are an
:class:`InputError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from manynode.errors import InputError
from phase2_nodesim.communicators import WORLD
from phase2_nodesim.derive.grids.patterns import Pattern, find_pattern, pairs_of
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.grids.probe import Probe
from phase2_nodesim.derive.grids.read_grids import read_grid, read_others
from phase2_nodesim.derive.recorded.events import Stream, streams, waited_one_by_one
from phase2_nodesim.derive.recorded.identity import Identity, find_identity
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.derive.rules.groups import Group, find_groups, grids_of
from phase2_nodesim.derive.rules.guards import Guards
from phase2_nodesim.derive.rules.rules import Rule, find_rules
from phase2_nodesim.derive.sequence.fold import Node, fold, leaves
from phase2_nodesim.derive.sequence.irregular import Site, irregular_places, loads
from phase2_nodesim.derive.sequence.shortened import Region, note_lacking
from phase2_nodesim.derive.sequence.slots import Slot, observe
from phase2_nodesim.derive.writing.drawn import Draws
from phase2_nodesim.derive.writing.waits import Waits, name_requests


@dataclass
class Structure:
    """What the runs with the same parameters show."""

    base: list[Recording]
    pattern: Pattern
    slots: list[Slot]
    tree: list[Node]
    points: Points
    probe: Probe
    guards: Guards
    rules: list[Rule]
    waits: Waits
    draws: Draws
    groups: Mapping[int, Group]


def irregular_of(base: Sequence[Recording]) -> frozenset[Site]:
    """Return the places whose sizes depend on load."""
    by_count = _by_count(base)
    identity = find_identity(by_count)
    slots, _ = observe(by_count, _pattern(by_count, identity, base), identity)
    return irregular_places(slots)


def _by_count(base: Sequence[Recording]) -> dict[int, list[Stream]]:
    """Return the streams of each run by its number of ranks."""
    one_by_one = waited_one_by_one(base)
    return {recording.ranks: streams(recording, one_by_one) for recording in base}


def made_grids(recordings: Sequence[Recording]) -> dict[int, tuple[int, ...]]:
    """Return the extents of the grids that the program made of its ranks, if it made one at each number of ranks."""
    found = {recording.ranks: recording.extents for recording in recordings}
    return found if all(found.values()) and len({len(one) for one in found.values()}) == 1 else {}


def own_grids(structure: Structure, others: Sequence[Recording]) -> dict[int, tuple[int, ...]]:
    """Return the extents of further runs of a program whose grids follow no rule, axis 0 first."""
    if made := made_grids([*structure.base, *others]):
        return {one.ranks: made[one.ranks][::-1] for one in others}
    identity = find_identity(_by_count(structure.base))
    return read_others(structure.pattern, pairs_of(_by_count(others), identity))


def _pattern(by_count: Mapping[int, Sequence[Stream]], identity: Identity, base: Sequence[Recording]) -> Pattern:
    """Return the pattern of messages; without a grid of theirs, it has that of the communicators."""
    found = find_pattern(by_count, identity, made_grids(base))
    if found.grid is not None or not (grids := grids_of(base)):
        return found
    return replace(found, grid=grids[0], rivals=tuple(grids[1:]))


def _tried(best: Pattern, base: Sequence[Recording]) -> Iterator[list[Pattern]]:
    """Yield the patterns that explain the messages best, then those with a grid of communicators, or of no rule.

    Messages around a ring of all ranks may be beside rows of a grid.
    """
    yield [best, *map(best.with_grid, best.rivals)]
    yield [best.with_grid(rule) for rule in grids_of(base)]
    if (rule := read_grid(best)) is not None:
        yield [best.with_grid(rule)]


def structure_of(base: Sequence[Recording], irregular: frozenset[Site], regions: Sequence[Region] = ()) -> Structure:
    """Return the structure of the runs with the same parameters, whose loops lack the repetitions of ``regions``.

    Parts of a divided problem may have sizes that come back at other numbers of ranks, and tell no calls apart.
    """
    by_count = _by_count(base)
    identity = find_identity(by_count)
    identity = replace(identity, by_bytes=identity.by_bytes - irregular)
    try:
        return _identified(base, by_count, identity, irregular, regions)
    except InputError:
        if not identity.by_bytes:
            raise
        return _identified(base, by_count, replace(identity, by_bytes=frozenset()), irregular, regions)


def _identified(
    base: Sequence[Recording], by_count: Mapping[int, Sequence[Stream]], identity: Identity,
    irregular: frozenset[Site], regions: Sequence[Region],
) -> Structure:  # fmt: skip
    """Return the structure under the best rule of the grid; rules that explain as much are tried, too."""
    best = _pattern(by_count, identity, base)
    failure: InputError | None = None
    for patterns in _tried(best, base):
        fitting: list[Structure] = []
        for pattern in patterns:
            try:
                slots, events = observe(by_count, pattern, identity)
                fitting.append(_with_rules(base, by_count, pattern, slots, events, irregular, regions))
            except InputError as error:
                failure = failure or error
        if fitting:
            rivals = tuple(one.pattern.grid for one in fitting[1:] if one.pattern.grid is not None)
            fitting[0].pattern = replace(fitting[0].pattern, rivals=rivals)
            return fitting[0]
    assert failure is not None
    raise failure


def _with_rules(
    base: Sequence[Recording], by_count: Mapping[int, Sequence[Stream]], pattern: Pattern, slots: list[Slot],
    events: Mapping[tuple[int, int], Sequence[int]], irregular: frozenset[Site], regions: Sequence[Region],
) -> Structure:  # fmt: skip
    for slot in slots:
        slot.set_drawn(slot.place[:2] in irregular)
    tree = fold(slots)
    if regions:
        first = zip(by_count[base[0].ranks][0], events[0, 0], strict=True)
        note_lacking(tree, regions, [slot for event, slot in first if base[0].of_all_ranks(0, event.call)])
    parameters = base[0].parameters
    points = Points([(recording.ranks, recording.parameters) for recording in base], pattern.grid)
    probe = Probe(pattern.grid, parameters)
    guards = Guards(points, probe)
    slots_of = [leaf.slots for leaf in leaves(tree)]
    leaf_of = {slot: number for number, own in enumerate(slots_of) for slot in own}
    pairs = {}
    for (run, rank), indices in events.items():
        pairs[run, rank] = (by_count[base[run].ranks][rank], [leaf_of[index] for index in indices])
    waits = name_requests([(*pair, events[where]) for where, pair in pairs.items()], slots_of)
    groups = find_groups(base, points, guards)
    rules = find_rules(slots, tree, points, guards, waits.makers, groups)

    def members(run: int, rank: int, communicator: int) -> Sequence[int]:
        return base[run].groups[rank][communicator] if communicator > WORLD else range(base[run].ranks)

    found, partners = loads([(*where, *pair) for where, pair in pairs.items()] if irregular else [], irregular, members)
    if not partners <= irregular:
        # The other ends of the same messages.
        return _with_rules(base, by_count, pattern, slots, events, irregular | partners, regions)
    draws = Draws(found, points)
    return Structure(list(base), pattern, slots, tree, points, probe, guards, rules, waits, draws, groups)
