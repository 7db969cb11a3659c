"""The mechanistic interval model: callgrind's counts per compute phase -> cycles of a configured core.

Eyerman, Eeckhout, Karkhanis, Smith: A Mechanistic Performance Model for Superscalar Out-of-Order Processors, ACM TOCS
27(2), 2009 ("TOCS" below). Between miss events a balanced core dispatches at its full width. Each miss event starts an
interval with its own penalty, and the penalties add up. ``docs/concepts/interval-model.md`` lists what is left out.

    cycles = base + branch + icache + llc + memory + bandwidth

All functions are pure and work on whole columns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode.config.machine import Machine
from manynode.errors import InputError
from phase2_nodesim.cache_geometry import SimulatedCaches

Column = npt.NDArray[np.float64]

COUNTS = ("Ir", "I1mr", "ILmr", "D1mr", "DLmr", "D1mw", "DLmw", "Bcm", "Bim")
COMPONENTS = ("base", "branch", "icache", "llc", "memory", "bandwidth")


def memory_level_parallelism(misses: Column, instructions: Column, window: int, limit: float) -> Column:
    """Return how many of ``misses`` overlap on average, at least 1 and at most ``limit`` (line fill buffers).

    A miss that comes within ``window`` instructions of the leading miss is hidden under it (TOCS, long back-end misses;
    Karkhanis and Smith, ISCA 2004). For misses that are spread evenly at random, N/m instructions apart on average, the
    distance between leading misses is window + N/m, hence 1 + window m/N misses share one penalty. Bursts overlap more,
    chains of dependent misses less.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        overlapping = 1.0 + np.where(instructions > 0, window * misses / instructions, 0.0)
    return np.asarray(np.minimum(overlapping, limit))


def power_law_misses(inner: Column, outer: Column, inner_bytes: float, outer_bytes: float, size_bytes: float) -> Column:
    """Return the misses of a cache of ``size_bytes`` between two simulated ones, log-linear in log size.

    Miss counts follow m(S) = m(S0) (S/S0)^-a (Hartstein et al., On the nature of cache miss behavior: is it sqrt 2?,
    2008); ``a`` comes from the two counts that were simulated. A phase without outer misses fits the size in between.
    """
    if not inner_bytes < size_bytes < outer_bytes:
        return inner if size_bytes <= inner_bytes else np.minimum(inner, outer)
    share = np.log(size_bytes / inner_bytes) / np.log(outer_bytes / inner_bytes)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(inner > 0, np.minimum(outer / inner, 1.0), 0.0)
    return np.asarray(inner * ratio**share)


def _served(
    inner: Column, outer: Column, inner_bytes: float, machine: Machine, caches: SimulatedCaches, ranks_per_node: int
) -> tuple[Column, Column, Column]:
    """Return how many of the first level's misses are served by the second level, the last level, the memory."""
    outer = np.minimum(inner, outer)
    ll_bytes = caches.ll.size_bytes
    if caches.last_level == "private":
        # LL is the second level: what its misses find further out follows the square-root rule (a = 1/2).
        share = machine.last_level_share(ranks_per_node)
        memory = outer * min(1.0, np.sqrt(ll_bytes / share))
        return inner - outer, outer - memory, memory
    l2 = machine.caches.l2
    if l2 is None:
        return np.zeros_like(inner), inner - outer, outer
    beyond_l2 = power_law_misses(inner, outer, inner_bytes, ll_bytes, l2.size)
    return inner - beyond_l2, beyond_l2 - outer, outer


