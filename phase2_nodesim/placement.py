"""Where the ranks of a node run: threads of ranks, in order, fill the node in equal blocks, as schedulers bind them.

One block goes to each last-level cache, and within it one to each second-level cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from manynode.config.machine import Machine
from manynode.errors import UsageError

Item = TypeVar("Item")


@dataclass(frozen=True)
class CorePlace:
    """The core of one thread: its last-level cache and memory domain, each counted from 0 among those in use."""

    last_level: int
    domain: int


def blocks(items: list[Item], count: int) -> list[list[Item]]:
    """Return ``items`` in at most ``count`` blocks of nearly equal size; none is empty."""
    count = min(count, len(items))
    return [items[index * len(items) // count : (index + 1) * len(items) // count] for index in range(count)]


def last_level_blocks(machine: Machine, slots: int) -> list[list[int]]:
    """Return the slots (threads of ranks, in order) below each last-level cache in use."""
    return blocks(list(range(slots)), max(1, machine.cores() // machine.caches.last_level.shared_by))


def core_places(machine: Machine, slots: int) -> list[CorePlace]:
    """Return the place of each of ``slots`` threads."""
    per_cache = machine.caches.last_level.shared_by
    per_domain = machine.cores() // (machine.memory.domains or machine.sockets)
    places = []
    domains: dict[int, int] = {}
    levels = last_level_blocks(machine, slots)
    step = max(1, machine.cores() // per_cache // len(levels))
    for level, block in enumerate(levels):
        for index in range(len(block)):
            core = min(level * step * per_cache + index, machine.cores() - 1)
            domain = domains.setdefault(core // per_domain, len(domains))
            places.append(CorePlace(level, domain))
    return places


def require_cores(machine: Machine, ranks: int, threads: int) -> None:
    """Refuse more threads on the node than it has cores, as a :class:`UsageError`."""
    if ranks * threads <= machine.cores():
        return
    raise UsageError(
        "the node has too few cores for its ranks",
        where=f"machine {machine.name}",
        found=f"{ranks} ranks of {threads} threads",
        allowed=f"{machine.cores()} threads, one per core",
        remedy="lower ranks_per_node or application: threads, or take a machine with more cores",
    )
