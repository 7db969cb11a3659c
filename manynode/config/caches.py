"""The caches and the address translation of a machine file (``machine.py``), with what each key may be."""

from __future__ import annotations

import itertools
from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import Quantity, Section, written

Cycles = Annotated[float, Field(ge=0, le=10_000)]
CacheBytes = Annotated[float, Quantity("size", least=1024, most=2.0**40)]
LineBytes = Annotated[float, Quantity("size", least=16, most=4096)]
Prefetcher = Literal["none", "next-line", "stride", "stream", "best-offset", "ampm"]
Replacement = Literal["lru", "random", "adaptive"]
DUELLING_SETS = 64
"""Sets of the smallest last level with replacement adaptive: one of them follows each policy."""


class Cache(Section):
    """One cache."""

    size: CacheBytes = Field(description="Capacity of one such cache")
    line: LineBytes = Field(default=written("64 B"), description="Line size, a power of two")
    associativity: Annotated[int, Field(ge=1, le=256)] = Field(description="Number of ways")
    latency: Cycles = Field(description="Load-to-use latency of a hit [cycles]")
    shared_by: Annotated[int, Field(ge=1, le=4096)] = Field(default=1, description="Cores that share one such cache")
    prefetcher: Prefetcher = Field(
        default="none",
        description="gem5, qemu: hardware prefetcher of this cache. qemu has next-line, stride and stream, for l1d and "
        "l2; gem5 takes ampm for stream",
    )
    replacement: Replacement = Field(
        default="lru",
        description="qemu, last level only: which line of a set is replaced. lru: the least recently used; random: "
        "any; adaptive: quad-age LRU with two kinds of insertion and set duelling, as in Intel's Haswell and Broadwell",
    )
    inclusion: Literal["inclusive", "victim", "neither"] = Field(
        default="neither",
        description="qemu, last level only. inclusive: a line that leaves it leaves the caches above, too; victim: it "
        "holds lines that left the second level; neither: filled by misses, without effect on the caches above",
    )
    line_interval: Cycles = Field(
        default=0,
        description="qemu, second and last level: cycles from one line to the next that the cache gives to a core's "
        "caches above it; 0: no limit",
    )
    write_interval: Cycles = Field(
        default=0,
        description="qemu, l2 only: cycles in which a line that l1d writes back comes in and none is given to a core's "
        "caches above; 0: lines come back beside them",
    )
    line_fill: Cycles = Field(
        default=0,
        description="qemu, l1d only: cycles in which a line comes in and no load starts; 0: lines come in beside loads",
    )
    other_traffic: Annotated[float, Quantity("bandwidth", least=1e6, most=1e13)] | None = Field(
        default=None,
        description="qemu, last level only: what programs that are not the node's ranks, such as other guests of a "
        "host, load into one such cache; empty: only the ranks use it",
    )
    outstanding_misses: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        default=None,
        description="qemu, second level only: misses in flight, prefetches among them; empty: twice core: "
        "outstanding_misses",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Cache:
        if int(self.line) & (int(self.line) - 1):
            raise ValueError(f"line must be a power of two (found {self.line:g} bytes)")
        if self.size < self.line * self.associativity:
            raise ValueError(f"size must hold at least one line for each of {self.associativity} ways")
        return self


class Caches(Section):
    """The cache hierarchy; without ``l2``, the last level follows the first."""

    l1i: Cache = Field(description="First-level instruction cache")
    l1d: Cache = Field(description="First-level data cache")
    l2: Cache | None = Field(default=None, description="Second level, private or shared by few cores")
    last_level: Cache = Field(description="Last level before memory; its size is that of one whole cache")

    @model_validator(mode="after")
    def _ordered(self) -> Caches:
        levels = [("l1d", self.l1d), ("l2", self.l2), ("last_level", self.last_level)]
        present = [(name, cache) for name, cache in levels if cache is not None]
        for (inner, near), (outer, far) in itertools.pairwise(present):
            if far.latency < near.latency:
                raise ValueError(f"{outer}: latency {far.latency:g} is below the {near.latency:g} cycles of {inner}")
            if far.size <= near.size:
                raise ValueError(f"{outer}: size {far.size:g} must be above the {near.size:g} bytes of {inner}")
            if far.line != near.line:
                raise ValueError(f"{outer}: line must be that of {inner}; the models need one line size for data")
        return self

    @model_validator(mode="after")
    def _in_their_place(self) -> Caches:
        only = (
            ("replacement", "last_level", "other policies"),
            ("line_fill", "l1d", "it"),
            ("write_interval", "l2", "it"),
            ("other_traffic", "last_level", "it"),
        )
        for (key, owner, what), name in itertools.product(only, ("l1i", "l1d", "l2", "last_level")):
            usual = Cache.model_fields[key].default
            found = getattr(getattr(self, name), key, usual)
            if name != owner and found != usual:
                shown = found if isinstance(found, str) else f"{found:g}"
                must = "empty" if usual is None else usual
                raise ValueError(f"{name}: {key} must be {must} (found {shown}): only {owner} has {what}")
        return self

    @model_validator(mode="after")
    def _replaced(self) -> Caches:
        last = self.last_level
        sets = int(last.size / last.line / last.associativity)
        if last.replacement == "adaptive" and sets < DUELLING_SETS:
            raise ValueError(
                f"last_level: replacement adaptive needs at least {DUELLING_SETS} sets, of which some follow each "
                f"policy (found {sets}): a larger size, or lru"
            )
        return self


class Tlb(Section):
    """One translation lookaside buffer."""

    entries: Annotated[int, Field(ge=1, le=65536)] = Field(description="Number of pages it holds")
    associativity: Annotated[int, Field(ge=1, le=65536)] = Field(description="Number of ways")

    @model_validator(mode="after")
    def _consistent(self) -> Tlb:
        sets, left = divmod(self.entries, self.associativity)
        if left or sets & (sets - 1):
            raise ValueError(
                f"entries must be a power of two times the {self.associativity} ways (found {self.entries})"
            )
        return self


class Tlbs(Section):
    """Address translation: a first level per core for code and data, a second level for both."""

    page: Annotated[float, Quantity("size", least=4096, most=2.0**30)] = Field(
        default=written("4 KiB"), description="Page size that programs get, a power of two"
    )
    l1i: Tlb = Field(description="First level for instructions")
    l1d: Tlb = Field(description="First level for data")
    l2: Tlb = Field(description="Second level for both")
    l2_latency: Cycles = Field(
        description="Cycles that a miss of the first level adds when the second level has the page"
    )
    walk_latency: Cycles = Field(
        description="Cycles of a page walk besides the load of the page-table entry, which goes through the caches"
    )

    @model_validator(mode="after")
    def _power_of_two(self) -> Tlbs:
        if int(self.page) & (int(self.page) - 1):
            raise ValueError(f"page must be a power of two (found {self.page:g} bytes)")
        return self
