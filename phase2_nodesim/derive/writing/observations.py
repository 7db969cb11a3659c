"""The numbers of each rule at the points of all training runs, those with other parameters included.

In: slots of the runs with the same parameters, and the other recordings as :mod:`.parse` reads them. Out: for a leaf,
its calls by point, and from them each number with the points at which it was seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.recorded.events import Event, Stream
from phase2_nodesim.derive.rules.formulas import Observed
from phase2_nodesim.derive.sequence.fold import Leaf
from phase2_nodesim.derive.sequence.slots import Slot
from phase2_nodesim.derive.sequence.walks import TURN
from phase2_nodesim.derive.writing.parse import Parsed
from phase2_nodesim.recording import RecordedCall

Number = Callable[[RecordedCall], int]


@dataclass(frozen=True)
class Other:
    """A recording with other parameters: its streams, and how they follow the program."""

    streams: Sequence[Stream]
    parsed: Parsed


class Observations:
    """``points`` are those of the runs with the same parameters, then those of the others, in their orders."""

    def __init__(self, slots: Sequence[Slot], others: Sequence[Other], points: Points) -> None:
        self.slots = slots
        self.points = points
        first = len(points.runs) - len(others)
        self._others: dict[int, dict[int, list[Event]]] = defaultdict(lambda: defaultdict(list))
        for run, other in enumerate(others, start=first):
            for rank, (stream, leaves) in enumerate(zip(other.streams, other.parsed.leaves, strict=True)):
                for event, (leaf, is_first) in zip(stream, leaves, strict=True):
                    if is_first:
                        self._others[leaf][points.index(run, rank)].append(event)

    def calls(self, number: int, leaf: Leaf) -> dict[int, list[RecordedCall]]:
        """Return the calls of a leaf's first repetition by point: one for each turn of a walk."""
        slot = self.slots[leaf.slots[0]]
        found = {self.points.index(*where): [event.call for event in events] for where, events in slot.seen.items()}
        return found | {point: [e.call for e in events] for point, events in self._others.get(number, {}).items()}

    def observed(self, calls: dict[int, list[RecordedCall]], number: Number, *, walk: bool) -> list[Observed]:
        """Return a number at all points; of a walk, by the turn."""
        longest = max(map(len, calls.values()))
        found = []
        for place in range(longest):
            where = np.zeros(self.points.size, bool)
            values = np.zeros(self.points.size, np.int64)
            for point, made in calls.items():
                if place < len(made):
                    where[point] = True
                    values[point] = number(made[place])
            found.append(Observed(where, values, {TURN: place} if walk else {}))
        return found


def nobody(calls: dict[int, list[RecordedCall]], peer: Number, *, there: bool) -> dict[int, list[RecordedCall]]:
    """Return the calls with a peer (``there``), or those whose peer is MPI_PROC_NULL."""
    return {point: made for point, made in calls.items() if (peer(made[0]) != PROC_NULL_PEER) == there}
