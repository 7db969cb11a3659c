"""Source ``qemu``: exact counts on hosts with QEMU's user mode; a "fast functional simulator" as the paper's.

The plugin of the node model (``phase2_nodesim/qemu``) counts instructions, branches, loads and stores of each compute
phase, and no more: no caches, no times. Events inside MPI do not count. Threads that a rank starts while it computes
count. Cycles, seconds and mispredictions are unknown, and the feature IPC is absent. This source separates phases.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from manynode import slurm
from manynode.config.resolved import ResolvedApplication
from manynode.errors import EngineFailedError, EngineMissingError, InputError
from manynode.measured_runs import SlowDown
from manynode.probe import Probe
from manynode.qemu.counting import RUN_FILE, SCHEMA, counting_run_file
from manynode.qemu.failure import explanation
from manynode.qemu.guest import MPI, THREADS, check_guest, for_program, qemu_command
from manynode.qemu.installation import GUIDE, find_qemu
from manynode.qemu.report import check_threads, read_reports
from manynode.tables import read_json, write_json
from phase1_profile.counters import sum_phases
from phase1_profile.marker_counts import complete_markers, compute_phases, markers_environment
from phase1_profile.sources.interface import SOURCES, CountedJob, CounterSource

PURPOSE = "exact instruction, branch and load counts, faster than callgrind"
COLUMNS = ("instructions", "branches", "loads", "stores")
PRELOAD = "LD_PRELOAD"
_WHAT = "the profiled application"


@SOURCES.register("qemu")
class Qemu(CounterSource):
    """QEMU's user mode under every rank, with the node model's plugin in counting mode."""

    # As measured on HPCG (docs/how-to/qemu.md).
    slow_down = SlowDown(15.0, 30.0)

    def probe(self) -> Probe:
        """Look for a QEMU that takes plugins."""
        try:
            found = find_qemu()
        except EngineMissingError as error:
            return Probe(False, f"{error.what}: {error.found}", "", PURPOSE, str(error.remedy or GUIDE))
        return Probe(True, str(found.program), found.version, PURPOSE, "")

    def check(self, application: ResolvedApplication) -> None:
        """Refuse static programs and those for other processors."""
        check_guest(application)

    def prefix(self, job: CountedJob) -> list[str]:
        """Return QEMU's command line, which loads the markers library into the program."""
        return [*qemu_command(find_qemu()), *for_program({PRELOAD: self._markers(job)[PRELOAD]})]

    def environment(self, job: CountedJob) -> dict[str, str]:
        """Write the plugin's run file and return its place; ranks wait politely, as they do under callgrind."""
        path = job.directory / "node.json"
        content = counting_run_file(ranks=job.ranks, threads=job.threads, directory=job.directory)
        write_json(path, SCHEMA, content)
        environment = {name: value for name, value in self._markers(job).items() if name != PRELOAD}
        return {
            **environment,
            **_mpi(),
            **THREADS,
            "MANYNODE_MARKERS_POLITE": "2",
            RUN_FILE: str(path.resolve()),
        }

    def explained(self, error: EngineFailedError, log: Path) -> EngineFailedError:
        """Look for messages of QEMU and of the plugin."""
        return explanation(error, log)

    def read(self, directory: Path, ranks_per_node: int | None) -> pd.DataFrame:
        """Sum the counters of all compute phases in the marker files."""
        files = complete_markers(directory)
        for file in files:
            if "instructions" not in file.metadata["counters"]:
                raise InputError(
                    "a rank left no counts",
                    where=str(file.path),
                    found=f"rank {file.metadata['rank']} ran without the node model's plugin",
                    remedy="profile again with the source qemu",
                )
        ranks = [int(file.metadata["rank"]) for file in files]
        threads = int(read_json(directory / "node.json", SCHEMA)["threads"])
        check_threads(read_reports(directory, ranks, _WHAT), threads, _WHAT)
        records = pd.concat([compute_phases(file) for file in files], ignore_index=True)
        counts = records.astype({name: float for name in COLUMNS})
        return sum_phases(counts, COLUMNS)

    def _markers(self, job: CountedJob) -> dict[str, str]:
        return markers_environment(job.directory, job.flavour, job.ranks_per_node, "qemu")


def _mpi() -> dict[str, str]:
    """Return what MPI needs under QEMU. On several hosts of a cluster it must choose its network itself."""
    nodes = {**os.environ, **slurm.launcher_environment()}.get("SLURM_JOB_NUM_NODES", "1")
    return dict(MPI) if nodes == "1" else {name: value for name, value in MPI.items() if name != "UCX_TLS"}
