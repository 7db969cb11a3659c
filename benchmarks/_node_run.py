"""One node of HPCG under an engine of phase 2, for several measurements."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import pandas as pd
from _figure import Skipped

from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.errors import EngineMissingError
from manynode.markers import read_marker_directory
from manynode.paths import native_program
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun
from phase2_nodesim.jobs import installed
from phase2_nodesim.parameters import NodeParameters


def need(*engines: str) -> None:
    """Skip the measurement where one of the engines is not installed."""
    for engine in engines:
        try:
            installed(engine, None)
        except EngineMissingError as error:
            raise Skipped(f"{error.what}: {error.found}; {error.remedy}") from None


def hpcg_node(
    machine: Machine, settings: NodesimSection, *, ranks: int, grid: int, iterations: int
) -> tuple[pd.DataFrame, float]:
    """Return the segments of ``ranks`` ranks with ``grid``^3 points each, and the job's processor time [s]."""
    size = [word for axis in "xyz" for word in (f"--n{axis}", str(grid))]
    command = [str(native_program("hpcg")), *size, "--iterations", str(iterations)]
    engine = ENGINES.get(settings.engine)
    with tempfile.TemporaryDirectory() as folder:
        parameters = NodeParameters(last_level="private")
        run = NodeRun(machine, ranks, Path(folder), crowded=True, parameters=parameters, settings=settings)
        before = _processor_s()
        engine.run(run, NodeJob(command, "mpich", 0, 1, ranks, settings=settings, timeout_s=1800))
        return engine.segments(run, read_marker_directory(run.directory)), _processor_s() - before


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
