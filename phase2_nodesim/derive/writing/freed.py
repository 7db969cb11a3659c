"""Requests that no wait completes: where a skeleton lets go of them, as MPI_Request_free does.

A program may start sends and forget them, or free them. The next wait for requests of the same name would complete
them. In: where requests of each name are made, completed and waited for, as slots of the common sequence. Out: the
leaves before which the requests of a name are freed. At such a place all ranks free what is open of the name, so that
nothing may be open that a later wait completes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from manynode.errors import InputError

_Places = NDArray[np.int64]


@dataclass
class Spans:
    """Of the requests of one name: half-open spans (first, last] of slots.

    ``held`` are from where a request is made to where it is completed, ``lost`` from where one is made that nothing
    completes to the rank's next wait for the name, ``kept`` from there to where the same call makes another one: steps
    of a simulation end where nothing is open.
    """

    held: list[tuple[int, int]] = field(default_factory=list)
    lost: list[tuple[int, int]] = field(default_factory=list)
    kept: list[tuple[int, int]] = field(default_factory=list)


def freeing_leaves(spans: Mapping[str, Spans], leaves: Sequence[Sequence[int]]) -> dict[int, list[str]]:
    """Return by leaf the names whose requests are freed before it; ``leaves`` are the slots of each leaf."""
    found: dict[int, list[str]] = {}
    for name, one in spans.items():
        for leaf in _leaves(name, one, leaves):
            found.setdefault(leaf, []).append(name)
    return found


def _leaves(name: str, spans: Spans, leaves: Sequence[Sequence[int]]) -> list[int]:
    """Return leaves, as few as are found, so that each lost request meets one and no held request does."""
    free = _free(spans, leaves)
    found = _meeting([*spans.lost, *spans.kept], free)
    if found is None:
        found = _meeting(spans.lost, free)
    if found is None:
        raise InputError(
            "some requests are never completed, and no place of the program lets go of them alone",
            where=f"requests {name}",
            found=f"{len(set(spans.lost))} of them before other waits",
            remedy="complete or free them in the program, or write the skeleton by hand",
        )
    return sorted(found)


def _free(spans: Spans, leaves: Sequence[Sequence[int]]) -> dict[int, _Places]:
    """Return the slots of the leaves at which no request is held."""
    change = np.zeros(1 + max(slot for slots in leaves for slot in slots) + 1, np.int64)
    for first, last in set(spans.held):
        change[first + 1] += 1
        change[last + 1] -= 1
    held = np.cumsum(change) > 0
    places = {number: np.array(slots, np.int64) for number, slots in enumerate(leaves)}
    return {number: slots for number, slots in places.items() if not held[slots].any()}


def _meeting(spans: Sequence[tuple[int, int]], free: Mapping[int, _Places]) -> list[int] | None:
    """Return leaves, as few as are found, of which each span meets one; None if some meets none."""
    lost = np.array(sorted(set(spans)), np.int64).reshape(-1, 2)
    found: list[int] = []
    while len(lost):
        after = {number: _slots_after(slots, lost) for number, slots in free.items()}
        # As many as possible by one leaf, which is passed as seldom as possible, and soon.
        best = max(after, key=lambda number: _worth(after[number], len(free[number])), default=None)
        if best is None or not np.isfinite(after[best]).any():
            return None
        found.append(best)
        lost = lost[~np.isfinite(after[best])]
    return found


def _worth(after: NDArray[np.float64], passed: int) -> tuple[int, int, float]:
    met = after[np.isfinite(after)]
    return len(met), -passed, -float(met.sum())


def _slots_after(slots: _Places, spans: _Places) -> NDArray[np.float64]:
    """Return for each span how far after its beginning one of the slots is; infinite if none is in it."""
    number = np.searchsorted(slots, spans[:, 0], side="right")
    found = slots[np.minimum(number, len(slots) - 1)]
    inside = (number < len(slots)) & (found <= spans[:, 1])
    return np.where(inside, found - spans[:, 0], np.inf)
