"""gem5's counts per compute phase -> where its cycles went (Eyerman et al., section 5.3 and Figure 7).

gem5 keeps no CPI stack. Cycles are measured; how they divide follows the same interval analysis as the valgrind
engine (``interval.py``), with gem5's counts and latencies in place of modelled ones, and never adds up to more than
was measured:

- base: operations over the dispatch width;
- branch: mispredicted branches x (resolution + front-end refill);
- icache: cycles in which fetch waited for the instruction cache;
- l2, last_level, memory: the measured latency of all demand misses of the first level, over the misses that overlap
  within the reorder buffer, divided by where the lines were found;
- other: the rest, which is dependences, functional units, full queues, serialising instructions.

In syscall emulation gem5 charges nothing for a TLB miss on x86: they are counted, and have no part.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from manynode.config.machine import Machine
from phase2_nodesim.interval import memory_level_parallelism

COMPONENTS = ("base", "branch", "icache", "l2", "last_level", "memory", "other")
_TICKS_PER_S = 1e12


def cpi_stacks(counts: pd.DataFrame, machine: Machine) -> pd.DataFrame:
    """Return columns ``cycles_NAME`` for :data:`COMPONENTS`, which add up to ``cycles``, for each row of ``counts``."""
    core, levels = machine.core, machine.caches
    n = {name: counts[name].to_numpy(dtype=np.float64) for name in counts.columns}
    cycles = n["cycles"]
    parts = {
        "base": n["operations"] / core.dispatch_width,
        "branch": n["branch_misses"] * (core.branch_resolution + core.frontend_depth),
        "icache": n["fetch_icache_stall_cycles"],
    }
    # Nothing else is hidden under a front-end stall but other front-end stalls: what is more than measured overlapped.
    front = sum(parts.values())
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = np.where(front > cycles, cycles / front, 1.0)
    parts = {name: values * fit for name, values in parts.items()}
    rest = np.maximum(0.0, cycles - front * fit)

    overlapping = memory_level_parallelism(
        n["l1d_misses"], n["operations"], core.reorder_buffer, float(core.outstanding_misses)
    )
    waited = n["l1d_miss_ticks"] / _TICKS_PER_S * machine.frequency / overlapping
    data = np.minimum(rest, waited)
    beyond = n.get("l2_misses", n["l1d_misses"])
    weights = {
        "l2": np.maximum(0.0, n["l1d_misses"] - beyond) * (levels.l2.latency if levels.l2 is not None else 0.0),
        "last_level": np.maximum(0.0, beyond - n["last_level_misses"]) * levels.last_level.latency,
        "memory": n["last_level_misses"] * machine.memory_cycles(),
    }
    total = sum(weights.values())
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = {name: np.where(total > 0, weight / total, 0.0) for name, weight in weights.items()}
    attributed = np.where(total > 0, data, 0.0)
    for name, share in shares.items():
        parts[name] = attributed * share
    parts["other"] = rest - attributed
    return pd.DataFrame({f"cycles_{name}": parts[name] for name in COMPONENTS}, index=counts.index)
