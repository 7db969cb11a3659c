"""Maps a machine's caches to those of callgrind: first levels for instructions and for data, and one last level.

In: a machine and the number of ranks on its node. Out: three legal geometries and Valgrind's options for them. Valgrind
requires a power of two as number of sets and as line size, and whole sets: the nearest legal size is used and the
wanted one recorded. Each simulated process has its own caches; a shared cache is represented by the rank's share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from manynode.config.caches import Cache
from manynode.config.machine import Machine
from manynode.errors import UsageError

LastLevel = Literal["shared", "private"]


@dataclass(frozen=True)
class Geometry:
    """A cache that callgrind can simulate; ``wanted_bytes`` is the machine's size for one rank."""

    size_bytes: int
    associativity: int
    line_bytes: int
    wanted_bytes: float

    def option(self, name: str) -> str:
        """Return Valgrind's option, such as ``--D1=32768,8,64``."""
        return f"--{name}={self.size_bytes},{self.associativity},{self.line_bytes}"


@dataclass(frozen=True)
class SimulatedCaches:
    """The three caches of a callgrind run; ``last_level`` is the cache of the machine that LL represents."""

    i1: Geometry
    d1: Geometry
    ll: Geometry
    last_level: LastLevel

    def options(self) -> list[str]:
        """Return the options for ``valgrind --tool=callgrind --cache-sim=yes``."""
        return [self.i1.option("I1"), self.d1.option("D1"), self.ll.option("LL")]

    def describe(self) -> dict[str, Any]:
        """Return the simulated and the wanted sizes [bytes], for the provenance of a result."""
        named = {"I1": self.i1, "D1": self.d1, "LL": self.ll}
        return {
            "LL_stands_for": "l2" if self.last_level == "private" else "last_level",
            **{
                name: {
                    "size_bytes": geometry.size_bytes,
                    "associativity": geometry.associativity,
                    "line_bytes": geometry.line_bytes,
                    "wanted_bytes": round(geometry.wanted_bytes),
                }
                for name, geometry in named.items()
            },
        }


def legal_geometry(wanted_bytes: float, associativity: int, line_bytes: int) -> Geometry:
    """Return the geometry nearest to ``wanted_bytes`` (by ratio) that Valgrind accepts.

    The ways may move between half and twice the wanted ones, since a size with a power of two of sets is often found
    there; of equally near sizes, the one with the nearest number of ways is taken.
    """
    best: tuple[float, int, int] | None = None
    for ways in range(max(1, associativity // 2), 2 * associativity + 1):
        sets = wanted_bytes / (ways * line_bytes)
        for exponent in {max(0, math.floor(math.log2(sets))), max(0, math.ceil(math.log2(sets)))} if sets > 0 else {0}:
            if 2**exponent * ways < 2:  # Valgrind refuses a cache of a single line
                continue
            distance = abs(math.log(2**exponent / sets)) if sets > 0 else math.inf
            candidate = (round(distance, 12), abs(ways - associativity), ways)
            if best is None or candidate < best:
                best = candidate
                chosen = Geometry(2**exponent * ways * line_bytes, ways, line_bytes, wanted_bytes)
    if best is None:
        return Geometry(2 * line_bytes, 2, line_bytes, wanted_bytes)
    return chosen


def simulated_caches(machine: Machine, ranks_per_node: int, last_level: LastLevel = "shared") -> SimulatedCaches:
    """Return callgrind's caches for one of ``ranks_per_node`` equal ranks on ``machine``.

    ``shared`` (the default) lets LL stand for the rank's share of the last-level cache, so that LL misses are memory
    accesses; ``private`` lets it stand for the second level, for machines whose last level a rank hardly shares.
    """
    caches = machine.caches
    if last_level == "private" and caches.l2 is None:
        raise UsageError(
            "the simulated last level cannot stand for the second level",
            where=f"machine {machine.name}: caches: l2",
            found="no such cache",
            remedy="describe it in the machine file, or let LL stand for the last level ('shared')",
        )

    def share(cache: Cache) -> float:
        """Bytes of one rank: each rank has its own core as long as there are enough."""
        ranks_per_core = max(1.0, ranks_per_node / machine.cores())
        sharers = min(cache.shared_by, max(1, math.ceil(ranks_per_node * cache.shared_by / machine.cores())))
        return cache.size / max(sharers, ranks_per_core)

    def geometry(cache: Cache, size: float) -> Geometry:
        return legal_geometry(size, cache.associativity, int(cache.line))

    if last_level == "private":
        assert caches.l2 is not None
        ll = geometry(caches.l2, share(caches.l2))
    else:
        ll = geometry(caches.last_level, machine.last_level_share(ranks_per_node))
    return SimulatedCaches(
        geometry(caches.l1i, share(caches.l1i)), geometry(caches.l1d, share(caches.l1d)), ll, last_level
    )
