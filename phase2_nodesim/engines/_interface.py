"""What an engine of phase 2 is: it says how the simulated ranks are started, and what their compute times are.

The job is one MPI job of this host: a block of simulated ranks, started as ``environment`` + ``command_prefix`` +
application, beside a block of external ranks, which run native. The caller preloads the markers library into both and
names the folder ``directory`` for marker files. When the job has ended, ``segments`` turns what lies in that folder
into the table of segments of the simulated ranks. An engine writes to that folder only, keeps no state, and gives the
same table for the same files.

A new engine is one module here with ``@ENGINES.register("name")`` on a class that has these members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from manynode.config.machine import Machine
from manynode.markers import MarkerFile
from manynode.probe import Probe
from manynode.registry import Registry
from phase2_nodesim.parameters import NodeParameters


@dataclass(frozen=True)
class NodeRun:
    """One simulated node: the machine, how many ranks it has, and the folder of the job's files."""

    machine: Machine
    ranks_per_node: int
    directory: Path
    crowded: bool = False
    """More ranks than cores on this host: waiting must not keep a core busy."""
    parameters: NodeParameters = field(default_factory=NodeParameters)


class NodeEngine(Protocol):
    """The contract; ``name`` is the one it is registered under."""

    name: str

    def probe(self) -> Probe:
        """Look for the tool, without starting a simulation."""
        ...

    def command_prefix(self, run: NodeRun) -> list[str]:
        """Return the words before the application's command for simulated ranks."""
        ...

    def environment(self, run: NodeRun) -> dict[str, str]:
        """Return what simulated ranks need in their environment."""
        ...

    def external_environment(self, run: NodeRun) -> dict[str, str]:
        """Return what external ranks need in their environment."""
        ...

    def segments(self, run: NodeRun, files: Sequence[MarkerFile]) -> pd.DataFrame:
        """Return the segments of the simulated ranks, whose markers are ``files``."""
        ...

    def describe(self, run: NodeRun) -> Mapping[str, Any]:
        """Return what the provenance should say of the run, such as what the tool was told to simulate."""
        ...


ENGINES: Registry[NodeEngine] = Registry("engine of phase 2 (nodesim: engine)", "phase2_nodesim.engines")


def probes() -> dict[str, Probe]:
    """Return every engine's probe, for ``manynode doctor``."""
    return {name: ENGINES.get(name).probe() for name in ENGINES.names()}
