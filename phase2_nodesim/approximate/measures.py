"""What a recorded run's communication is like, as far as an approximate skeleton keeps it.

In: a ``recorded-stream/2``. Out: :class:`Measures`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from phase2_nodesim.recording import REMOTE

_SENDS = {"MPI_Send", "MPI_Isend", "MPI_Sendrecv", *REMOTE}
_NO_COLLECTIVES = ("MPI_Wait", "MPI_Win_", "MPI_Recv", "MPI_Irecv")
# In smaller jobs nearly everybody is everybody's neighbour.
_FEWEST_FOR_HUBS = 8


@dataclass(frozen=True)
class Measures:
    """One run.

    ``pairs`` has the messages and bytes from one rank to another, ``sizes`` the mean bytes of a call by collective,
    ``groups``, for each communicator but the world, the number of ranks in its largest group.
    """

    ranks: int
    pairs: Mapping[tuple[int, int], tuple[int, int]]
    sizes: Mapping[str, float]
    groups: tuple[int, ...]

    @property
    def messages(self) -> float:
        """Messages that a rank sends, in the mean."""
        return sum(number for number, _ in self.pairs.values()) / self.ranks

    @property
    def peak(self) -> float:
        """Messages that a rank sends and receives, at most."""
        found = Counter[int]()
        for pair, (number, _) in self.pairs.items():
            found.update(dict.fromkeys(pair, number))
        return float(max((found[rank] for rank in found if rank not in self.hubs), default=0))

    @property
    def bytes(self) -> float:
        """Bytes of the messages that a rank sends, in the mean."""
        return sum(size for _, size in self.pairs.values()) / self.ranks

    @cached_property
    def peers(self) -> list[int]:
        """How many others each rank exchanges messages with."""
        found: dict[int, set[int]] = defaultdict(set)
        for one, other in self.pairs:
            found[one].add(other)
            found[other].add(one)
        return [len(found[rank] - {rank}) for rank in range(self.ranks)]

    @cached_property
    def hubs(self) -> set[int]:
        """Ranks that exchange messages with all, while most exchange them with few."""
        if self.ranks < _FEWEST_FOR_HUBS or float(np.median(self.peers)) > self.ranks / 2:
            return set()
        return {rank for rank, number in enumerate(self.peers) if number == self.ranks - 1}

    def reach(self, smaller: Measures) -> int:
        """Return up to which distance between ranks messages stay as far in larger jobs.

        The others go as many times farther as the job is larger. ``smaller`` is a run of a divisor of this number of
        ranks, whose messages show it: their mean distance then is nearest to that of this run.
        """
        times = self.ranks / smaller.ranks
        distances = np.array([abs(one - other) for one, other in smaller.pairs])
        weights = np.array([number for number, _ in smaller.pairs.values()], float)

        def wrong(reach: int) -> float:
            grown = np.where(distances > reach, distances * times, distances)
            return abs(float(np.average(grown, weights=weights)) - self._distance)

        return int(min([0, *np.unique(distances)], key=wrong))

    @cached_property
    def _distance(self) -> float:
        """How far the ranks of a message are apart, in the mean."""
        numbers = [number for number, _ in self.pairs.values()]
        return float(np.average([abs(one - other) for one, other in self.pairs], weights=numbers))


def measures(stream: Mapping[str, Any]) -> Measures:
    """Return the measures of a recorded run."""
    calls = stream["calls"]
    pairs: dict[tuple[int, int], tuple[int, int]] = defaultdict(lambda: (0, 0))
    sizes: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for rank, numbers in enumerate(stream["streams"]):
        groups = [next((one for one in made if rank in one), ()) for made in stream["communicators"]]
        for index, times in Counter(numbers).items():
            call = calls[index]
            name = call.get("call", "")
            if name in _SENDS:
                if (peer := call.get("peer", -1)) >= 0:
                    number = call.get("communicator", 0)
                    pair = (rank, groups[number - 1][peer] if number else peer)
                    sent, size = pairs[pair]
                    pairs[pair] = (sent + times, size + times * call.get("bytes", 0))
            elif name and not name.startswith(_NO_COLLECTIVES):
                total = sizes[blocking(name)]
                total[0] += times
                total[1] += times * _size(call)
    return Measures(
        stream["ranks"],
        {pair: found for pair, found in pairs.items() if pair[0] != pair[1]},
        {name: total / number for name, (number, total) in sizes.items() if total > 0},
        tuple(max(map(len, made), default=0) for made in stream["communicators"]),
    )


def blocking(name: str) -> str:
    """Return the blocking form of a collective's name."""
    return f"MPI_{name[5].upper()}{name[6:]}" if name.startswith("MPI_I") else name


def _size(call: Mapping[str, Any]) -> float:
    if call.get("sent"):
        return float(sum(call["sent"]))
    if call.get("received"):
        return float(np.mean(call["received"]))
    return float(call.get("bytes", 0))
