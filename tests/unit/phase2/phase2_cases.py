"""Marker records, segments and rank classes made up for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from manynode.config.machine import Machine
from manynode.markers import MarkerFile
from phase2_nodesim.distributions import Times

MACHINES = Path(__file__).resolve().parents[3] / "configs" / "machines"
MULTIGRID_TIMES = (8e-3, 1e-3, 0.13e-3, 0.12e-3, 0.13e-3, 1e-3, 8e-3)


def machine(name: str = "broadwell") -> Machine:
    return Machine.model_validate(yaml.safe_load((MACHINES / f"{name}.yaml").read_text()))


def records(rank: int, calls: Sequence[tuple[str, str, float, str, bool]], node: int = 0) -> pd.DataFrame:
    """One rank's marker records from (operation, call site, compute time before [s], label, inherited)."""
    n = len(calls)
    return pd.DataFrame(
        {
            "rank": np.full(n, rank, np.int32),
            "node": np.full(n, node, np.int32),
            "sequence": np.arange(n, dtype=np.int64),
            "operation": pd.Categorical([call[0] for call in calls]),
            "call_site_name": pd.Categorical([call[1] for call in calls]),
            "peer": np.full(n, -1, np.int64),
            "bytes": np.arange(n, dtype=np.int64) * 8,
            "compute_s": [call[2] for call in calls],
            "phase": pd.Categorical([call[3] for call in calls]),
            "phase_inherited": [call[4] for call in calls],
            "warm_up": False,
        }
    )


def marker_file(frame: pd.DataFrame, pid: int = 1) -> MarkerFile:
    return MarkerFile(Path("rank-000000.mnmk"), {"rank": int(frame["rank"].iloc[0]), "pid": pid}, frame)


def segments(ranks: Sequence[int], iterations: int, seed: int = 0, slower: Mapping[int, float] | None = None) -> Any:
    """Segments of a multigrid: labelled phases ``symgs`` and ``dot``, and an unlabelled one, for each rank."""
    rng = np.random.default_rng(seed)
    rows = []
    for rank in ranks:
        factor = (slower or {}).get(rank, 1.0)
        sequence = 0
        for _ in range(iterations):
            steps = [("symgs", time) for time in MULTIGRID_TIMES] + [("dot", 5e-4), ("MPI_A@x -> MPI_B@y", 1e-6)]
            for name, time in steps:
                sequence += 1
                noise = float(np.exp(0.01 * rng.standard_normal()))
                rows.append(
                    (rank, rank // 2, sequence, name, "a", "b", time * factor * noise, 0, -1, "y", "@" not in name)
                )
    names = ["rank", "node", "sequence", "phase", "call_before", "call_after", "compute_s", "bytes", "peer"]
    return pd.DataFrame(rows, columns=[*names, "call_site", "labelled"]).assign(warm_up=False)


def phase_segments(table: Times, **columns: float) -> pd.DataFrame:
    """The segments of one phase from its times [s], a row for each rank and a column for each execution."""
    ranks, executions = table.shape
    return pd.DataFrame(
        {
            "rank": np.repeat(np.arange(ranks), executions),
            "node": 0,
            "sequence": np.tile(np.arange(executions), ranks),
            "phase": "sweep",
            "compute_s": table.ravel(),
            **columns,
        }
    )


def rank_classes(classes: Sequence[str], fixed: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Rank classes of a job whose rank r is of class ``classes[r]``."""
    names = sorted(set(classes))
    share = {name: classes.count(name) / len(classes) for name in names}
    return {
        "classes": [{"name": name, "share": share[name]} for name in names],
        "rank_class": {str(rank): name for rank, name in enumerate(classes)},
        "representative_nodes": [0],
        "assignment": {"fixed": dict(fixed or {}), "shares": share},
    }
