"""The qemu engine: the ranks of a node on modelled cores that share caches and memory, driven by QEMU's user mode.

Each simulated rank runs unmodified under ``qemu-x86_64``, whose plugin (``phase2_nodesim/qemu/plugin``) hands its
instructions and accesses to the node model (``phase2_nodesim/qemu/model``). The ranks of the node share last-level
caches and memory in shared memory, and keep their simulated clocks together. ``docs/concepts/node-model.md`` describes
the model.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from manynode.config.experiment import NodesimSection
from manynode.config.resolved import Resolved
from manynode.errors import EngineFailedError, EngineMissingError
from manynode.markers import MarkerFile, concatenate
from manynode.measured_runs import SlowDown
from manynode.probe import Probe
from manynode.qemu.counting import RUN_FILE, SCHEMA
from manynode.qemu.failure import explanation
from manynode.qemu.guest import MPI, THREADS, check_guest, qemu_command
from manynode.qemu.installation import GUIDE, find_qemu
from manynode.qemu.report import check_releases, check_threads, read_reports, summary
from manynode.tables import write_json
from phase2_nodesim.engines._host import run_on_host
from phase2_nodesim.engines._interface import ENGINES, NodeCost, NodeEngine, NodeJob, NodeRun
from phase2_nodesim.qemu.cpi_stack import cycles_of
from phase2_nodesim.qemu.run_file import run_file
from phase2_nodesim.segments import segment_table

_PURPOSE = "phase 2: compute times on a node whose ranks share caches and memory"
# As measured on HPCG (docs/how-to/qemu.md).
_SLOW_DOWN = SlowDown(100.0, 300.0)
# Shared memory of the ranks; each rank's model removes its name as soon as all have it open.
_SHARED = Path("/dev/shm")  # noqa: S108 -- a place for shared memory, not for temporary files


class Qemu:
    """Runs simulated ranks under QEMU with the node model; the markers library hands over its counters."""

    name = "qemu"

    def probe(self, settings: NodesimSection | None = None) -> Probe:
        try:
            found = find_qemu(None if settings is None else settings.qemu.executable)
        except EngineMissingError as error:
            return Probe(False, f"{error.what}: {error.found}", "", _PURPOSE, str(error.remedy or GUIDE))
        return Probe(True, str(found.program), found.version, _PURPOSE, "")

    def check(self, experiment: Resolved) -> None:
        """Describe the node, and look at the program."""
        run_file(
            experiment.machine,
            experiment.nodesim.qemu,
            ranks=experiment.ranks_per_node,
            threads=experiment.application.threads,
            first_rank=0,
            directory=Path(),
            shared_memory=None,
        )
        check_guest(experiment.application)

    def cost(self, settings: NodesimSection, ranks_per_node: int, nodes: int, threads: int) -> NodeCost:
        # External ranks sleep while they wait.
        return NodeCost(ranks_per_node, _SLOW_DOWN)

    def run(self, run: NodeRun, job: NodeJob) -> None:
        found = find_qemu(job.settings.qemu.executable)
        shared = _SHARED / f"manynode-node-{uuid.uuid4().hex}"
        content = run_file(
            run.machine,
            job.settings.qemu,
            ranks=job.ranks_per_node,
            threads=job.threads,
            first_rank=job.first,
            directory=run.directory,
            shared_memory=shared,
        )
        path = run.directory / "node.json"
        run.directory.mkdir(parents=True, exist_ok=True)
        write_json(path, SCHEMA, content)
        what = job.words(self.name)
        inject = "1" if job.settings.qemu.inject == "nic" else "0"
        try:
            run_on_host(
                run,
                job,
                self.name,
                prefix=qemu_command(found),
                simulated={
                    "MANYNODE_MARKERS_COUNTERS": "qemu",
                    "MANYNODE_MARKERS_POLITE": "2",
                    "MANYNODE_MARKERS_INJECT": inject,
                    RUN_FILE: str(path.resolve()),
                    **MPI,
                    **THREADS,
                },
                external={"MANYNODE_MARKERS_COUNTERS": "time", "MANYNODE_MARKERS_POLITE": "1", **MPI},
                emulated=True,
            )
        except EngineFailedError as error:
            raise explanation(error, run.directory / "job.log") from None
        finally:
            shared.unlink(missing_ok=True)
        reports = read_reports(run.directory, job.simulated(), what)
        check_threads(reports, job.threads, what)
        check_releases(reports, job.settings.qemu.releases, what)

    def segments(self, run: NodeRun, files: Sequence[MarkerFile]) -> pd.DataFrame:
        records = concatenate(list(files))
        if "ticks" not in records.columns:
            raise EngineFailedError(
                "the simulated ranks have no times of the node model",
                where=str(run.directory),
                found="markers without its counters",
                remedy="see the job's log: the plugin did not start, or the program is linked statically",
            )
        counts = [name for name in records.columns if name in _COUNTS]
        detail = pd.concat([records[["rank", "sequence", *counts]], cycles_of(records, run.machine)], axis=1)
        return segment_table(records, detail)

    def describe(self, run: NodeRun, segments: pd.DataFrame) -> Mapping[str, Any]:
        node = json.loads((run.directory / "node.json").read_text(encoding="utf-8"))
        ranks = [int(rank) for rank in sorted(segments["rank"].unique())]
        return {
            "times": "node model, driven by QEMU",
            "sharing": "shared" if node["shares"] else "private",
            "run": summary(read_reports(run.directory, ranks, "the node model")),
            "node": node["node"],
        }


_COUNTS = (
    "instructions",
    "loads",
    "stores",
    "branches",
    "branch_misses",
    "l1i_misses",
    "l1d_misses",
    "l2_misses",
    "last_level_misses",
    "tlb_misses",
    "page_walks",
    "prefetches",
    "recalls",
    "memory_lines",
)


_engine: NodeEngine = ENGINES.register("qemu")(Qemu())
