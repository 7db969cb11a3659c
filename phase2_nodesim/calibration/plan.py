"""Which microbenchmarks a calibration runs: tasks for ``manynode-microbenchmarks``, in groups.

Each group is one process of the program. Its first task is the clock: a chain of additions, of one cycle each.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass, field

from phase2_nodesim.calibration.host import Host

KIB, MIB = 1024, 1024**2
CHAINS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48)
STREAMED = 24 * MIB
"""Bytes that one core reads and writes in a timed stream at least."""
BEYOND_CACHES = 4
"""A timed stream is that many times what the caches hold of it: at most a quarter can come from them."""
LEAST_LARGEST = 256 * MIB
"""A chase goes to this size at least, and to eight times the last-level cache."""
WINDOWS = {"reorder_buffer": "nop"}
"""What limits the instructions between two loads that overlap: the key, and the instructions that fill it."""
if platform.machine() in ("x86_64", "aarch64"):  # window.cpp has their instructions
    WINDOWS |= {"scheduler": "dependent", "load_queue": "load", "store_queue": "store"}
_FAR_ENOUGH = 256 * MIB
"""Memory in which nearly every load of a random order misses the second level."""


@dataclass(frozen=True)
class Task:
    """One microbenchmark with its parameters, as they are on the command line."""

    name: str
    values: tuple[tuple[str, str], ...] = ()
    operations: int = 100_000

    def words(self) -> list[str]:
        """Return the words of the command line."""
        return [self.name, *[f"{key}={value}" for key, value in self.values], f"operations={self.operations}"]

    def label(self) -> str:
        """Return the label by which results name the task."""
        return " ".join([self.name, *[f"{key}={value}" for key, value in self.values]])


def task(name: str, operations: int, **values: object) -> Task:
    """Return a task; keywords are its parameters in the order given."""
    return Task(name, tuple((key, str(value)) for key, value in values.items()), operations)


PORTS = ("load", "store", "vector-load", "vector-store")
CLOCK = task("integer", 1_000_000, kind="add")


@dataclass(frozen=True)
class StreamSize:
    """Sizes of a stream [bytes], per worker: its arrays, the part that is timed, and what the caches can hold of it."""

    arrays: int
    timed: int
    cached: int

    @property
    def from_memory(self) -> bool:
        """Whether the timed part is so large that it comes from memory."""
        return self.timed >= BEYOND_CACHES * self.cached


@dataclass(frozen=True)
class Plan:
    """How much is measured. Sizes are bytes; ``largest`` is that of chases."""

    largest: int
    cores: int
    page_bytes: int
    fused: bool = True
    points_per_octave: int = 8
    operations: int = 100_000
    most_pages: int = 16384
    fillers_step: int = 48
    quick: bool = False
    counts: tuple[int, ...] = field(default=CHAINS)
    first_cache: int = 0
    """The first-level cache of data."""
    private_cache: int = 0
    """The cache of one core before the last level."""
    last_level: int = 0
    last_levels: int = 0
    """All last-level caches of the host together."""
    affordable: int = 2**62
    """Memory for the streams of all workers together."""

    def core(self) -> list[Task]:
        """Return what is in the core: latencies, units, width, branches."""
        count = 10 * self.operations
        fused = ("fused",) if self.fused else ()
        tasks = [task("integer", count // 2, kind="multiply"), task("integer", count, kind="free", chains=8)]
        tasks += [task("float", count // 2, kind=kind) for kind in ("add", "multiply", *fused)]
        tasks += [task("float", count, kind=kind, chains=14) for kind in ("add", "multiply", "mix", *fused)]
        # Regions of much less than a turn of the scheduler: divisions take long.
        tasks += [task("integer", count // 10, kind="divide"), task("integer", count // 10, kind="divide", chains=8)]
        tasks += [task("float", count // 10, kind="divide"), task("float", count // 10, kind="divide", chains=14)]
        tasks += [task("ports", count, kind=kind) for kind in PORTS]
        tasks += [task("transfer", count // 10, kind=kind) for kind in ("round", "load")]
        tasks += [task("fetch", count // 10, place=place) for place in ("inside", "across-32", "across-64")]
        tasks += [task("forward", count // 10, kind=kind) for kind in ("general", "vector")]
        # Predictors learn short sequences that come again in the next round.
        branches = max(64_000, count // 10)
        tasks += [task("branch", branches, pattern=pattern) for pattern in ("alternating", "random")]
        return [*tasks, task("width", count), task("mixed", count)]

    def sizes(self) -> list[int]:
        """Return the sizes of chases: whole lines, finer up to 4 MiB than beyond."""
        fine = min(4 * MIB, self.largest)
        sizes = _geometric(4 * KIB, fine, self.points_per_octave)
        return sorted({*sizes, *_geometric(fine, self.largest, max(2, self.points_per_octave // 2))})

    def chases(self) -> list[Task]:
        """Return chases over all sizes, with large pages as far as the host gives them."""
        return [self.chase(size) for size in self.sizes()]

    def chase(self, size: int) -> Task:
        """Return one of :meth:`chases`. It comes round before it is timed; beyond 4 MiB a part of it is timed."""
        if size <= 4 * MIB:
            return task("chase", self.operations, bytes=size, pages="large")
        return task("chase", self.operations // 4, bytes=size, pages="large", warm=min(size // 64, 2**20))

    def page_counts(self) -> list[int]:
        """Return the numbers of pages of which one line each is read."""
        return _geometric(16, self.most_pages, self.points_per_octave, unit=1)

    def pages(self) -> list[Task]:
        """Return the chases from page to page."""
        return [task("pages", self.operations // 2, count=count, page=self.page_bytes) for count in self.page_counts()]

    def lines(self) -> dict[str, Task]:
        """Return loads of lines that the second and the last level hold, and the level before does not."""
        sizes = {}
        if self.private_cache:
            sizes["l2"] = self.private_cache // 2
            if self.last_level >= 4 * self.private_cache:
                sizes["last_level"] = 2 * self.private_cache
        count = 10 * self.operations
        return {name: task("lines", count, bytes=size, pages="large") for name, size in sizes.items()}

    def fills(self) -> dict[str, Task]:
        """Return streams of one core over a half and a quarter of the first level, and over a half of the second."""
        if self.private_cache < 4 * self.first_cache or not self.first_cache:
            return {}
        sizes = {"half": self.first_cache // 2, "quarter": self.first_cache // 4, "l2": self.private_cache // 2}
        count = 10 * self.operations
        return {name: task("stream", count, kernel="read", bytes=size, pages="large") for name, size in sizes.items()}

    def written_lines(self) -> list[Task]:
        """Return stores to lines that the second level holds, and the first does not; loads: :meth:`lines`."""
        size = self.private_cache // 2
        return [task("lines", 10 * self.operations, kind="store", bytes=size, pages="large")] if size else []

    def fast_lines(self) -> list[Task]:
        """Return loads of lines as fast as they come, over ranges that the last level holds, and over twice as much.

        Where programs share a cache without parts of their own, each has as much of it as it loads beside the others. A
        chase loads so slowly that it has far less than most programs.
        """
        largest = 2 * self.last_level
        if self.quick or not self.private_cache or self.last_level < 4 * self.private_cache or largest > self.largest:
            return []
        return [
            task("lines", max(10 * self.operations, size // 64), bytes=size, pages="large")
            for size in _geometric(4 * self.private_cache, largest, max(2, self.points_per_octave // 2))
        ]

    def parallel(self) -> list[Task]:
        """Return several chases at the same time through memory."""
        return [
            task("chase", self.operations // 4, bytes=self.largest // 2, pages="large", chains=chains)
            for chains in self.counts
        ]

    def window(self, kind: str, fillers: Iterable[int] | None = None) -> list[Task]:
        """Return pairs of misses with ``fillers`` instructions of a ``kind`` between them."""
        chosen = range(0, 769, self.fillers_step) if fillers is None else fillers
        count, size = max(500, self.operations // 50), self._far()
        return [task("window", count, kind=kind, fillers=number, bytes=size) for number in chosen]

    def walks(self) -> dict[str, dict[str, Task]]:
        """Return by cache whose prefetcher shows, and by order, loads of lines that the next cache holds, or none.

        ``random`` is the order that no prefetcher follows. The second level must hold what the first one fetches, also
        where it shares its sets with other data.
        """
        if not self.private_cache:
            return {}
        sizes = {"l1d": self.private_cache // 4, "l2": self._far()}
        return {name: self._orders(size) for name, size in sizes.items()}

    def _orders(self, size: int) -> dict[str, Task]:
        """Return loads in each order, of as many lines as ``size`` bytes have."""
        count = self.operations if size <= 4 * MIB else self.operations // 4
        apart = {
            "uneven": (2, {"order": "uneven"}),
            "pairs": (1, {"order": "pairs"}),
            "next": (1, {"order": "even", "step": "1"}),
            "stride": (3, {"order": "even", "step": "3"}),
        }
        walks = {
            name: task("walk", count, bytes=lines * size, pages="large", **values)
            for name, (lines, values) in apart.items()
        }
        return walks | {"random": task("chase", count, bytes=size, pages="large", warm=min(size // 64, 2**20))}

    def _far(self) -> int:
        return min(self.largest // 2, _FAR_ENOUGH)

    def worker_counts(self) -> list[int]:
        """Return the numbers of cores of streams: powers of two, and all."""
        counts = [1]
        while 2 * counts[-1] < self.cores:
            counts.append(2 * counts[-1])
        return sorted({*counts, self.cores})

    def stream_size(self, workers: int) -> StreamSize:
        """Return the sizes of a stream of ``workers`` cores, as far as the memory of the host allows.

        Workers may be spread over all last-level caches, and each can then have a larger part of one.
        """
        known = self.private_cache + min(self.last_level, self.last_levels // workers)
        cached = known or STREAMED // BEYOND_CACHES
        each = max(MIB, self.largest // workers)
        if self.quick:
            return StreamSize(each, min(STREAMED, each // 2), cached)
        # The arrays' first half: a short region finds a quiet moment of the host, and what was written after that part
        # has replaced it in the caches.
        timed = max(STREAMED, BEYOND_CACHES * cached)
        arrays = max(MIB, min(max(each, 2 * timed), self.affordable // workers))
        return StreamSize(arrays, min(timed, arrays // 2), cached)

    def streams(self) -> list[Task]:
        """Return streams of one core and of several, and the clock of all cores."""
        tasks = [task("integer", CLOCK.operations, kind="add", workers=self.cores)]
        for workers in self.worker_counts():
            size = self.stream_size(workers)
            for kernel, arrays in (("read", 1), ("copy", 2), ("triad", 3)):
                elements = size.timed // 8 // arrays
                tasks.append(task("stream", elements, kernel=kernel, bytes=size.arrays, workers=workers))
        return tasks


def plan_for(host: Host, cores: int, *, quick: bool) -> Plan:
    """Return the plan of a calibration on ``cores`` cores of ``host``; ``quick``: for a trial that takes seconds."""
    if quick:
        return Plan(
            4 * MIB,
            cores,
            host.page_bytes,
            host.fused,
            points_per_octave=2,
            operations=5_000,
            most_pages=1024,
            fillers_step=128,
            quick=True,
            counts=(1, 4, 16),
        )
    last = host.caches.get("last_level")
    wanted = max(LEAST_LARGEST, 8 * last.size_bytes if last else 0)
    # A quarter of what is free: the order of a chase and its links need memory, too.
    affordable = max(host.memory_bytes // 4, 16 * MIB)
    first, before = host.caches.get("l1d"), host.caches.get("l2")
    return Plan(
        min(wanted, 2 ** (affordable.bit_length() - 1)),
        cores,
        host.page_bytes,
        host.fused,
        first_cache=first.size_bytes if first else 0,
        private_cache=before.size_bytes if before else 0,
        last_level=last.size_bytes if last else 0,
        last_levels=last.size_bytes * host.cores // last.shared_by if last else 0,
        affordable=affordable,
    )


def _geometric(first: int, last: int, per_octave: int, unit: int = 64) -> list[int]:
    """Return numbers from ``first`` to ``last`` that grow by equal factors, as multiples of ``unit``."""
    found = set()
    for index in range(10_000):
        value = round(first * 2 ** (index / per_octave) / unit) * unit
        if value > last:
            break
        found.add(value)
    return sorted({*found, last})
