"""One short native run of the application, the basis for the estimated time of all measured runs.

The application runs once at the smallest profiled size under the markers library alone. The library gives the time from
MPI_Init to MPI_Finalize, because tools hardly slow down the start of MPI. A long run is ended after a limit; its time
is then a lower bound. The result is kept (``native-trial/1``), and a resumed run does not repeat the trial.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from manynode.config.resolved import Resolved
from manynode.cores import available_cores
from manynode.errors import ManynodeError
from manynode.hostlock import exclusive
from manynode.launch import Block, application_command, job_folder, run_job
from manynode.paths import native_library
from manynode.tables import read_json, write_json

SCHEMA = "native-trial/1"
LIMIT_S = 20.0


@dataclass(frozen=True)
class Trial:
    """A native run: its job, the host's cores, its time between start and end of MPI [s], whether it ended itself.

    ``start_s`` is the rest of its wall time.
    """

    nodes: int
    ranks: int
    cores: int
    seconds: float
    ended: bool
    start_s: float = 0.0

    def words(self) -> str:
        """Return what was measured."""
        took = f"{self.seconds:.2g} s" if self.ended else f"ended after {self.seconds:.0f} s"
        return f"one native run on {job_words(self.nodes, self.ranks)}: {took}"


def job_words(nodes: int, ranks: int) -> str:
    """Return ``1 node, 2 ranks``."""
    return f"{nodes} node{'' if nodes == 1 else 's'}, {ranks} rank{'' if ranks == 1 else 's'}"


def size(experiment: Resolved) -> tuple[int, int]:
    """Return nodes and ranks of the trial of a resolved experiment."""
    nodes = min(experiment.profile.nodes)
    return nodes, nodes * experiment.ranks_per_node


def run_trial(experiment: Resolved, results: Path, digest: str, limit_s: float = LIMIT_S) -> Trial | None:
    """Run the application natively where the measured steps run it, and keep the result.

    Returns None if it fails; the first measured step then gives the reason.
    """
    application = experiment.application
    nodes, ranks = size(experiment)
    limit_s = min(limit_s, application.timeout_s)
    markers = (results / "logs" / "native-trial").resolve()
    log = results / "logs" / "native-trial.log"
    with exclusive(results / ".measuring.lock", purpose="measuring job"):
        markers.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        try:
            command, flavour = application_command(application, ranks, ranks // nodes)
            folder = job_folder(application, ranks, ranks // nodes, markers / "files")
            environment = {
                "LD_PRELOAD": str(native_library(f"libmanynode_markers_{flavour}.so")),
                "MANYNODE_MARKERS_DIR": str(markers),
                "MANYNODE_MARKERS_COUNTERS": "time",
                "OMP_NUM_THREADS": str(application.threads),
                # Ranks that look for messages without a pause would take the cores from those that compute.
                **({"MANYNODE_MARKERS_POLITE": "2"} if ranks * application.threads > available_cores() else {}),
            }
            block = Block(ranks, command, (), environment)
            run_job(flavour, [block], what="a native run of the application", log=log, cwd=folder, timeout_s=limit_s)
            seconds, ended = time.monotonic() - began, True
            inside = _time_in_mpi(markers)
        except ManynodeError:
            if time.monotonic() - began < limit_s:
                return None
            seconds, inside, ended = limit_s, limit_s, False
        finally:
            shutil.rmtree(markers, ignore_errors=True)
    trial = Trial(nodes, ranks, os.cpu_count() or 1, inside, ended, max(0.0, seconds - inside))
    write_json(path_of(results), SCHEMA, {"digest": digest, **asdict(trial)})
    return trial


def _time_in_mpi(markers: Path) -> float:
    """Return the longest time of a rank from the end of its first to the start of its last MPI call [s]."""
    from manynode.markers import read_marker_directory  # pandas takes a second to load

    records = [file.records for file in read_marker_directory(markers, resolve=False)]
    return max(float(table["time_in_s"].iloc[-1] - table["time_out_s"].iloc[0]) for table in records)


def read_trial(results: Path, digest: str | None = None) -> Trial | None:
    """Return the stored trial, or None if the file is missing, damaged or belongs to another application."""
    try:
        content = read_json(path_of(results), SCHEMA)
        if digest is not None and content["digest"] != digest:
            return None
        return Trial(**{key: value for key, value in content.items() if key not in ("schema", "digest")})
    except (ManynodeError, KeyError, TypeError):
        return None


def path_of(results: Path) -> Path:
    """Return where the trial is kept."""
    return results / "logs" / "native-trial.json"
