"""Where the ranks of a node run: the core of each thread, and the last-level cache and memory domain of the core.

Threads of ranks are in order: those of rank 0 first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from manynode.config.machine import Machine
from manynode.errors import UsageError

Item = TypeVar("Item")


@dataclass(frozen=True)
class CorePlace:
    """The core of one thread: its second-level and last-level cache and its memory domain, each counted from 0.

    Second-level caches are counted among all of the node, the others among those in use.
    """

    l2: int
    last_level: int
    domain: int


def blocks(items: list[Item], count: int) -> list[list[Item]]:
    """Return ``items`` in at most ``count`` blocks of nearly equal size; none is empty."""
    count = min(count, len(items))
    return [items[index * len(items) // count : (index + 1) * len(items) // count] for index in range(count)]


def last_level_blocks(machine: Machine, slots: int) -> list[list[int]]:
    """Return the slots (threads of ranks, in order) below each last-level cache in use."""
    return blocks(list(range(slots)), max(1, machine.cores() // machine.caches.last_level.shared_by))


def balanced(machine: Machine, ranks: int, threads: int) -> list[int]:
    """Return the cores of equal blocks of threads, one block for each last-level cache in use."""
    per_cache = machine.caches.last_level.shared_by
    levels = last_level_blocks(machine, ranks * threads)
    caches = max(len(levels), machine.cores() // per_cache)
    # Caches in use are spread over all of them: sockets and memory domains then have equal numbers of ranks.
    return [
        level * caches // len(levels) * per_cache + index
        for level, block in enumerate(levels)
        for index in range(len(block))
    ]


def packed(machine: Machine, ranks: int, threads: int) -> list[int]:
    """Return the first cores, one for each thread: as ``mpiexec -bind-to core -map-by core`` (MPICH, Open MPI)."""
    return list(range(ranks * threads))


def domains(machine: Machine, ranks: int, threads: int) -> list[int]:
    """Return the first cores of each rank's domain: the node's cores are cut, in order, into one domain per rank.

    All domains have the same size, the whole number of cores per rank; cores that are left over stay idle. That is
    the default of Intel MPI (``I_MPI_PIN_DOMAIN=auto``). Sockets then have different numbers of ranks where the domains
    of one do not divide the ranks: 16 ranks on 2 x 18 cores are 9 and 7.
    """
    each = machine.cores() // ranks
    return [rank * each + thread for rank in range(ranks) for thread in range(threads)]


BINDINGS: dict[str, Callable[[Machine, int, int], list[int]]] = {
    "balanced": balanced,
    "packed": packed,
    "domains": domains,
}


def core_places(machine: Machine, ranks: int, threads: int, binding: str) -> list[CorePlace]:
    """Return the place of each thread of ``ranks`` ranks of ``threads`` threads; ``binding`` names the rule.

    Last-level caches that do not divide the cores equally are a :class:`UsageError`.
    """
    caches = machine.caches
    per_cache = caches.last_level.shared_by
    per_l2 = 1 if caches.l2 is None else caches.l2.shared_by
    if per_cache < machine.cores() and machine.cores() % per_cache:
        raise UsageError(
            "the last-level caches do not divide the cores equally",
            where="machine: caches: last_level: shared_by",
            found=f"{per_cache} of {machine.cores()} cores",
            allowed="a divisor of the number of cores, or all of them",
            remedy="correct shared_by, or the numbers of sockets and cores",
        )
    per_domain = machine.cores() // (machine.memory.domains or machine.sockets)
    levels: dict[int, int] = {}
    regions: dict[int, int] = {}
    return [
        CorePlace(
            core // per_l2,
            levels.setdefault(core // per_cache, len(levels)),
            regions.setdefault(core // per_domain, len(regions)),
        )
        for core in BINDINGS[binding](machine, ranks, threads)
    ]


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
