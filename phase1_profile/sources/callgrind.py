"""Source ``callgrind``: exact counts on any Linux host, from Valgrind; the paper's "fast functional simulator".

The markers library dumps the events of every compute phase and resets them after every MPI call: events inside MPI do
not count. Cycles and seconds are unknown (the run is 50 to 100 times slower than the machine), and the feature IPC is
absent. Mispredictions come from callgrind's simple predictor. This source separates phases.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from manynode.callgrind import SLOW_DOWN, callgrind_command, parse_totals
from manynode.errors import InputError
from manynode.probe import Probe
from manynode.process import find_program
from phase1_profile.counters import sum_phases
from phase1_profile.marker_counts import complete_markers, compute_phases, markers_environment
from phase1_profile.sources.interface import SOURCES, CountedJob, CounterSource

PURPOSE = "exact instruction, branch and load counts on any host"
REMEDY = "install valgrind (apt-get install valgrind)"
# Counters of the table as sums of callgrind's events.
EVENTS = {
    "instructions": ("Ir",),
    "branches": ("Bc", "Bi"),
    "branch_misses": ("Bcm", "Bim"),
    "loads": ("Dr",),
    "stores": ("Dw",),
    "l1d_load_misses": ("D1mr",),
    "cache_misses": ("ILmr", "DLmr", "DLmw"),
}


@SOURCES.register("callgrind")
class Callgrind(CounterSource):
    """Valgrind's callgrind under every rank."""

    slow_down = SLOW_DOWN

    def probe(self) -> Probe:
        """Look for valgrind."""
        path = shutil.which("valgrind")
        return Probe(path is not None, path or "valgrind was not found", "", PURPOSE, "" if path else REMEDY)

    def prefix(self, job: CountedJob) -> list[str]:
        """Return valgrind's command line."""
        valgrind = find_program("valgrind", purpose=PURPOSE, remedy=REMEDY)
        # Misses are no feature; a last level is given because what valgrind takes from some hosts is no legal cache.
        return callgrind_command(valgrind, job.directory, ["--LL=8388608,16,64"])

    def environment(self, job: CountedJob) -> dict[str, str]:
        """Preload the markers library; ranks wait politely, since a busy wait under valgrind steals time from the
        others.
        """
        environment = markers_environment(job.directory, job.flavour, job.ranks_per_node, "callgrind")
        return {**environment, "MANYNODE_MARKERS_POLITE": "2"}

    def read(self, directory: Path, ranks_per_node: int | None) -> pd.DataFrame:
        """Join each rank's dumps with its markers and sum them."""
        tables = []
        for file in complete_markers(directory):
            records = compute_phases(file)[["rank", "node", "sequence", "phase"]]
            dump = directory / f"callgrind.{file.metadata['pid']}"
            if not dump.is_file():
                raise InputError(
                    "a rank left no callgrind output",
                    where=str(dump),
                    found=f"no such file; rank {file.metadata['rank']} ran "
                    + ("under another tool of valgrind" if file.metadata.get("on_valgrind") else "without valgrind"),
                    remedy="profile again with the source callgrind",
                )
            totals = parse_totals(dump, pid=file.metadata["pid"])
            merged = records.merge(totals, on="sequence", how="left", validate="one_to_one")
            if merged["Ir"].isna().any():
                first = merged.loc[merged["Ir"].isna(), "sequence"].iloc[0]
                raise InputError(
                    "callgrind output and markers do not match",
                    where=str(dump),
                    found=f"no dump for call {first} of rank {file.metadata['rank']}",
                    remedy="profile again into an empty folder",
                )
            tables.append(merged)
        counts = pd.concat(tables, ignore_index=True)
        for name, events in EVENTS.items():
            if set(events) <= set(counts.columns):
                counts[name] = counts[list(events)].sum(axis=1).astype(float)
        return sum_phases(counts, [name for name in EVENTS if name in counts])
