"""Source ``processor_time``: the processor time of each rank between its MPI calls, by the markers library.

It runs the program at its own speed on any host, and counts no events: ranks are told apart by their times. It
separates phases.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from manynode.cores import available_cores
from manynode.markers import CPU_TIME
from manynode.measured_runs import NONE
from manynode.probe import Probe
from phase1_profile.counters import sum_phases
from phase1_profile.marker_counts import complete_markers, compute_phases, markers_environment
from phase1_profile.sources.interface import SOURCES, CountedJob, CounterSource


@SOURCES.register("processor_time")
class ProcessorTime(CounterSource):
    """The clock of the rank's thread in the markers library."""

    slow_down = NONE

    def probe(self) -> Probe:
        """Every host has it."""
        return Probe(True, "the clock of a thread", "", "processor time between MPI calls, no events", "")

    def prefix(self, job: CountedJob) -> list[str]:
        """Return nothing: the library is preloaded."""
        return []

    def environment(self, job: CountedJob) -> dict[str, str]:
        """Preload the markers library with the thread's clock; ranks that share cores wait without computing."""
        found = markers_environment(job.directory, job.flavour, job.ranks_per_node, "time")
        crowded = job.ranks * job.threads > available_cores()
        return {**found, "MANYNODE_MARKERS_CPU_TIME": "1", **({"MANYNODE_MARKERS_POLITE": "2"} if crowded else {})}

    def read(self, directory: Path, ranks_per_node: int | None) -> pd.DataFrame:
        """Sum the processor times [s] of all compute phases in the marker files."""
        records = pd.concat([compute_phases(file) for file in complete_markers(directory)], ignore_index=True)
        return sum_phases(records.assign(seconds=records[CPU_TIME] * 1e-9), ["seconds"])
