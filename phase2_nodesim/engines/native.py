"""The native engine: measures this host's time between MPI calls, for machines that exist."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from manynode.config.experiment import NodesimSection
from manynode.config.resolved import Resolved
from manynode.markers import CPU_TIME, MarkerFile, concatenate
from manynode.measured_runs import NONE
from manynode.probe import Probe
from phase2_nodesim.engines._host import run_on_host
from phase2_nodesim.engines._interface import ENGINES, NodeCost, NodeEngine, NodeJob, NodeRun
from phase2_nodesim.segments import segment_table
from phase2_nodesim.waits import COLUMN, waited_seconds, waiting_of

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
    """Uses the markers' times directly; only the name of the machine file matters."""

    name = "native"

    def probe(self, settings: NodesimSection | None = None) -> Probe:
        return Probe(True, platform.node(), platform.machine(), "phase 2: this host's own compute times", "")

    def check(self, experiment: Resolved) -> None:
        """Accept any program that runs here."""

    def cost(self, settings: NodesimSection, ranks_per_node: int, nodes: int, threads: int) -> NodeCost:
        # Nodes that take turns compute on as many cores as one of them needs.
        cores = ranks_per_node * threads if settings.turns else None
        return NodeCost(nodes * ranks_per_node, NONE, cores)

    def run(self, run: NodeRun, job: NodeJob) -> None:
        taking_turns = job.settings.turns

        def polite(level: str) -> dict[str, str]:
            return {"MANYNODE_MARKERS_POLITE": level} if run.crowded or taking_turns else {}

        turns = {}
        if taking_turns:
            # A name of its own for each job: a killed one leaves its turn behind.
            turns["MANYNODE_MARKERS_TURNS"] = f"/manynode-{uuid.uuid4().hex}"
            turns["MANYNODE_MARKERS_TURN_CORES"] = str(job.ranks_per_node * job.threads)
        clock = {"MANYNODE_MARKERS_CPU_TIME": "1"} if job.settings.clock == "processor" else {}
        run_on_host(
            run,
            job,
            self.name,
            prefix=[],
            simulated={
                "MANYNODE_MARKERS_COUNTERS": "auto",
                "MANYNODE_MARKERS_WAITING": "1",
                **polite("2"),
                **turns,
                **clock,
            },
            external={"MANYNODE_MARKERS_COUNTERS": "time", **polite("1"), **turns},
        )

    def segments(self, run: NodeRun, files: Sequence[MarkerFile]) -> pd.DataFrame:
        records = concatenate(list(files))
        counters = [name for name in _COUNTERS if name in records.columns]
        detail = records[["rank", "sequence", *counters]].assign(**{COLUMN: waited_seconds(records)})
        if CPU_TIME in records.columns:
            detail = detail.assign(compute_s=records[CPU_TIME] * 1e-9)
        return segment_table(records, detail)

    def describe(self, run: NodeRun, segments: pd.DataFrame) -> Mapping[str, Any]:
        clock = run.settings.clock
        waiting = waiting_of(segments, counted=clock == "wall")
        if waiting is None:
            raise ValueError(f"segments of the engine native without {COLUMN}")
        return {"times": waiting.times(), "clock": clock, "waiting": waiting.model_dump()}


_engine: NodeEngine = ENGINES.register("native")(Native())