def interval_cycles(
    counts: pd.DataFrame, machine: Machine, caches: SimulatedCaches, ranks_per_node: int = 1
) -> pd.DataFrame:
    """Return the cycles of each row of ``counts`` and their components, columns ``cycles`` and :data:`COMPONENTS`.

    ``counts`` holds callgrind's event counts, columns :data:`COUNTS`; a missing column or a value that is negative or
    not finite is an :class:`InputError`. ``ranks_per_node`` equal ranks share the memory's bandwidth. Formulas:

    - base: N/D + (D-1)/(2D) for each interval, N instructions at D = width x efficiency; the second term is the last,
      partly filled dispatch group of an interval (TOCS, dispatch inefficiency).
    - branch: mispredicted branches x (resolution + front-end refill) (TOCS, branch mispredictions).
    - icache: misses x latency of where the line is found (TOCS, I-cache misses); nothing hides them.
    - llc: short data misses; the window hides W/D cycles of each, what is left is shared by those that overlap. (TOCS
      folds short misses into the dispatch rate through the critical path, which callgrind does not see.)
    - memory: load misses of the last level x memory latency / memory-level parallelism (TOCS, long back-end misses).
      Stores retire into the store buffer and cost bandwidth only.
    - bandwidth: what the phase lacks to the longer of two times that no overlap can beat (Little's law): line fill
      buffers occupied for each miss's latency, and bytes over this rank's share of the memory's bandwidth.
    """
    missing = [name for name in COUNTS if name not in counts.columns]
    if missing:
        raise InputError(
            "the interval model lacks event counts",
            where="callgrind totals",
            found=f"no {', '.join(missing)}",
            allowed=", ".join(COUNTS),
            remedy="run callgrind with --cache-sim=yes --branch-sim=yes",
        )
    n: dict[str, Column] = {name: counts[name].to_numpy(dtype=np.float64) for name in COUNTS}
    for name, values in n.items():
        if not np.all(np.isfinite(values) & (values >= 0)):
            raise InputError(
                "an event count is negative or not finite",
                where=f"callgrind totals: {name}",
                found=str(values[~(np.isfinite(values) & (values >= 0))][0]),
                remedy="run the node simulation again",
            )
    core = machine.core
    levels = machine.caches
    l2_latency = levels.l2.latency if levels.l2 is not None else levels.last_level.latency
    memory_latency = machine.memory_cycles()
    rate = core.dispatch_width * core.dispatch_efficiency
    window = core.reorder_buffer
    limit = float(core.outstanding_misses)
    instructions = n["Ir"]

    def served(inner: str, outer: str, size: int) -> tuple[Column, Column, Column]:
        return _served(n[inner], n[outer], size, machine, caches, ranks_per_node)

    code_l2, code_ll, code_memory = served("I1mr", "ILmr", caches.i1.size_bytes)
    load_l2, load_ll, load_memory = served("D1mr", "DLmr", caches.d1.size_bytes)
    store_l2, store_ll, store_memory = served("D1mw", "DLmw", caches.d1.size_bytes)

    mispredicted = n["Bcm"] + n["Bim"]
    long_misses = load_memory / memory_level_parallelism(load_memory, instructions, window, limit)
    intervals = mispredicted + code_l2 + code_ll + code_memory + long_misses

    parts: dict[str, Column] = {}
    parts["base"] = instructions / rate + intervals * (core.dispatch_width - 1) / (2.0 * core.dispatch_width)
    parts["branch"] = mispredicted * (core.branch_resolution + core.frontend_depth)
    parts["icache"] = code_l2 * l2_latency + code_ll * levels.last_level.latency + code_memory * memory_latency
    short = np.zeros_like(instructions)
    for misses, latency in ((load_l2, l2_latency), (load_ll, levels.last_level.latency)):
        exposed = max(0.0, latency - window / rate)
        short += misses * exposed / memory_level_parallelism(misses, instructions, window, limit)
    parts["llc"] = short
    parts["memory"] = long_misses * memory_latency
    latency_bound = sum(parts.values())

    occupied = (
        (load_l2 + store_l2) * l2_latency
        + (load_ll + store_ll) * levels.last_level.latency
        + (load_memory + store_memory) * memory_latency
    ) / limit
    # A line that a store brought in is written back later: it crosses the memory bus twice.
    lines = code_memory + load_memory + 2.0 * store_memory
    share = machine.memory.bandwidth / max(1, ranks_per_node)
    transferred = lines * levels.last_level.line / share * machine.frequency
    parts["bandwidth"] = np.maximum(np.maximum(occupied, transferred) - latency_bound, 0.0)
    cycles = latency_bound + parts["bandwidth"]
    return pd.DataFrame({"cycles": cycles, **parts}, index=counts.index)
