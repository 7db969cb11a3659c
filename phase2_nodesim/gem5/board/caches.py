"""Caches and crossbars of the board. A crossbar takes one cycle each way; each cache takes its own latency."""

from __future__ import annotations

from typing import Any

from m5 import objects


def cache(board: dict[str, Any], level: str, **options: Any) -> Any:
    """Return a cache of ``level``; tags and data are read in parallel."""
    wanted = board["caches"][level]
    made = objects.Cache(
        size=f"{wanted['size_bytes']}B",
        assoc=wanted["associativity"],
        tag_latency=wanted["latency"],
        data_latency=wanted["latency"],
        response_latency=1,
        mshrs=wanted["mshrs"],
        tgts_per_mshr=20,
        write_buffers=max(8, wanted["mshrs"] // 2),
        **options,
    )
    if wanted["prefetcher"]:
        made.prefetcher = getattr(objects, wanted["prefetcher"])()
    return made


def last_level_cache(board: dict[str, Any]) -> Any:
    """Return a last-level cache, whose lines lie where a hash of their address says, as in processors.

    With sets by address it would matter which frames a rank has. gem5 gives the next free one at the first touch of a
    page: ranks that begin together take them in turns, and each would have every second set of a cache of its own.
    """
    return cache(board, "last_level", tags=objects.BaseSetAssoc(indexing_policy=objects.SkewedAssociative()))


def small_cache(size: str, **options: Any) -> Any:
    """Return a cache of a helper's core; it is tiny, like the memory of a network adapter."""
    return objects.Cache(
        size=size, assoc=2, tag_latency=1, data_latency=1, response_latency=1, mshrs=8, tgts_per_mshr=8, **options
    )


def crossbar(width_bytes: int, **options: Any) -> Any:
    """Return a coherent crossbar that moves ``width_bytes`` a cycle on each of its ports."""
    return objects.CoherentXBar(
        width=width_bytes,
        frontend_latency=1,
        forward_latency=0,
        response_latency=1,
        snoop_response_latency=1,
        # gem5 stops a run when its filter would have to track more: as much as any cache may hold.
        snoop_filter=objects.SnoopFilter(lookup_latency=0, max_capacity="64GiB"),
        **options,
    )
