"""Source ``perf_event``: hardware counters, which the markers library reads around every MPI call.

Only user-level events between MPI calls count: waiting inside MPI and threads started by a rank do not. This source
separates phases. It costs less than a microsecond per MPI call.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from manynode.errors import EngineMissingError
from manynode.measured_runs import NONE
from manynode.probe import Probe
from phase1_profile.counters import sum_phases
from phase1_profile.hardware import CALLGRIND, probe_hardware
from phase1_profile.marker_counts import complete_markers, compute_phases, markers_environment
from phase1_profile.sources.interface import SOURCES, CountedJob, CounterSource

# Names in marker files -> names in the counter table.
COLUMNS = {
    "compute_s": "seconds",
    "instructions": "instructions",
    "cycles": "cycles",
    "branches": "branches",
    "branch_misses": "branch_misses",
    "l1d_loads": "loads",
    "l1d_load_misses": "l1d_load_misses",
    "cache_misses": "cache_misses",
}


@SOURCES.register("perf_event")
class PerfEvent(CounterSource):
    """Hardware counters in the markers library."""

    slow_down = NONE

    def probe(self) -> Probe:
        """Try to open a hardware counter."""
        hardware = probe_hardware()
        return Probe(hardware.usable, hardware.reason, "", "counters between MPI calls", hardware.remedy)

    def prefix(self, job: CountedJob) -> list[str]:
        """Return nothing: the library is preloaded."""
        return []

    def environment(self, job: CountedJob) -> dict[str, str]:
        """Preload the markers library with hardware counters."""
        return markers_environment(job.directory, job.flavour, job.ranks_per_node, "perf")

    def read(self, directory: Path, ranks_per_node: int | None) -> pd.DataFrame:
        """Sum the counters of all compute phases in the marker files."""
        files = complete_markers(directory)
        without = [file for file in files if "instructions" not in file.metadata["counters"]]
        if without:
            notes = str(without[0].metadata.get("counter_notes") or "no note")
            raise EngineMissingError(
                "the marker files hold no hardware counters",
                where=str(without[0].path),
                found=f"{len(without)} of {len(files)} ranks without instructions: {notes}",
                remedy=CALLGRIND + " ('profile: source: callgrind'), or profile on a host that gives hardware counters",
            )
        records = pd.concat([compute_phases(file) for file in files], ignore_index=True).rename(columns=COLUMNS)
        return sum_phases(records, [name for name in COLUMNS.values() if name in records])
