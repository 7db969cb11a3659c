"""Messages of a rank to all ranks of its line on the grid: one item, however long the line is.

In: streams and the grid. Out: streams of :class:`Item`. A place counts as such only if each run of its calls, at every
number of ranks, is a whole line in the same order, and some line has more ranks than a neighbourhood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from manynode.derived.grids import Grid
from phase2_nodesim.derive.events import Event, Stream
from phase2_nodesim.derive.identity import Identity, Place
from phase2_nodesim.derive.patterns import Pattern

# Where the i-th message goes along the axis: {c} is the own coordinate, {d} the extent, {i} counts from 0.
ORDERS = {
    "after": "({c} + 1 + {i}) % {d}",
    "before": "({c} - 1 - {i}) % {d}",
    "ascending": "{i} if {i} < {c} else {i} + 1",
    "descending": "{d} - 1 - {i} if {d} - 1 - {i} > {c} else {d} - 2 - {i}",
}
# From this many messages on, it is no neighbourhood.
_LONG = 3

Along = tuple[int, str]  # axis and order


class Item(NamedTuple):
    """One event, or with ``along`` the messages along a line (all that they may be, as axis and order)."""

    events: tuple[Event, ...]
    along: frozenset[Along] | None = None

    @property
    def event(self) -> Event:
        return self.events[0]


def collapse(
    streams: Mapping[int, Sequence[Stream]], pattern: Pattern, identity: Identity
) -> dict[int, list[list[Item]]]:
    """Return the items of each rank by number of ranks."""
    places = _line_places(streams, pattern, identity)
    if not places:
        return {count: [[Item((event,)) for event in stream] for stream in ranks] for count, ranks in streams.items()}
    return {
        count: [[_item(run, places, identity) for run in _cut(stream, places, identity)] for stream in ranks]
        for count, ranks in streams.items()
    }


def _cut(stream: Stream, places: Mapping[Place, frozenset[Along]], identity: Identity) -> Iterator[list[Event]]:
    for run in _runs(stream, identity):
        if identity.place(run[0]) in places:
            yield run
        else:
            yield from ([event] for event in run)


def _item(run: list[Event], places: Mapping[Place, frozenset[Along]], identity: Identity) -> Item:
    return Item(tuple(run), places.get(identity.place(run[0])))


def _runs(stream: Stream, identity: Identity) -> Iterator[list[Event]]:
    """Yield the events in runs of one place."""
    run: list[Event] = []
    place: Place | None = None
    for event in stream:
        here = identity.place(event) if event.is_message else None
        if run and here is not None and here == place:
            run.append(event)
            continue
        if run:
            yield run
        run, place = [event], here
    if run:
        yield run


def _line_places(
    streams: Mapping[int, Sequence[Stream]], pattern: Pattern, identity: Identity
) -> dict[Place, frozenset[Along]]:
    if pattern.grid is None:
        return {}
    everything = frozenset((axis, order) for axis in range(pattern.grid.dimensions) for order in ORDERS)
    found: dict[Place, frozenset[Along]] = {}
    longest: dict[Place, int] = {}
    for count, ranks in streams.items():
        grid = pattern.grid.grid(count)
        for rank, stream in enumerate(ranks):
            for run in _runs(stream, identity):
                if not run[0].is_message or run[0].operation == "MPI_Sendrecv":
                    continue
                place = identity.place(run[0])
                left = found.get(place, everything)
                if left:
                    found[place] = _alongs(grid, rank, [event.call.peer for event in run], left)
                    longest[place] = max(longest.get(place, 0), len(run))
    return {place: left for place, left in found.items() if left and longest[place] >= _LONG}


def _alongs(grid: Grid, rank: int, peers: list[int], options: frozenset[Along]) -> frozenset[Along]:
    return frozenset(option for option in options if line(grid, rank, option) == peers)


def line(grid: Grid, rank: int, along: Along) -> list[int]:
    """Return the other ranks of a rank's line, in this order."""
    axis, order = along
    extent, stride = grid.extents[axis], grid.strides[axis]
    own = rank // stride % extent
    places = {
        "after": [(own + step) % extent for step in range(1, extent)],
        "before": [(own - step) % extent for step in range(1, extent)],
        "ascending": [place for place in range(extent) if place != own],
        "descending": [place for place in reversed(range(extent)) if place != own],
    }[order]
    return [rank + (place - own) * stride for place in places]
