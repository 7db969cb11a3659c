"""Machine and job -> the run file ``node-run/1`` that the node model reads (``model/run_file.hpp``): plain numbers.

Caches have their full size and are shared as the machine file says. With ``sharing: private`` each rank has its equal
part of the last level and of the memory's bandwidth for itself: the control for what sharing does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from manynode.config.caches import Cache, Tlb
from manynode.config.experiment import QemuSection
from manynode.config.machine import Core, Machine
from manynode.errors import UsageError
from manynode.qemu.counting import SCHEMA
from phase2_nodesim.placement import CorePlace, core_places, require_cores

PREDICTORS = {"gshare": "gshare", "ltage": "tage", "tage-sc-l": "tage"}
PREFETCHERS = ("none", "next-line", "stride", "stream")
# What one memory channel gives, for machine files that do not count channels (DDR4-2666 at 95 % of 21.3 GB/s).
_CHANNEL_BPS = 20e9
# The user may not have asked for qemu: nodesim: engine: auto, the default, takes it.
_OTHER = "Or take another engine, such as nodesim: engine: valgrind"


def run_file(
    machine: Machine,
    settings: QemuSection,
    *,
    ranks: int,
    threads: int,
    first_rank: int,
    directory: Path,
    shared_memory: Path | None,
) -> dict[str, Any]:
    """Return the run file of a node with ``ranks`` ranks; what the model cannot simulate is a :class:`UsageError`."""
    require_cores(machine, ranks, threads)
    places = core_places(machine, ranks, threads, settings.binding)
    shared = settings.sharing == "shared"
    node = node_numbers(machine, settings, places, threads)
    return {
        "schema": SCHEMA,
        "ranks": ranks,
        "threads": threads,
        "first_rank": first_rank,
        "directory": str(directory.resolve()),
        "shared_memory": "" if shared_memory is None else str(shared_memory),
        "shares": shared,
        "last_level_of_slot": [place.last_level if shared else 0 for place in places],
        "domain_of_slot": [place.domain if shared else 0 for place in places],
        "node": node,
    }


def node_numbers(machine: Machine, settings: QemuSection, places: Sequence[CorePlace], threads: int) -> dict[str, Any]:
    """Return the node; ``places`` are those of all its threads, of which each rank has ``threads``."""
    caches, core, memory = machine.caches, machine.core, machine.memory
    cycle = machine.frequency
    shared = settings.sharing == "shared"
    domain_bandwidth = memory.bandwidth / (memory.domains or machine.sockets)
    channels = (memory.channels or 0) / (memory.domains or machine.sockets) or domain_bandwidth / _CHANNEL_BPS
    levels = Counter(place.last_level for place in places)
    domains = Counter(place.domain for place in places)
    # A rank whose threads sit below two caches has parts of both.
    cache_share = 1.0 if shared else threads / max(levels.values())
    memory_share = 1.0 if shared else threads / max(domains.values())
    l2_users = max(Counter(place.l2 for place in places).values())
    line = int(caches.last_level.line)
    return {
        "core": core_numbers(core, caches.l1d.latency),
        "l1i": cache_numbers("l1i", caches.l1i, line),
        "l1d": cache_numbers("l1d", caches.l1d, line),
        "l2": None if caches.l2 is None else cache_numbers("l2", caches.l2, line, l2_users),
        "line_bits": int(math.log2(line)),
        "fill_buffers": core.outstanding_misses,
        "l2_fill_buffers": (None if caches.l2 is None else caches.l2.outstanding_misses) or 2 * core.outstanding_misses,
        "tlbs": tlb_numbers(machine),
        "last_level": {
            "sets": max(1, round(caches.last_level.size / line / caches.last_level.associativity * cache_share)),
            "ways": caches.last_level.associativity,
            "latency_cycles": caches.last_level.latency,
            "line_interval": caches.last_level.line_interval,
            "replacement": caches.last_level.replacement,
            "inclusion": caches.last_level.inclusion,
            "others": (caches.last_level.other_traffic or 0.0) / line / cycle * cache_share,
        },
        "memory": {
            "latency_cycles": memory.latency * cycle,
            "remote_cycles": (memory.remote_latency or memory.latency) * cycle,
            "line_cycles": line / domain_bandwidth * cycle / memory_share,
            # A part of the bandwidth is a part of the channels: a line still takes as long on its channel.
            "channels": max(1, round(channels * memory_share)),
            "injection_to_last_level": memory.injection == "last-level",
        },
        "last_levels": len(levels) if shared else 1,
        "domains": len(domains) if shared else 1,
        "quantum_cycles": max(1, round(settings.quantum * cycle)),
        "seed": settings.seed,
        "frames_by_hash": settings.frames == "hashed",
    }


def core_numbers(core: Core, hit_latency: float) -> dict[str, Any]:
    """Return the core; empty keys get the defaults that the machine file's reference names.

    ``hit_latency`` is that of the first-level data cache [cycles].
    """
    if core.branch_predictor not in PREDICTORS:
        raise _unknown("machine: core: branch_predictor", core.branch_predictor, PREDICTORS)
    queues = core.queues()
    return {
        "width": core.dispatch_width,
        "sustained_width": core.sustained_width or 0,
        "reorder_buffer": core.reorder_buffer,
        "scheduler": queues.scheduler,
        "load_queue": queues.load,
        "store_queue": queues.store,
        "integer_units": core.integer_units or core.dispatch_width,
        "load_ports": core.load_ports,
        "store_ports": core.store_ports,
        "vector_load_ports": core.vector_load_ports or core.load_ports,
        "vector_store_ports": core.vector_store_ports or core.store_ports,
        "forward_latency": hit_latency if core.forward_latency is None else core.forward_latency,
        "vector_forward_latency": hit_latency if core.vector_forward_latency is None else core.vector_forward_latency,
        "vector_load_latency": hit_latency if core.vector_load_latency is None else core.vector_load_latency,
        "transfer_latency": core.transfer_latency,
        "float_units": core.float_units,
        "float_add_units": core.float_add_units,
        "float_issue": core.float_issue or core.float_units + core.float_add_units,
        "multiply_latency": core.multiply_latency,
        "divide_latency": core.divide_latency,
        "divide_interval": core.divide_interval,
        "float_latency": core.float_latency,
        "float_add_latency": core.float_add_latency or core.float_latency,
        "float_divide_latency": core.float_divide_latency,
        "float_divide_interval": core.float_divide_interval,
        "frontend_depth": round(core.frontend_depth),
        "fetch_bits": 0 if core.fetch_block is None else int(math.log2(core.fetch_block)),
        "vector_bytes": core.vector_bytes,
        "predictor": PREDICTORS[core.branch_predictor],
    }


def cache_numbers(name: str, cache: Cache, line: int, users: int = 1) -> dict[str, Any]:
    """Return a first- or second-level cache with lines of ``line`` bytes; its number of sets must be a power of two.

    Caches of these levels belong to one core. Each of ``users`` cores that share one has its equal part.
    """
    sets = cache.size / line / cache.associativity / users
    if sets != int(sets) or int(sets) & (int(sets) - 1):
        raise UsageError(
            "the engine qemu needs a power of two as number of sets of a first- or second-level cache",
            where=f"machine: caches: {name}",
            found=f"{sets:g} sets ({cache.size:g} bytes, {cache.associativity} ways, lines of {line} bytes"
            + (f", a part for each of {users} cores)" if users > 1 else ")"),
            remedy=f"correct size or associativity; real caches of these levels have such a number of sets. {_OTHER}",
        )
    if cache.prefetcher not in PREFETCHERS:
        raise _unknown(f"machine: caches: {name}: prefetcher", cache.prefetcher, PREFETCHERS)
    return {
        "sets": int(sets),
        "ways": cache.associativity,
        "latency_cycles": cache.latency,
        "line_interval": cache.line_interval,
        "write_interval": cache.write_interval,
        "line_fill": cache.line_fill,
        "prefetcher": cache.prefetcher,
    }


def tlb_numbers(machine: Machine) -> dict[str, Any] | None:
    """Return the address translation, or None where the machine file has none."""
    tlbs = machine.tlbs
    if tlbs is None:
        return None

    def tlb(of: Tlb) -> dict[str, int]:
        return {"sets": of.entries // of.associativity, "ways": of.associativity}

    return {
        "page_bits": int(math.log2(tlbs.page)),
        "l1i": tlb(tlbs.l1i),
        "l1d": tlb(tlbs.l1d),
        "l2": tlb(tlbs.l2),
        "l2_cycles": tlbs.l2_latency,
        "walk_cycles": tlbs.walk_latency,
    }


def _unknown(where: str, found: str, known: Iterable[str]) -> UsageError:
    words = ", ".join(known)
    return UsageError("the engine qemu does not model this", where=where, found=found, allowed=words, remedy=_OTHER)
