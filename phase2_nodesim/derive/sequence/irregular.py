"""Sizes that depend on the load of a run: at which calls, and which distribution each of them is drawn from.

In: the slots of the runs with the same parameters, and which leaf of the program each event is. Out: the places whose
sizes no rule gives (:func:`irregular_places`), and a :class:`Load` for each set of leaves that send to each other and
receive from each other. A block of MPI_Alltoallv is a message from one rank to another. Both ends of a message draw its
size, so that they must have the same distribution and count its messages in the same order; what does not allow that is
an :class:`InputError`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from manynode.derived.call_forms import draws_blocks
from manynode.errors import InputError
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.recorded.events import RECEIVES, SENDS, Event, Stream
from phase2_nodesim.derive.sequence.slots import Slot

# Operation and site.
Site = tuple[str, str]
# A leaf, and which of its sizes: 0 is what it sends or receives, 1 what MPI_Sendrecv or MPI_Alltoallv receives.
End = tuple[int, int]
# A run, a rank, the number of a communicator -> its members.
Members = Callable[[int, int, int], Sequence[int]]
# Sizes of the messages from one rank to another, in order.
Series = list[int]

# Blocks of an array in three dimensions have up to so many sizes on the ranks of a job.
_MOST_BLOCKS = 8


@dataclass
class Load:
    """The messages of one distribution, or blocks: ``series`` by (run, sender, receiver)."""

    ends: set[End]
    blocks: bool = False
    series: dict[tuple[int, int, int], Series] = field(default_factory=dict)

    def sizes(self, run: int) -> list[int]:
        """Return the sizes of all messages of a run."""
        return [size for (of, _, _), series in self.series.items() if of == run for size in series]


def irregular_places(slots: Sequence[Slot]) -> frozenset[Site]:
    """Return the places of messages that have more sizes on the ranks of one run than blocks of an array have."""
    found = set()
    for slot in slots:
        blocks = draws_blocks(slot.operation)
        if not (slot.is_message or blocks) or slot.walk:
            continue
        sizes: dict[tuple[int, int], set[int]] = defaultdict(set)
        for (run, _), events in slot.seen.items():
            for call in (event.call for event in events):
                sizes[run, 0].update(call.sent if blocks else (call.bytes,))
                sizes[run, 1].update(call.received if blocks else (call.bytes2,))
        if max(map(len, sizes.values())) > _MOST_BLOCKS:
            found.add(slot.place[:2])
    return frozenset(found)


def loads(
    streams: Sequence[tuple[int, int, Stream, Sequence[int]]], places: frozenset[Site], members: Members
) -> tuple[list[Load], frozenset[Site]]:
    """Return the distributions of the messages at ``places``, and the places at the other ends of these messages.

    ``streams`` are (run, rank, events, leaf of each event).
    """
    sent, received = _channels(streams, places, members)
    groups = _Groups()
    partners: set[Site] = set()
    for channel, sends in sent.items():
        for one, other in zip(sends, received.get(channel, ()), strict=False):
            if one.site in places or other.site in places:
                partners |= {one.site, other.site}
                groups.join(one.end, other.end)
    of_blocks = {half.end for halves in sent.values() for half in halves if draws_blocks(half.site[0])}
    found = {number: Load(ends, bool(ends & of_blocks)) for number, ends in groups.numbered().items()}
    for side in (sent, received):
        by_pair: dict[tuple[int, int, int, int], list[_Half]] = defaultdict(list)
        for (run, sender, receiver, _), halves in side.items():
            for half in halves:
                if (number := groups.number(half.end)) is not None:
                    by_pair[number, run, sender, receiver].append(half)
        for (number, *pair), halves in by_pair.items():
            halves.sort(key=lambda half: half.order)
            _add(found[number], (pair[0], pair[1], pair[2]), [half.size for half in halves], side is received)
    return list(found.values()), frozenset(partners)


@dataclass(frozen=True)
class _Half:
    """One end of a message; ``order`` is its place in the stream of its rank."""

    end: End
    site: Site
    size: int
    order: int


_Channels = dict[tuple[int, int, int, int], list[_Half]]


def _channels(
    streams: Sequence[tuple[int, int, Stream, Sequence[int]]], places: frozenset[Site], members: Members
) -> tuple[_Channels, _Channels]:
    """Return what is sent and received by (run, sender, receiver, tag), in order; blocks at ``places`` alone."""
    sent: _Channels = defaultdict(list)
    received: _Channels = defaultdict(list)
    for run, rank, events, leaves in streams:
        for order, (event, leaf) in enumerate(zip(events, leaves, strict=True)):
            of_blocks = draws_blocks(event.operation) and event[:2] in places
            for which, sends, peer, size, tag in (
                _blocks(event, members(run, rank, event.call.communicator)) if of_blocks else _ends(event)
            ):
                if peer == PROC_NULL_PEER:
                    continue
                half = _Half((leaf, which), (event.operation, event.site), size, order)
                if sends:
                    sent[run, rank, peer, tag].append(half)
                else:
                    received[run, peer, rank, tag].append(half)
    return sent, received


def _ends(event: Event) -> Iterator[tuple[int, bool, int, int, int]]:
    """Yield which size of the call, whether it is sent, the peer, the size and the tag."""
    call = event.call
    if not event.is_message:
        return
    if event.operation in SENDS:
        yield 0, True, call.peer, call.bytes, call.tag
    elif event.operation in RECEIVES:
        yield 0, False, call.peer, call.bytes, call.tag
    else:
        yield 0, True, call.peer, call.bytes, call.tag
        yield 1, False, call.peer2, call.bytes2, call.receive_tag


def _blocks(event: Event, members: Sequence[int]) -> Iterator[tuple[int, bool, int, int, int]]:
    """Yield the same for the blocks of a collective."""
    call = event.call
    for which, blocks in enumerate((call.sent, call.received)):
        for peer, size in zip(members, blocks, strict=True):
            # Blocks are no messages: the communicator tells them apart, as a tag that messages cannot have.
            yield which, which == 0, peer, size, -2 - call.communicator


def _add(load: Load, pair: tuple[int, int, int], sizes: Series, received: bool) -> None:
    if not received:
        load.series[pair] = sizes
        return
    there = load.series.get(pair, [])
    if len(there) != len(sizes) or any(room < size for size, room in zip(there, sizes, strict=True)):
        raise InputError(
            "messages whose sizes depend on load are not received in the order in which they are sent",
            where=f"rank {pair[1]} to rank {pair[2]}",
            found=f"{len(there)} sent, {len(sizes)} received",
            remedy="replay a recording at its number of ranks, or write the skeleton by hand",
        )


class _Groups:
    """Ends that belong together."""

    def __init__(self) -> None:
        self._above: dict[End, End] = {}

    def _root(self, end: End) -> End:
        above = self._above.setdefault(end, end)
        while above != self._above[above]:
            self._above[end] = above = self._above[above]
        return above

    def join(self, one: End, other: End) -> None:
        low, high = sorted((self._root(one), self._root(other)))
        self._above[high] = low

    def numbered(self) -> Mapping[int, set[End]]:
        """Return the groups, numbered in the order of the program."""
        found: dict[End, set[End]] = defaultdict(set)
        for end in sorted(self._above):
            found[self._root(end)].add(end)
        self._numbers = {end: number for number, ends in enumerate(found.values()) for end in ends}
        return dict(enumerate(found.values()))

    def number(self, end: End) -> int | None:
        return self._numbers.get(end)
