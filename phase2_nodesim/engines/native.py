"""The native engine: this host's own time between MPI calls, for machines that exist."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from manynode.markers import MarkerFile, concatenate
from manynode.probe import Probe
from phase2_nodesim.engines._interface import ENGINES, NodeEngine, NodeRun
from phase2_nodesim.segments import segment_table

# Events of perf_event that the markers record where the host gives them.
_COUNTERS = (
    "instructions",
    "cycles",
    "branches",
    "branch_misses",
    "l1d_loads",
    "l1d_load_misses",
    "cache_misses",
)


class Native:
    """Takes the markers' times as they are; the machine file only gives its name."""

    name = "native"

    def probe(self) -> Probe:
        return Probe(True, platform.node(), platform.machine(), "phase 2: this host's own compute times", "")

    def command_prefix(self, run: NodeRun) -> list[str]:
        return []

    def environment(self, run: NodeRun) -> dict[str, str]:
        return {"MANYNODE_MARKERS_COUNTERS": "auto", **({"MANYNODE_MARKERS_POLITE": "2"} if run.crowded else {})}

    def external_environment(self, run: NodeRun) -> dict[str, str]:
        return {"MANYNODE_MARKERS_COUNTERS": "time", **({"MANYNODE_MARKERS_POLITE": "1"} if run.crowded else {})}

    def segments(self, run: NodeRun, files: Sequence[MarkerFile]) -> pd.DataFrame:
        records = concatenate(list(files))
        counters = [name for name in _COUNTERS if name in records.columns]
        detail = records[["rank", "sequence", *counters]] if counters else None
        return segment_table(records, detail)

    def describe(self, run: NodeRun) -> Mapping[str, Any]:
        return {"times": "this host's own"}


_engine: NodeEngine = ENGINES.register("native")(Native())
