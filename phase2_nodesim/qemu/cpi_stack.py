"""The node model's ticks per compute phase -> cycles and their CPI stack (Eyerman et al., section 5.3 and Figure 7).

A tick is a cycle over the dispatch width. The model charges each tick of a core's clock to one cause, so the parts add
up to the cycles:

- base: dispatch at full width;
- dependence: operands of earlier instructions, busy units and ports, full queues;
- branch: mispredicted branches, from dispatch to the refilled front end;
- icache: instruction fetches that miss the first level;
- tlb: address translation; l2, last_level, memory: data from there; bandwidth: memory busy with other lines;
- threads: other threads of the rank.
"""

from __future__ import annotations

import pandas as pd

from manynode.config.machine import Machine

COMPONENTS = (
    "base",
    "dependence",
    "branch",
    "icache",
    "tlb",
    "l2",
    "last_level",
    "memory",
    "bandwidth",
    "threads",
)


def cycles_of(records: pd.DataFrame, machine: Machine) -> pd.DataFrame:
    """Return columns ``compute_s``, ``cycles`` and ``cycles_NAME`` of each row of ``records``."""
    width = machine.core.dispatch_width
    cycles = records["ticks"] / width
    parts = {f"cycles_{name}": records[f"ticks_{name}"] / width for name in COMPONENTS}
    return pd.DataFrame({"compute_s": cycles / machine.frequency, "cycles": cycles, **parts}, index=records.index)
