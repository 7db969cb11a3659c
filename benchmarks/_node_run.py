"""One node of an application under an engine of phase 2, for several measurements."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import yaml
from _figure import Skipped
from _mini_app import options

from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.errors import EngineMissingError
from manynode.markers import read_marker_directory
from manynode.paths import ROOT, native_library, native_program
from phase2_nodesim.engines import _host
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


def shipped_machine(name: str) -> Machine:
    """Return a machine of the catalogue."""
    return Machine.model_validate(yaml.safe_load((ROOT / "configs" / "machines" / f"{name}.yaml").read_text()))


def node_segments(
    name: str,
    parameters: Mapping[str, int],
    machine: Machine,
    settings: NodesimSection,
    *,
    ranks: int,
    nodes: int = 1,
    preloaded: Path | None = None,
) -> tuple[pd.DataFrame, float]:
    """Return the segments of the first node with ``ranks`` ranks of a mini-app, and the job's processor time [s].

    The library ``preloaded`` sees the program's MPI calls before the markers do.
    """
    size = options(parameters)
    command = [str(native_program(name)), *size]
    engine = ENGINES.get(settings.engine)
    guest = [str(native_program(f"{name}.bridge")), *size] if settings.engine == "gem5" else None
    with tempfile.TemporaryDirectory() as folder:
        own = NodeParameters(last_level="private")
        crowded = settings.engine != "native"
        run = NodeRun(machine, ranks, Path(folder), crowded=crowded, parameters=own, settings=settings)
        before = _processor_s()
        job = NodeJob(command, "mpich", 0, nodes, ranks, guest=guest, settings=settings, timeout_s=3600)
        with patch.object(_host, "native_library", lambda markers: _both(preloaded, native_library(markers))):
            engine.run(run, job)
        took_s = _processor_s() - before
        simulated = [file for file in read_marker_directory(run.directory) if file.metadata["rank"] in job.simulated()]
        return engine.segments(run, simulated), took_s


def hpcg_node(
    machine: Machine, settings: NodesimSection, *, ranks: int, grid: tuple[int, int, int], **parameters: int
) -> tuple[pd.DataFrame, float]:
    """Return the segments of HPCG with ``grid`` points a rank (x, y, z), as :func:`node_segments` does."""
    sizes = {f"n{axis}": count for axis, count in zip("xyz", grid, strict=True)}
    return node_segments("hpcg", {**sizes, **parameters}, machine, settings, ranks=ranks)


def _both(first: Path | None, second: Path) -> str:
    return f"{first}:{second}" if first else str(second)


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
