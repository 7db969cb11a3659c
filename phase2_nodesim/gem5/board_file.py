"""Machine and ranks -> the board file that ``board/run.py`` reads inside gem5: plain numbers and gem5's terms.

Caches follow the machine: the ranks of the node are spread over its last-level caches, each thread has its own core,
and each last-level cache has its full size. gem5 requires a power of two as number of sets: the nearest legal size is
used and the wanted one recorded. Latencies of the machine file are load-to-use. gem5 needs the latency of each cache
alone, which is the difference to the parts before it (docs/how-to/gem5.md; ``make bench NAME=gem5_board`` measures the
result).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.config.caches import Cache
from manynode.config.machine import Core, Machine
from manynode.errors import UsageError
from phase2_nodesim.cache_geometry import legal_geometry
from phase2_nodesim.placement import blocks, last_level_blocks, require_cores

SCHEMA = "gem5-board/1"

# Cycles on the way, as board/ builds it: what O3 adds to a load that hits, one crossbar there and back, and a cache's
# answer to the level below. The first was measured with a chain of dependent loads (docs/how-to/gem5.md).
CORE_CYCLES = 1
CROSSBAR_CYCLES = 2
RESPONSE_CYCLES = 1

MOST_WIDTH = 12
"""gem5's MaxWidth (src/cpu/o3/limits.hh)."""

OPERATIONS = 1.8
"""gem5's micro-operations for one operation of the machine file, which counts as processors do: a load with its
arithmetic is one, and so is a comparison with its jump. gem5 takes three for the jump alone (measured: 1.65 to 2.0 an
instruction, docs/validation/node-model.md)."""

LOADS, STORES = 1.25, 1.4
"""gem5's loads and stores for one of a processor: those of 16 bytes are two. Means of five applications, which have 0.9
to 1.7 loads and 1.0 to 1.75 stores (docs as above)."""

DIVIDE_STEPS = 7
"""gem5's micro-operations that depend on each other in an integer division of small numbers."""

_PREDICTORS = {
    "local": "LocalBP",
    "tournament": "TournamentBP",
    "ltage": "LTAGE",
    "tage-sc-l": "TAGE_SC_L_64KB",
}
_PREFETCHERS = {
    "none": None,
    "next-line": "TaggedPrefetcher",
    "stride": "StridePrefetcher",
    # gem5 has none that follows streams as such; access maps find them, forwards and backwards.
    "stream": "AMPMPrefetcher",
    "best-offset": "BOPPrefetcher",
    "ampm": "AMPMPrefetcher",
}


@dataclass(frozen=True)
class GuestProcess:
    """The guest of one rank, as gem5 starts it."""

    rank: int
    command: Sequence[str]
    environment: Sequence[str]
    folder: Path


@dataclass(frozen=True)
class BoardFiles:
    """Files that the board's script reads and writes."""

    states: Path | None
    """One byte per rank (phase2_nodesim/bridge/wire.h); None for guests that run alone."""
    statistics: Path | None
    """Receives the statistics of each compute phase."""


def board_file(
    machine: Machine,
    guests: Sequence[GuestProcess],
    files: BoardFiles,
    *,
    threads: int = 1,
    helpers: bool = False,
    progress_s: float = 10.0,
) -> dict[str, Any]:
    """Return the board for ``guests``, each with ``threads`` cores and, with ``helpers``, one more off the caches.

    More threads on the node than cores is a :class:`UsageError`.
    """
    slots = len(guests) * threads
    require_cores(machine, len(guests), threads)
    return {
        "schema": SCHEMA,
        "machine": machine.name,
        "frequency_hz": machine.frequency,
        "line_bytes": int(machine.caches.last_level.line),
        "core": core_parameters(machine.core, threads),
        "caches": cache_parameters(machine),
        "memory": memory_parameters(machine, len(guests)),
        "last_levels": place(machine, slots),
        "threads": threads,
        "helpers": helpers,
        "guests": [
            {
                "rank": guest.rank,
                "command": [str(word) for word in guest.command],
                "environment": list(guest.environment),
                "folder": str(guest.folder),
            }
            for guest in guests
        ],
        "states": None if files.states is None else str(files.states),
        "statistics": None if files.statistics is None else str(files.statistics),
        "progress_s": progress_s,
    }


