"""What a rank does, one event after the other: compute phases and calls, the form that all steps here work on.

In: a :class:`~.recordings.Recording`. Out: a list of :class:`Event` for each rank. A compute phase is an event of its
own, because it may be there where the call after it is not, and the other way round.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from manynode.markers import NO_PEER
from phase2_nodesim.derive.recorded.places import EACH
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.recording import END, RecordedCall

COMPUTE = "compute"
SENDS = ("MPI_Send", "MPI_Isend")
RECEIVES = ("MPI_Recv", "MPI_Irecv")
POINT_TO_POINT = (*SENDS, *RECEIVES, "MPI_Sendrecv")


class Event(NamedTuple):
    """A compute phase (``operation`` is ``COMPUTE``, ``site`` its name) or a call (``site`` is its place, if known)."""

    operation: str
    site: str
    call: RecordedCall

    @property
    def is_message(self) -> bool:
        return self.operation in POINT_TO_POINT


Stream = list[Event]


def streams(recording: Recording, one_by_one: frozenset[str] = frozenset()) -> list[Stream]:
    """Return the events of each rank; MPI_Finalize is left out, a phase before it is not.

    Calls of MPI_Wait at a place of ``one_by_one`` with nothing between them are one event.
    """
    split = functools.cache(lambda phase: split_phase(phase, recording.labels))
    return [_stream(calls, split, one_by_one) for calls in recording.calls]


def waited_one_by_one(recordings: Iterable[Recording]) -> frozenset[str]:
    """Return the places at which some rank makes several calls of MPI_Wait with nothing between them."""
    return frozenset(
        after.site
        for recording in recordings
        for calls in recording.calls
        for before, after in itertools.pairwise(calls)
        if before.operation == after.operation == "MPI_Wait" and before.site == after.site and not after.phase
    )


def _stream(calls: Sequence[RecordedCall], split: Callable[[str], list[str]], one_by_one: frozenset[str]) -> Stream:
    events: Stream = []
    known: dict[int, Event] = {}  # by call, of which equal ones are one object
    for call in calls:
        for name in split(call.phase):
            events.append(Event(COMPUTE, name, RecordedCall(COMPUTE, name)))
        if call.operation == "MPI_Wait" and call.site in one_by_one:
            joined = call
            if events and events[-1][:2] == (EACH, call.site):
                before = events.pop().call
                joined = before.but(completes=(*before.completes, *call.completes))
            events.append(Event(EACH, call.site, joined))
        elif call.operation != END:
            events.append(known.setdefault(id(call), Event(call.operation, call.site, call)))
    return events


def split_phase(joined: str, labels: frozenset[str]) -> list[str]:
    """Return the labels that :mod:`phase2_nodesim.recording` joined by ``+``, which may be in a label, too."""
    if not joined:
        return []
    words = joined.split("+")
    if not labels:
        return words
    # The fewest known labels that give the joined text; a text of unknown ones is one label.
    best: list[list[str] | None] = [[]]
    for end in range(1, len(words) + 1):
        found = [
            [*before, "+".join(words[start:end])]
            for start, before in enumerate(best)
            if before is not None and "+".join(words[start:end]) in labels
        ]
        best.append(min(found, key=len) if found else None)
    return best[-1] or [joined]


def peers(event: Event) -> list[int]:
    """Return the peers of a message: destination and source of MPI_Sendrecv, else one."""
    if not event.is_message:
        return []
    return [event.call.peer] if event.call.peer2 == NO_PEER else [event.call.peer, event.call.peer2]
