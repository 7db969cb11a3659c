"""What was observed of each call of the common sequence: at which ranks of which runs it happens, and with what values.

In: recordings with the same parameters. Out: :class:`Slot` in the order of the program. Two slots with equal
observations follow the same rule, whatever it is; their rules are found once, and loops are repetitions of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from manynode.derived.grids import Grid
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.grids.patterns import Pattern, readings, tree_label
from phase2_nodesim.derive.recorded.events import POINT_TO_POINT, Event, Stream, peers
from phase2_nodesim.derive.recorded.identity import Identity, Place
from phase2_nodesim.derive.sequence.align import Labels, Token, align
from phase2_nodesim.derive.sequence.walks import Along, Item, Member, collapse


@dataclass
class Slot:
    """One call or compute phase, or one of each turn of a walk; ``seen`` has its events by (run, rank).

    ``alongs``: the walks that each peer may be. ``walk`` are the slots of the same turns, this one included. ``drawn``:
    its sizes depend on load; no rule gives them, and the call is the same one with any of them.
    """

    place: Place
    alongs: tuple[frozenset[Along], ...] = ()
    joins: bool = False
    walk: list[Slot] = field(default_factory=list, repr=False)
    drawn: bool = False
    seen: dict[tuple[int, int], list[Event]] = field(default_factory=dict)

    @classmethod
    def of(cls, token: Token, member: Member | None) -> Slot:
        return cls(token.place) if member is None else cls(member.place, member.alongs, member.joins)

    def set_drawn(self, drawn: bool) -> None:
        """Say whether the sizes depend on load; the shape, which has them otherwise, is made anew."""
        self.drawn = drawn
        for one in self.walk or [self]:
            one.__dict__.pop("shape", None)

    @property
    def first(self) -> Slot | None:
        """The slot whose condition is that of all slots of the walk: a message along it, or the first of a turn."""
        own = [one for one in self.walk if not one.joins]
        return next((one for one in own if one.alongs), own[0] if own else None)

    @property
    def operation(self) -> str:
        return self.place[0]

    @property
    def site(self) -> str:
        return self.place[1]

    @property
    def communicator(self) -> int:
        return self.place[2]

    @property
    def is_message(self) -> bool:
        return self.operation in POINT_TO_POINT

    @cached_property
    def shape(self) -> Hashable:
        """All observations but tags, which may grow from one repetition to the next.

        Those of all slots of a walk, so that no loop begins inside.
        """
        if not self.walk:
            return self._own_shape()
        number = next(number for number, one in enumerate(self.walk) if one is self)
        return (number, *(one._own_shape() for one in self.walk))

    def _own_shape(self) -> Hashable:
        rows = []
        for where, events in sorted(self.seen.items()):
            for c in (event.call for event in events):
                sizes = () if self.drawn else (c.bytes, c.bytes2, c.sent, c.received)
                rows.append((where, c.peer, c.peer2, sizes, len(c.completes)))
        return (*self.place[:3], self.alongs, self.joins, tuple(rows))

    @cached_property
    def tags(self) -> tuple[int, ...]:
        """The tags of all observations, in a fixed order."""
        return tuple(
            tag
            for _, events in sorted(self.seen.items())
            for event in events
            for tag in (event.call.tag, event.call.receive_tag)
        )


def observe(
    streams: Mapping[int, Sequence[Stream]], pattern: Pattern, identity: Identity
) -> tuple[list[Slot], dict[tuple[int, int], list[int]]]:
    """Return the slots of the program, and for each (run, rank) the slot of each of its events.

    ``run`` numbers the runs in the order of ``streams``.
    """
    items = collapse(streams, pattern, identity)
    by_stream: dict[tuple[int, int], list[Item]] = {}
    tokens: dict[tuple[int, int], list[Token]] = {}
    for run, (count, ranks) in enumerate(items.items()):
        grid = pattern.grid.grid(count) if pattern.grid else None
        for rank, found in enumerate(ranks):
            by_stream[run, rank] = found
            known: dict[Hashable, Token] = {}
            tokens[run, rank] = []
            for item in found:
                c = item.event.call
                alike = (*item.event[:2], c.communicator, c.tag, c.peer, c.peer2, c.bytes, item.walk)
                if alike not in known:
                    known[alike] = _token(item, rank, grid, pattern, identity)
                tokens[run, rank].append(known[alike])
    sequence, where = align(tokens)
    walks: dict[int, tuple[Member, ...]] = {}
    for key, indices in where.items():
        walks |= {index: item.walk for index, item in zip(indices, by_stream[key], strict=True) if item.walk}
    own = [[Slot.of(token, one) for one in walks.get(index, (None,))] for index, token in enumerate(sequence)]
    slots = [slot for of_item in own for slot in of_item]
    for index in walks:
        for slot in own[index]:
            slot.walk = own[index]
    firsts = [0, *itertools.accumulate(map(len, own))]
    events: dict[tuple[int, int], list[int]] = {}
    for key, indices in where.items():
        events[key] = []
        for index, item in zip(indices, by_stream[key], strict=True):
            for member, event in zip(item.members, item.events, strict=True):
                own[index][member].seen.setdefault(key, []).append(event)
                events[key].append(firsts[index] + member)
    return slots, events


def _token(item: Item, rank: int, grid: Grid | None, pattern: Pattern, identity: Identity) -> Token:
    event = item.event
    place = identity.place(event)
    if item.walk is not None:
        return Token(place, None, (frozenset([item.walk]),))
    if not event.is_message:
        return Token(place, identity.size(event), ())
    found = tuple(_labels(event, number, rank, grid, pattern, identity) for number in range(len(peers(event))))
    return Token(place, identity.size(event), found)


def _labels(
    event: Event, number: int, rank: int, grid: Grid | None, pattern: Pattern, identity: Identity
) -> Labels | None:
    peer = peers(event)[number]
    if peer == PROC_NULL_PEER:
        return None
    operation, site, communicator, tag = identity.place(event)
    family = pattern.family((f"{operation}/{number}", site, communicator, tag))
    if family == "root":
        return frozenset({"root"})
    if family == "tree":
        label = tree_label(rank, peer)
        return frozenset({label}) if label else frozenset({("rank", peer)})
    if family == "xor":
        return frozenset({("xor", rank ^ peer)})
    assert grid is not None
    if family == "transposed":
        return frozenset({"transposed"})
    return frozenset(readings(grid, rank, peer))
