"""The valgrind engine: the interval model turns callgrind's counts per compute phase into time.

It works on any Linux host and hardly depends on it. Instruction counts repeat exactly, but the MPI library leaves
caches and branch predictor in a state that depends on the arrival of messages. ``docs/concepts/interval-model.md``
lists what is not modelled. Simulated ranks yield while they wait: they are slow, and busy waiting would be simulated
too.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from manynode import process
from manynode.callgrind import SLOW_DOWN, callgrind_command, parse_totals
from manynode.config.experiment import NodesimSection
from manynode.config.resolved import Resolved
from manynode.errors import InputError, ManynodeError
from manynode.markers import MarkerFile, concatenate
from manynode.probe import Probe
from phase2_nodesim.cache_geometry import SimulatedCaches, simulated_caches
from phase2_nodesim.engines._host import run_on_host
from phase2_nodesim.engines._interface import ENGINES, NodeCost, NodeEngine, NodeJob, NodeRun
from phase2_nodesim.interval import interval_cycles
from phase2_nodesim.segments import segment_table

_PURPOSE = "phase 2: compute times on a configured core and caches, on any host"
_REMEDY = "install the package valgrind (apt-get install valgrind)"
# The job of phase 2 runs on this host: MPICH's transport needs no network, and starts faster without.
_ONE_HOST = {"UCX_TLS": "self,sm"}


class Valgrind:
    """Runs simulated ranks under callgrind; the markers library makes it dump the counts of each compute phase."""

    name = "valgrind"

    def probe(self, settings: NodesimSection | None = None) -> Probe:
        path = shutil.which("valgrind")
        if path is None:
            return Probe(False, "", "", _PURPOSE, _REMEDY)
        try:
            output = process.run([path, "--version"], what="valgrind", check=False, timeout_s=20).output
        except ManynodeError as error:
            return Probe(False, path, "", _PURPOSE, f"it does not start: {error.found}")
        match = re.search(r"\d+(\.\d+)+", output)
        return Probe(match is not None, path, match[0] if match else "unknown", _PURPOSE, "" if match else _REMEDY)

    def check(self, experiment: Resolved) -> None:
        """Accept any machine: callgrind can approximate its caches."""
        simulated_caches(experiment.machine, experiment.ranks_per_node)

    def cost(self, settings: NodesimSection, ranks_per_node: int, nodes: int, threads: int) -> NodeCost:
        # External ranks sleep while they wait.
        return NodeCost(ranks_per_node, SLOW_DOWN)

    def command_prefix(self, run: NodeRun) -> list[str]:
        """Return the words before the application's command for simulated ranks."""
        program = process.find_program("valgrind", purpose=_PURPOSE, remedy=_REMEDY)
        return callgrind_command(program, run.directory, self._caches(run).options())

    def run(self, run: NodeRun, job: NodeJob) -> None:
        run_on_host(
            run,
            job,
            self.name,
            prefix=self.command_prefix(run),
            simulated={"MANYNODE_MARKERS_COUNTERS": "callgrind", "MANYNODE_MARKERS_POLITE": "2", **_ONE_HOST},
            external={"MANYNODE_MARKERS_COUNTERS": "time", "MANYNODE_MARKERS_POLITE": "1", **_ONE_HOST},
        )

    def segments(self, run: NodeRun, files: Sequence[MarkerFile]) -> pd.DataFrame:
        caches = self._caches(run)
        counts = pd.concat([self._counts(run, file) for file in files], ignore_index=True)
        parts = interval_cycles(counts, run.machine, caches, run.ranks_per_node)
        detail = counts.assign(compute_s=parts["cycles"] / run.machine.frequency)
        detail = pd.concat([detail, parts.rename(columns=_component_column)], axis=1)
        return segment_table(concatenate(list(files)), detail)

    def describe(self, run: NodeRun, segments: pd.DataFrame) -> Mapping[str, Any]:
        return {"times": "interval model of callgrind counts", "callgrind_caches": self._caches(run).describe()}

    def _caches(self, run: NodeRun) -> SimulatedCaches:
        return simulated_caches(run.machine, run.ranks_per_node, run.parameters.last_level)

    def _counts(self, run: NodeRun, file: MarkerFile) -> pd.DataFrame:
        """Return the counts of one rank, columns rank, sequence and the events."""
        pid, rank = file.metadata.get("pid"), int(file.metadata["rank"])
        path = run.directory / f"callgrind.{pid}"
        if not path.is_file():
            raise InputError(
                "a simulated rank left no callgrind output",
                where=str(path),
                found=f"no such file for rank {rank} (process {pid})",
                remedy="see the job's log; the rank must run under valgrind and end by itself",
            )
        counts = parse_totals(path, pid=pid)
        counts.insert(0, "rank", np.int64(rank))
        return counts


def _component_column(name: str) -> str:
    return name if name == "cycles" else f"cycles_{name}"


_engine: NodeEngine = ENGINES.register("valgrind")(Valgrind())
