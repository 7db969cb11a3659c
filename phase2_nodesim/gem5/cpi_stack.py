"""gem5's counts per compute phase -> CPI stack of its cycles (Eyerman et al., section 5.3 and Figure 7).

gem5 keeps no CPI stack. It counts cycles, and cycles in which nothing was committed. As in an interval analysis, these
stall cycles are divided in this order; the parts never exceed the measured sum:

- branch: mispredicted branches x (resolution + front-end refill);
- icache: cycles in which fetch waited for the instruction cache;
- l2, last_level, memory: the remaining stall cycles times the share of time with a demand miss of the first level in
  flight (the misses' measured latencies over the cycles, at most 1), divided by the level that had the line;
- other: the rest, which is dependences, functional units, full queues, serialising instructions.

The cycles with a commit divide into base (operations over the dispatch width) and other. In syscall emulation a TLB
miss on x86 takes no time in gem5: TLB misses are counted, but have no part.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from manynode.config.machine import Machine

COMPONENTS = ("base", "branch", "icache", "l2", "last_level", "memory", "other")
_TICKS_PER_S = 1e12


def cpi_stacks(counts: pd.DataFrame, machine: Machine) -> pd.DataFrame:
    """Return columns ``cycles_NAME`` for :data:`COMPONENTS`, which add up to ``cycles``, for each row of ``counts``."""
    core, levels = machine.core, machine.caches
    n = {name: counts[name].to_numpy(dtype=np.float64) for name in counts.columns}
    cycles = n["cycles"]
    # The last commit of a phase may lie a cycle beyond its end.
    committing = np.minimum(n["commit_cycles"], cycles)
    stalled = cycles - committing
    front = {
        "branch": n["branch_misses"] * (core.branch_resolution + core.frontend_depth),
        "icache": n["fetch_icache_stall_cycles"],
    }
    # Stalls of the front end overlap with each other and with what the reorder buffer still has to do.
    fit = _share(stalled, sum(front.values()))
    parts = {"base": np.minimum(committing, n["operations"] / core.dispatch_width)}
    parts |= {name: values * fit for name, values in front.items()}
    left = np.maximum(0.0, stalled - parts["branch"] - parts["icache"])

    under_way = n["l1d_miss_ticks"] / _TICKS_PER_S * machine.frequency
    data = left * _share(under_way, cycles)
    beyond = n.get("l2_misses", n["l1d_misses"])
    weights = {
        "l2": np.maximum(0.0, n["l1d_misses"] - beyond) * (levels.l2.latency if levels.l2 is not None else 0.0),
        "last_level": np.maximum(0.0, beyond - n["last_level_misses"]) * levels.last_level.latency,
        "memory": n["last_level_misses"] * machine.memory_cycles(),
    }
    total = sum(weights.values())
    for name, weight in weights.items():
        parts[name] = data * _share(weight, total)
    parts["other"] = np.maximum(0.0, cycles - sum(parts.values()))
    return pd.DataFrame({f"cycles_{name}": parts[name] for name in COMPONENTS}, index=counts.index)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, at most 1; 0 where both are 0 or the whole is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, np.minimum(1.0, part / whole), 0.0)
