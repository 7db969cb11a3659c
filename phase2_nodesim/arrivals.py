"""Calls in one order, whichever message arrived first: what differs from run to run of a program is no part of it.

In: the calls of a rank. Out: the same calls; of those in a row that are alike, receives from any source get their
messages in the order of the sources, and calls of MPI_Waitany complete their requests in the order in which these were
made, as MPI_Wait does. MPI_Waitall completes all at once: its requests are in this order, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from manynode.markers import NO_PEER
from phase2_nodesim.recording import RecordedCall

ANY = "MPI_Waitany"


def in_one_order(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Return the calls of a rank in the same order in each run; calls with labelled phases between stay as they are."""
    found = [_all_at_once(call) if call.operation == "MPI_Waitall" else call for call in calls]
    for kind, group in itertools.groupby(range(len(found)), lambda number: _kind(found[number])):
        numbers = list(group)
        if not kind or any(found[number].phase for number in numbers[1:]):
            continue
        alike = [found[number] for number in numbers]
        if kind[0] != ANY:
            for number, source in zip(numbers, sorted(call.peer for call in alike), strict=True):
                found[number] = found[number].but(peer=source)
        elif all(len(call.completes) == 1 for call in alike):
            for number, request in zip(numbers, sorted(call.completes for call in alike), strict=True):
                found[number] = found[number].but(operation="MPI_Wait", completes=request)
    return found


def _all_at_once(call: RecordedCall) -> RecordedCall:
    requests = tuple(sorted(call.completes))
    return call if requests == call.completes else call.but(completes=requests)


def _kind(call: RecordedCall) -> tuple[str | int, ...]:
    """Return what calls have in common that may change places; nothing for those that may not."""
    if call.operation == ANY:
        return (ANY, call.site)
    if call.wild and call.peer2 == NO_PEER:
        return (call.operation, call.site, call.bytes, call.tag, call.communicator)
    return ()
