"""Which attributes tell calls of one place apart: tags and sizes that come back at other numbers of ranks.

A halo exchange has one call site for all directions. Where its tag names the direction, the tag says which calls of two
ranks are the same one; where every rank has tags of its own, it says nothing. Out: :class:`Identity`, which names the
place of a call with the attributes that identify it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manynode.derived.call_forms import block_fields
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.recorded.events import COMPUTE, Event, Stream

_MOST_VALUES = 64
_LEAST_SHARE = 0.99

# Operation, site, communicator, and the tag where it identifies (else None).
Place = tuple[str, str, int, int | None]


@dataclass(frozen=True)
class Identity:
    """Places (operation and site) whose calls are told apart by their tag, and by their bytes."""

    by_tag: frozenset[tuple[str, str]]
    by_bytes: frozenset[tuple[str, str]]

    def place(self, event: Event) -> Place:
        tag = event.call.tag if (event.operation, event.site) in self.by_tag else None
        return (event.operation, event.site, event.call.communicator, tag)

    def size(self, event: Event) -> int | None:
        """Return the bytes if they identify; a message to nobody may have any, and has None."""
        if (event.operation, event.site) not in self.by_bytes or PROC_NULL_PEER in (event.call.peer, event.call.peer2):
            return None
        return event.call.bytes


def find_identity(streams: Mapping[int, Sequence[Stream]]) -> Identity:
    """Return what identifies calls, from the streams of all ranks by number of ranks, with the same parameters."""
    tags: dict[tuple[str, str], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    sizes: dict[tuple[str, str], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for count, ranks in streams.items():
        for stream in ranks:
            for event in stream:
                if event.operation == COMPUTE:
                    continue
                key = (event.operation, event.site)
                tags[key][event.call.tag].add(count)
                # What a rank gives to a collective with counts is its own.
                if PROC_NULL_PEER not in (event.call.peer, event.call.peer2) and not block_fields(event.operation):
                    sizes[key][event.call.bytes].add(count)
    return Identity(_recurring(tags), _recurring(sizes))


def _recurring(values: Mapping[tuple[str, str], Mapping[int, set[int]]]) -> frozenset[tuple[str, str]]:
    return frozenset(
        key
        for key, counts in values.items()
        if 1 < len(counts) <= _MOST_VALUES
        and sum(len(found) > 1 for found in counts.values()) >= _LEAST_SHARE * len(counts)
    )
