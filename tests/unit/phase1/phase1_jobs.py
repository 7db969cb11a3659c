"""Counter tables with a known truth, for the tests of phase 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from phase1_profile import counters

BASE = {"instructions": 4e9, "cycles": 2e9, "branches": 5e8, "branch_misses": 2e6, "loads": 1e9}


def job(
    nodes: int,
    ranks: int,
    *,
    repetition: int = 0,
    ranks_per_node: int | None = None,
    factor: Callable[[int], float] | None = None,
    noise: float = 0.0,
    seed: int = 0,
    drop: tuple[str, ...] = (),
) -> pd.DataFrame:
    """Return the counters of one job: every count of rank r is multiplied by factor(r); cycles follow."""
    random = np.random.default_rng([seed, nodes, repetition])
    per_node = ranks_per_node or -(-ranks // nodes)
    rows: list[Mapping[str, object]] = []
    for rank in range(ranks):
        times = factor(rank) if factor else 1.0
        counts = {name: value * times * np.exp(noise * random.normal()) for name, value in BASE.items()}
        for name in drop:
            counts[name] = np.nan
        rows.append({"rank": rank, "node": rank // per_node, "phase": "", "seconds": counts["cycles"] / 2e9, **counts})
    return counters.job_table(pd.DataFrame(rows), nodes=nodes, repetition=repetition)
