"""The interface of a phase 2 engine: it runs the job of one simulated node, and gives its ranks' compute times.

The job is one MPI job on this host: a block of simulated ranks beside external ranks, which run natively. ``run``
writes the marker files of all ranks to the folder ``directory``. ``segments`` turns the files there into the segments
table of the simulated ranks. An engine writes only to that folder, keeps no state, and gives the same table for the
same files.

A new engine is one module here with ``@ENGINES.register("name")`` on a class that has these members. An engine that
starts the application with a command prefix (valgrind) needs only ``run_on_host`` of ``_host.py``. An engine that
simulates processors (gem5) runs guests of the bridge (``phase2_nodesim/bridge``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.config.resolved import Resolved
from manynode.launch import Flavour
from manynode.markers import MarkerFile
from manynode.measured_runs import SlowDown
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
    settings: NodesimSection = field(default_factory=NodesimSection)
    """The section ``nodesim`` of the experiment."""


@dataclass(frozen=True)
class NodeJob:
    """What runs: ``nodes`` x ``ranks_per_node`` ranks of ``command``, those of ``node`` simulated."""

    command: Sequence[str]
    flavour: Flavour
    node: int
    nodes: int
    ranks_per_node: int
    guest: Sequence[str] | None = None
    """The same program linked with the bridge library, for engines that simulate processors."""
    threads: int = 1
    """Threads of each rank."""
    folder: Path | None = None
    """Where the job runs, if its input files are there; None: in the working directory."""
    settings: NodesimSection = field(default_factory=NodesimSection)
    """The section ``nodesim`` of the experiment."""
    timeout_s: float | None = None
    instructions: float | None = None
    """How many the simulated ranks will execute in all, as far as phase 1 knows."""
    tell: Callable[[str], None] | None = None
    """Gets a line of progress now and then."""

    @property
    def first(self) -> int:
        """The first simulated rank."""
        return self.node * self.ranks_per_node

    @property
    def ranks(self) -> int:
        """Ranks of the whole job."""
        return self.nodes * self.ranks_per_node

    def simulated(self) -> list[int]:
        """Return the simulated ranks."""
        return list(range(self.first, self.first + self.ranks_per_node))

    def words(self, engine: str) -> str:
        """Return a description of this job, for messages."""
        return f"the application with node {self.node} of {self.nodes} under {engine}"


@dataclass(frozen=True)
class NodeCost:
    """Expected cost of a job: number of slowed ranks, their slow-down, and the cores that they share.

    ``cores`` is None where they may use all cores of the host. ``instructions_per_s`` is the rate of an engine whose
    time depends on the number of instructions alone, None for others.
    """

    ranks: int
    slow_down: SlowDown
    cores: int | None = None
    instructions_per_s: float | None = None


class NodeEngine(Protocol):
    """The contract of an engine; ``name`` is its registered name."""

    name: str

    def probe(self, settings: NodesimSection | None = None) -> Probe:
        """Look for the tool as given in ``settings`` (the section ``nodesim``), without starting a simulation."""
        ...

    def check(self, experiment: Resolved) -> None:
        """Refuse, as a :class:`~manynode.errors.UsageError`, a machine or application that the engine cannot simulate,
        installed or not."""

    def cost(self, settings: NodesimSection, ranks_per_node: int, nodes: int, threads: int) -> NodeCost:
        """Return what a job of ``nodes`` nodes typically costs, without starting anything; ``settings`` as in probe."""
        ...

    def run(self, run: NodeRun, job: NodeJob) -> None:
        """Run ``job`` to its end; a failure is an :class:`~manynode.errors.EngineFailedError`."""
        ...

    def segments(self, run: NodeRun, files: Sequence[MarkerFile]) -> pd.DataFrame:
        """Return the segments of the simulated ranks, whose markers are ``files``."""
        ...

    def describe(self, run: NodeRun, segments: pd.DataFrame) -> Mapping[str, Any]:
        """Return the run's facts for the provenance, such as the tool's settings."""
        ...


ENGINES: Registry[NodeEngine] = Registry("engine of phase 2 (nodesim: engine)", "phase2_nodesim.engines")


def probes() -> dict[str, Probe]:
    """Return every engine's probe, for ``manynode doctor``."""
    return {name: ENGINES.get(name).probe() for name in ENGINES.names()}