def core_parameters(core: Core, threads: int = 1) -> dict[str, Any]:
    """Return the parameters of gem5's out-of-order core (X86O3CPU) and functional units, for ranks of ``threads``."""
    for key, value in (("dispatch_width", core.dispatch_width), ("issue_width", core.issue_width or 0)):
        if value > MOST_WIDTH:
            raise UsageError(
                "the core is wider than gem5's",
                where=f"machine: core: {key}",
                found=str(value),
                allowed=f"at most {MOST_WIDTH} (MaxWidth, which is compiled into gem5)",
                remedy="take a narrower core for the engine gem5, or the engine valgrind",
            )
    width = min(MOST_WIDTH, _operations(core.dispatch_width))
    issue = min(MOST_WIDTH, _operations(core.issue_width or 2 * core.dispatch_width))
    rob = _operations(core.reorder_buffer)
    queues = core.queues()
    loads = round(LOADS * queues.load)
    # From fetch to dispatch gem5 counts decode to rename (1) and rename to dispatch (2) by itself.
    fetch_to_decode = max(1, round(core.frontend_depth) - 3)
    if core.branch_predictor not in _PREDICTORS:
        raise UsageError(
            "gem5 has no such branch predictor",
            where="machine: core: branch_predictor",
            found=core.branch_predictor,
            allowed=", ".join(_PREDICTORS),
            remedy="choose one of these for the engine gem5, or the engine qemu",
        )
    return {
        "o3": {
            # Fetch stands still until a new block of code has come, which a processor fetches ahead.
            "fetchWidth": MOST_WIDTH,
            **dict.fromkeys(("decodeWidth", "renameWidth", "dispatchWidth", "commitWidth"), width),
            "squashWidth": 2 * width,
            "issueWidth": issue,
            "wbWidth": issue,
            "fetchToDecodeDelay": fetch_to_decode,
            # How far back a stage can look for what another one sent.
            "backComSize": fetch_to_decode + 5,
            "fetchQueueSize": 8 * MOST_WIDTH,
            "numROBEntries": rob,
            # gem5's loads keep their entry until their data is there; processors' wait in the load queue alone.
            "numIQEntries": _operations(queues.scheduler) + loads,
            "LQEntries": loads,
            "SQEntries": round(STORES * queues.store),
            # Not to be the limit: real cores size them for the reorder buffer.
            "numPhysIntRegs": rob + 128,
            "numPhysFloatRegs": rob + 128,
            "numPhysVecRegs": rob + 128,
            "cacheLoadPorts": core.load_ports,
            "cacheStorePorts": core.store_ports,
            # gem5 keeps stores in order by having one in flight; processors write one a cycle. Ranks share no memory,
            # and their helpers are told by system calls.
            "needsTSO": threads > 1,
            # A load waits for an earlier store to the same bytes, not for one to the same 16 bytes.
            "LSQDepCheckShift": 0,
        },
        "predictor": _PREDICTORS[core.branch_predictor],
        "units": {
            "integer": _operations(core.integer_units or core.dispatch_width),
            "multiply": max(1, core.dispatch_width // 4),
            "float": _operations(core.float_units),
            "float_latency": core.float_latency,
            "float_add_latency": core.float_add_latency or core.float_latency,
            # A unit that is busy with one division at a time; as many as give the machine's interval.
            "float_divide": max(1, _operations(core.float_divide_latency / core.float_divide_interval)),
            "float_divide_latency": core.float_divide_latency,
            "divide_step": max(1, round(core.divide_latency / DIVIDE_STEPS)),
            "load": core.load_ports,
            "store": core.store_ports,
        },
    }


def _operations(count: float) -> int:
    return round(OPERATIONS * count)


def cache_parameters(machine: Machine) -> dict[str, Any]:
    """Return the caches by level: geometry, the latency of each alone [cycles], misses in flight, prefetcher."""
    caches, misses = machine.caches, machine.core.outstanding_misses
    levels: dict[str, tuple[Cache, int]] = {"l1i": (caches.l1i, max(4, misses // 2)), "l1d": (caches.l1d, misses)}
    if caches.l2 is not None:
        levels["l2"] = (caches.l2, 2 * misses * caches.l2.shared_by)
    levels["last_level"] = (caches.last_level, 2 * misses * caches.last_level.shared_by)
    latencies = own_latencies(machine)
    return {
        name: {
            **_geometry(cache),
            "latency": latencies[name],
            "mshrs": mshrs,
            "prefetcher": _PREFETCHERS[cache.prefetcher],
        }
        for name, (cache, mshrs) in levels.items()
    }


def own_latencies(machine: Machine) -> dict[str, int]:
    """Return the latency [cycles] of each cache alone that gives the machine's load-to-use latency.

    A load that misses passes the level's own latency, one crossbar there and back, and the answer of each level above.
    Code comes from the first level in one cycle: gem5 fetches one block after the other and waits for each, where a
    processor fetches ahead, so that the latency is part of its depth alone (``frontend_depth``).
    """
    caches = machine.caches
    first = max(1, round(caches.l1d.latency) - CORE_CYCLES)
    latencies = {"l1i": 1, "l1d": first}
    way = CORE_CYCLES + first
    below = [("l2", caches.l2), ("last_level", caches.last_level)]
    for name, cache in below:
        if cache is None:
            continue
        way += CROSSBAR_CYCLES + RESPONSE_CYCLES
        latencies[name] = max(1, round(cache.latency) - way)
        way += latencies[name]
    return latencies


def memory_parameters(machine: Machine, guests: int) -> dict[str, Any]:
    """Return the memory: what is left of its latency [s] after the way to it, bandwidth [B/s], channels."""
    levels = own_latencies(machine)
    data = [cycles for name, cycles in levels.items() if name != "l1i"]
    way = CORE_CYCLES + sum(data) + len(data) * (CROSSBAR_CYCLES + RESPONSE_CYCLES)
    memory = machine.memory
    rest = memory.latency - way / machine.frequency
    if rest <= 0:
        raise UsageError(
            "the memory is faster than the caches before it",
            where=f"machine {machine.name}: memory: latency",
            found=f"{memory.latency * 1e9:g} ns",
            allowed=f"more than {way / machine.frequency * 1e9:.1f} ns, the latency of a miss in the last-level cache",
            remedy="correct the latencies of the machine file",
        )
    return {
        "latency_s": rest,
        "bandwidth": memory.bandwidth,
        "dram": memory.dram,
        "channels": memory.channels or 1,
        # Host memory is taken page by page when a guest writes to it: room costs nothing.
        "bytes": 2 ** max(33, math.ceil(math.log2(guests)) + 32),
        # No crossbar shall be the limit: line fills of all last-level caches at the memory's rate and more.
        "width_bytes": 2 ** math.ceil(math.log2(max(64.0, 2 * memory.bandwidth / machine.frequency))),
    }


def place(machine: Machine, slots: int) -> list[list[list[int]]]:
    """Return, for each last-level cache in use, its second-level caches as lists of the core slots below them.

    Slots (threads of ranks, in order) fill the node in equal blocks: one block per last-level cache, and within it per
    second-level cache, as schedulers bind ranks to cores.
    """
    caches = machine.caches
    last_levels = last_level_blocks(machine, slots)
    if caches.l2 is None:
        return [[[slot] for slot in block] for block in last_levels]
    inner = max(1, caches.last_level.shared_by // caches.l2.shared_by)
    return [blocks(block, inner) for block in last_levels]


def _geometry(cache: Cache) -> dict[str, int]:
    geometry = legal_geometry(cache.size, cache.associativity, int(cache.line))
    return {
        "size_bytes": geometry.size_bytes,
        "associativity": geometry.associativity,
        "wanted_bytes": round(geometry.wanted_bytes),
    }
