"""Loops whose number of turns follows the number of ranks: one item, however many turns there are.

A walk goes to all ranks of a line of the grid, or to those a power of two away (recursive doubling, dissemination); or
each turn is the same, such as the shifts of Cannon's algorithm. In: streams and the grid. Out: streams of
:class:`Item`. The events of a turn follow a message whose peers, on every rank of every run, are whole walks in one
order, of which some must have more turns than a neighbourhood has ranks; or they follow a call, and all ranks of a run
make as many turns, at least three different numbers of them in the runs.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from manynode.derived.grids import Grid
from phase2_nodesim.derive.grids.patterns import GridRule, Pattern
from phase2_nodesim.derive.recorded.events import COMPUTE, POINT_TO_POINT, Event, Stream, peers
from phase2_nodesim.derive.recorded.identity import Identity, Place

# From this many turns on, it is no neighbourhood.
_LONG = 3
_MOST_EVENTS = 400  # of a turn
# Of turns: fewer are no rule.
_FEWEST_NUMBERS = 3
TURN = "j"


@dataclass(frozen=True)
class Order:
    """Where turn ``{i}`` of a walk goes: ``{c}`` is the own coordinate, ``{d}`` the extent. Turns count from 0."""

    place: str
    turns: str
    number: Callable[[int], int | None]
    """How many turns an axis of this extent has; None if the walk leaves the axis."""
    at: Callable[[int, int, int], int]


def _bits(extent: int) -> int | None:
    return extent.bit_length() - 1 if extent & (extent - 1) == 0 else None


def _levels(extent: int) -> int:
    return (extent - 1).bit_length()


def _others(extent: int) -> int:
    return extent - 1


_LEVELS = "log2(2 * {d} - 1)"  # rounded up
ORDERS = {
    "after": Order("({c} + 1 + {i}) % {d}", "{d} - 1", _others, lambda c, d, i: (c + 1 + i) % d),
    "before": Order("({c} - 1 - {i}) % {d}", "{d} - 1", _others, lambda c, d, i: (c - 1 - i) % d),
    "ascending": Order("{i} if {i} < {c} else {i} + 1", "{d} - 1", _others, lambda c, d, i: i if i < c else i + 1),
    "descending": Order(
        "{d} - 1 - {i} if {d} - 1 - {i} > {c} else {d} - 2 - {i}", "{d} - 1", _others,
        lambda c, d, i: d - 1 - i if d - 1 - i > c else d - 2 - i,
    ),
    "bits": Order("{c} ^ (1 << {i})", "log2({d})", _bits, lambda c, d, i: c ^ (1 << i)),
    "bits from the highest": Order("{c} ^ ({d} >> ({i} + 1))", "log2({d})", _bits, lambda c, d, i: c ^ (d >> (i + 1))),
    "doubling after": Order("({c} + (1 << {i})) % {d}", _LEVELS, _levels, lambda c, d, i: (c + (1 << i)) % d),
    "doubling before": Order("({c} - (1 << {i})) % {d}", _LEVELS, _levels, lambda c, d, i: (c - (1 << i)) % d),
}  # fmt: skip

Along = tuple[int, str]
"""Axis and order; the axis :data:`ALL` is that of all ranks, whatever their grid."""
ALL = -1


def names(axis: int) -> tuple[str, str]:
    """Return what expressions call the own coordinate and the extent."""
    return ("rank", "P") if axis == ALL else (f"c{axis}", f"d{axis}")


def place_of(along: Along) -> str:
    """Return the coordinate along the axis to which a turn goes."""
    c, d = names(along[0])
    return ORDERS[along[1]].place.format(c=c, d=d, i=TURN)


def number_of(along: Along) -> str:
    """Return how many turns there are."""
    return ORDERS[along[1]].turns.format(d=names(along[0])[1])


class Member(NamedTuple):
    """An event of each turn, by its place; ``alongs`` has for each peer all walks that it may be.

    What ``joins`` lies between two turns.
    """

    place: Place
    alongs: tuple[frozenset[Along], ...] = ()
    joins: bool = False


Walk = tuple[Member, ...]  # what joins comes first


class Item(NamedTuple):
    """One event, or the events of all turns of a walk."""

    events: tuple[Event, ...]
    walk: Walk | None = None

    @property
    def event(self) -> Event:
        return self.events[0]

    @property
    def members(self) -> list[int]:
        """The number of each event in the walk."""
        if self.walk is None:
            return [0]
        joins = [one.joins for one in self.walk]
        return turns(range(len(joins)), joins, (len(self.events) + sum(joins)) // len(joins))


def turns(members: Sequence[int], joins: Sequence[bool], number: int) -> list[int]:
    """Return the members of a walk in the order of the events of all turns."""
    own = members[sum(joins) :]
    return [one for turn in range(number) for one in (members if turn else own)]


def collapse(
    streams: Mapping[int, Sequence[Stream]], pattern: Pattern, identity: Identity
) -> dict[int, list[list[Item]]]:
    """Return the items of each rank by number of ranks."""
    grids = {count: grid_of(pattern.grid, count) for count in streams}
    seen = _seen(streams, grids, identity)
    walks = _walks(seen, pattern.grid, identity)
    numbers = {count: {place: _number(walk, grid) for place, walk in walks.items()} for count, grid in grids.items()}
    for place, (walk, turns_of) in _repeats(seen, walks, identity).items():
        walks[place] = walk
        for count, number in turns_of.items():
            numbers[count][place] = number
    return {
        count: [list(_cut(stream, walks, numbers[count], identity)) for stream in ranks]
        for count, ranks in streams.items()
    }


def _cut(
    stream: Stream, walks: Mapping[Place, Walk], numbers: Mapping[Place, int], identity: Identity
) -> Iterator[Item]:
    position = 0
    while position < len(stream):
        event = stream[position]
        size, walk = 1, None
        if walks and (place := identity.place(event)) in walks:
            walk = walks[place]
            size = numbers[place] * len(walk) - sum(one.joins for one in walk)
        yield Item(tuple(stream[position : position + size]), walk)
        position += size


def grid_of(rule: GridRule | None, ranks: int) -> Grid:
    """Return the grid of a job, a line if there is no rule."""
    return rule.grid(ranks) if rule else Grid((ranks,), (True,), "first-fastest")


def _extent(grid: Grid, axis: int) -> int:
    return math.prod(grid.extents) if axis == ALL else grid.extents[axis]


def _number(walk: Walk, grid: Grid) -> int:
    """Return how many turns there are."""
    axis, order = min(min(one.alongs[0]) for one in walk if one.alongs)
    return ORDERS[order].number(_extent(grid, axis)) or 0


class _Seen(NamedTuple):
    """The calls of one place on a rank: the grid of its job, and where they are in the stream."""

    ranks: int
    rank: int
    grid: Grid
    stream: Stream
    positions: list[int]


def _seen(
    streams: Mapping[int, Sequence[Stream]], grids: Mapping[int, Grid], identity: Identity
) -> dict[Place, list[_Seen]]:
    """Return the calls of each place, rank by rank."""
    found: dict[Place, list[_Seen]] = defaultdict(list)
    for count, ranks in streams.items():
        for rank, stream in enumerate(ranks):
            positions: dict[Place, list[int]] = defaultdict(list)
            for position, event in enumerate(stream):
                if event.operation != COMPUTE:
                    positions[identity.place(event)].append(position)
            for place, own in positions.items():
                found[place].append(_Seen(count, rank, grids[count], stream, own))
    return found


def _walks(seen: Mapping[Place, Sequence[_Seen]], rule: GridRule | None, identity: Identity) -> dict[Place, Walk]:
    """Return the walks by the place of the first event of a turn."""
    dimensions = rule.dimensions if rule else 0
    axes = [*range(dimensions), *([ALL] if dimensions != 1 else [])]
    everything = [(axis, order) for axis in axes for order in ORDERS]
    found_walks = {}
    for place, of_ranks in seen.items():
        is_message = place[0] in POINT_TO_POINT
        if is_message and (along := _first(of_ranks, everything)) and (walk := _walk(of_ranks, along, identity)):
            found_walks[place] = walk
    return found_walks


def _first(seen: Sequence[_Seen], options: Sequence[Along]) -> Along | None:
    """Return a walk that all messages of a place follow to their first peer."""
    for along in options:
        longest = 0
        for one in seen:
            wanted = line(one.grid, one.rank, along)
            own = tuple(one.stream[position].call.peer for position in one.positions)
            if not wanted or len(own) % len(wanted) or own != wanted * (len(own) // len(wanted)):
                break
            longest = max(longest, len(wanted))
        else:
            if longest >= _LONG:
                return along
    return None


def _walk(seen: Sequence[_Seen], along: Along, identity: Identity) -> Walk | None:
    """Return the walk whose turns begin with the messages of a place; None if the turns are not alike."""
    period: tuple[Place, ...] | None = None
    for one in seen:
        number = len(line(one.grid, one.rank, along) or ())
        for at in range(0, len(one.positions), number):
            for start, end in zip(one.positions[at : at + number], one.positions[at + 1 : at + number], strict=False):
                if end - start > _MOST_EVENTS:
                    return None
                places = tuple(map(identity.place, one.stream[start:end]))
                if period is not None and places != period:
                    return None
                period = places
    if period is None:
        return None
    own = min(_alike(one.stream, position, period, identity) for one, position in _last(seen, along))
    alongs = [_alongs(seen, number, along) for number in range(own)]
    found = [one for one in alongs if one is not None]
    return _turn(period, found) if len(found) == own else None


def _turn(period: Sequence[Place], alongs: Sequence[tuple[frozenset[Along], ...]]) -> Walk | None:
    """Return a walk whose last turn ends with as many events as there are ``alongs``.

    What then lies between two turns must be computation: else another call begins them.
    """
    own = len(alongs)
    if own == 0 or any(place[0] != COMPUTE for place in period[own:]):
        return None
    return (*(Member(place, joins=True) for place in period[own:]), *map(Member, period[:own], alongs))


# Places, and what is the same in each turn of one rank.
_Alike = tuple[tuple[Place, int, int, int], ...]


def _repeats(
    seen: Mapping[Place, Sequence[_Seen]], walks: Mapping[Place, Walk], identity: Identity
) -> dict[Place, tuple[Walk, dict[int, int]]]:
    """Return loops of turns that are alike, by the place of the first call, with their turns by number of ranks."""
    taken = {member.place for walk in walks.values() for member in walk}
    found_walks = {}
    for place, of_ranks in seen.items():
        times: dict[int, set[int]] = defaultdict(set)
        for one in of_ranks:
            times[one.ranks].add(len(one.positions))
        alike = all(len(one) == 1 for one in times.values())
        several = len(set().union(*times.values())) >= _FEWEST_NUMBERS
        if place not in taken and alike and several and (repeat := _repeat(of_ranks, identity)) is not None:
            found_walks[place] = repeat
    return found_walks


def _repeat(seen: Sequence[_Seen], identity: Identity) -> tuple[Walk, dict[int, int]] | None:
    """Return the loop whose turns begin with the calls of a place, and its turns by number of ranks."""
    gaps: dict[tuple[Place, ...], int] = defaultdict(int)
    for one in seen:
        for start, end in itertools.pairwise(one.positions):
            if end - start <= _MOST_EVENTS:
                gaps[tuple(map(identity.place, one.stream[start:end]))] += 1
    if not gaps:
        return None
    period = max(gaps, key=lambda gap: gaps[gap])
    numbers: dict[int, int] = {}
    own, loops = len(period), set()
    for one in seen:
        starts, turns_of = _runs(one.stream, one.positions, period, identity)
        loops.add(len(turns_of))
        if any(number != numbers.setdefault(one.ranks, number) for number in turns_of):
            return None
        last = (start + number - 1 for start, number in zip(starts, turns_of, strict=True))
        own = min(own, *(_alike(one.stream, one.positions[index], period, identity) for index in last))
    walk = _turn(period, [()] * own)
    if walk is None or len(loops) > 1 or len(set(numbers.values())) < _FEWEST_NUMBERS:
        return None
    return walk, numbers


def _runs(
    stream: Stream, positions: Sequence[int], period: tuple[Place, ...], identity: Identity
) -> tuple[list[int], list[int]]:
    """Return where loops begin, as indices of positions, and how many turns each has."""
    starts, turns_of = [0], [1]
    before: _Alike | None = None
    for index, (start, end) in enumerate(itertools.pairwise(positions), start=1):
        turn = tuple(
            (identity.place(event), event.call.peer, event.call.peer2, event.call.bytes) for event in stream[start:end]
        )
        if tuple(place for place, *_ in turn) == period and before in (None, turn):
            turns_of[-1] += 1
            before = turn
        else:
            starts.append(index)
            turns_of.append(1)
            before = None
    return starts, turns_of


def _last(seen: Sequence[_Seen], along: Along) -> Iterator[tuple[_Seen, int]]:
    """Yield where the last turns begin."""
    for one in seen:
        number = len(line(one.grid, one.rank, along) or ())
        yield from ((one, position) for position in one.positions[number - 1 :: number])


def _alike(stream: Stream, position: int, period: Sequence[Place], identity: Identity) -> int:
    """Return how many events from a position on are those of a turn."""
    events = stream[position : position + len(period)]
    places = map(identity.place, events)
    return next((i for i, (a, b) in enumerate(zip(places, period, strict=False)) if a != b), len(events))


def _alongs(seen: Sequence[_Seen], number: int, along: Along) -> tuple[frozenset[Along], ...] | None:
    """Return the walks along the same axis that each peer of an event of the turns may be; None if there is none."""
    axis, turns_of = along[0], ORDERS[along[1]].turns
    everything = {(axis, order) for order, one in ORDERS.items() if one.turns == turns_of}
    options: list[set[Along]] = []
    for one in seen:
        length = len(line(one.grid, one.rank, along) or ())
        for at in range(0, len(one.positions), length):
            events = [one.stream[start + number] for start in one.positions[at : at + length]]
            found = list(zip(*map(peers, events), strict=True))
            options = options or [everything.copy() for _ in found]
            for left, wanted in zip(options, found, strict=True):
                left &= {option for option in left if line(one.grid, one.rank, option) == wanted}
    return tuple(map(frozenset, options)) if all(options) else None


@functools.lru_cache(maxsize=1 << 16)
def line(grid: Grid, rank: int, along: Along) -> tuple[int, ...] | None:
    """Return the ranks of a rank's walk; None if it leaves the axis."""
    axis, order = along
    extent, stride = _extent(grid, axis), 1 if axis == ALL else grid.strides[axis]
    own = rank // stride % extent
    number = ORDERS[order].number(extent)
    if number is None:
        return None
    return tuple(rank + (ORDERS[order].at(own, extent, turn) - own) * stride for turn in range(number))
