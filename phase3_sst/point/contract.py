"""The contract of a phase 3 engine.

In: a :class:`Point` (one technique at one node count) and a folder. Out: that folder with ``result.json`` and the
tables below. They are the same for every engine. All times are simulated seconds. The same point gives the same bytes
with any number of processes.

- result.json (``network-result/2``): engine name and version; per replica the makespan [s] (end of the last job that is
  no background job), events, messages, bytes and its jobs: name, background, own makespan [s], the end of each
  iteration [s], messages, bytes. Job 0 is the application under study. This file is written last: if it exists, the
  others are complete.
- ranks.parquet (``rank-times/2``): replica, job, rank (in its job), operation ("compute" or an MPI call), seconds,
  calls, bytes.
- links.parquet (``link-load/3``): replica, link, class, source, target, bytes, chunks, busy_s, stall_s (summed over the
  chunks that waited), credit_stall_s and inq_stall_s (a router's counters, each at most the run's time: the link was
  idle although a chunk was ready for it; the first chunk of the input port behind the link could not move),
  queue_max_bytes (the most unsent bytes that a chunk found in front of it). Links without traffic have no row.
- link_jobs.parquet (``link-jobs/1``): replica, job, class, bytes, chunks, busy_s, stall_s, summed over the links of a
  class.
- series.parquet (``link-series/2``), only with ``simulate.counters``: replica, start_s, end_s, class, link (empty when
  counted per class; a row then sums over the links), bytes, busy_s, stall_s, credit_stall_s, inq_stall_s, queue_bytes.

- injection.parquet (``injection/1``), only where jobs have injection control (``simulate: injection``): replica, job,
  nic (its host in the topology), bytes (sent under control), held_bytes (of chunks that waited), held_s (while at least
  one chunk waited), rate_mean_Bps and rate_least_Bps (of the allowed rate, over the run).

A quantity that an engine does not model is 0 or empty (SimGrid's flows neither stall nor queue).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from manynode.config.quantities import RESOLVED
from manynode.config.simulate import SimulateSection
from manynode.probe import Probe
from manynode.registry import Registry
from phase3_sst.point.point_experiment import PointExperiment

RESULT_SCHEMA = "network-result/2"
RANKS_SCHEMA = "rank-times/2"
LINKS_SCHEMA = "link-load/3"
LINK_JOBS_SCHEMA = "link-jobs/1"
LINK_SERIES_SCHEMA = "link-series/2"
INJECTION_SCHEMA = "injection/1"

ProgressSink = Callable[[str], None]


@dataclass(frozen=True)
class Point:
    """One point of an experiment: its experiment, node count and compute times (None: no time).

    ``processes`` is the number of processes that may share the replicas. ``progress`` receives the engine's progress
    lines. ``variant`` names the variant of a study in messages. ``replicas`` are the numbers of the replicas to
    simulate, if not all.
    """

    experiment: PointExperiment
    nodes: int
    technique: str
    timing_profile: Path | None
    class_of_rank: Sequence[str]
    seed: int
    processes: int = 1
    progress: ProgressSink | None = None
    variant: str | None = None
    replicas: Sequence[int] | None = None

    @property
    def chosen_replicas(self) -> Sequence[int]:
        """The numbers of the simulated replicas: ``replicas``, or all of the experiment's."""
        return range(self.experiment.simulate.replicas) if self.replicas is None else self.replicas

    @property
    def ranks(self) -> int:
        """The number of MPI ranks."""
        return self.nodes * self.experiment.ranks_per_node

    @property
    def name(self) -> str:
        """The point's name for messages."""
        words = f"{self.technique} on {self.nodes} node{'' if self.nodes == 1 else 's'}"
        return words if self.variant is None else f"{words}, {self.variant}"


@dataclass(frozen=True)
class Measurement:
    """Results of a probe: makespan [s], classes of the links in use, their chunks, and the messages.

    Of the first job: the end of each iteration [s], and for each operation the seconds of the rank that spent most time
    in it.
    """

    makespan_s: float
    link_classes: frozenset[str]
    packet_hops: float = 0.0
    messages: int = 0
    iteration_ends_s: Sequence[float] = ()
    slowest_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do beyond what every engine can."""

    controls_injection: bool = False
    """Limits the injection of jobs' NICs as ``simulate: injection`` says."""
    counts_stalls: bool = False
    """Counts the stall times of links and router inputs."""
    switches_contention_off: bool = False
    """Simulates messages that never wait for busy links (``network: contention: false``)."""
    is_timed_here: bool = False
    """Is quick enough to time an experiment's first iterations on this host before a run."""
    chooses_flow_control: bool = False
    """Simulates unlimited buffers or credits, as ``network: flow_control`` says."""
    always_has_buffers: bool = False
    """Simulates finite buffers even with ``flow_control: none``."""


@dataclass(frozen=True)
class ReplicaCost:
    """Memory [B] of all processes together and processor time [s] of one replica's simulation."""

    memory_bytes: float
    seconds: float


class NetworkEngine(Protocol):
    """A network simulator, looked up by name."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    @classmethod
    def with_settings(cls, simulate: SimulateSection) -> NetworkEngine:
        """Return the engine with its settings in the section ``simulate``."""

    def probe_bytes(self, network: Mapping[str, Any]) -> float:
        """Return the most bytes that a probe of the pre-flight check may send on ``network`` (of a run file)."""

    def probe(self) -> Probe:
        """Report whether the engine is installed, where, and what to do when it is not."""

    def cores_of_replica(self) -> int:
        """Return the number of cores that the simulation of one replica keeps busy."""

    def expected_cost(self, run: Mapping[str, Any]) -> ReplicaCost | None:
        """Return what a replica of a run file will cost, None if that is not known."""

    def check(self, runs: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuse run files (:mod:`phase3_sst.point.run_file`) that cannot be simulated.

        The keys of ``runs`` name them in messages.

        Nothing is simulated. A run that a simulation would refuse before its first event is a :class:`UsageError` (for
        a timing profile, an :class:`InputError`). An engine that is not installed is an :class:`EngineMissingError`,
        raised after all checks that work without it.
        """

    def simulate(self, point: Point, directory: Path) -> None:
        """Simulate ``point`` and write its files into ``directory``."""

    def measure(self, run: Mapping[str, Any], timeout_s: float | None = None) -> Measurement:
        """Simulate one replica of a run file (:mod:`phase3_sst.point.run_file`); used by the pre-flight check."""

    def measure_all(
        self, runs: Sequence[Mapping[str, Any]], timeout_s: float | None = None, processes: int = 1
    ) -> list[Measurement]:
        """Do :meth:`measure` for each of ``runs``, at most ``processes`` side by side, begun in their order.

        ``timeout_s`` is the limit of one.
        """


engines: Registry[type[NetworkEngine]] = Registry("network engine", "phase3_sst.engines", inside="engine")


def engine_of(simulate: SimulateSection) -> NetworkEngine:
    """Return the engine of the section ``simulate``, with its settings."""
    return engines.get(simulate.engine).with_settings(simulate)


def engine_of_settings(simulate: Mapping[str, Any]) -> NetworkEngine:
    """Return the engine of a section ``simulate`` as JSON, with its settings."""
    return engine_of(SimulateSection.model_validate(dict(simulate), context=RESOLVED))


def names_of_engines_that(can: Callable[[Capabilities], bool]) -> list[str]:
    """Return the names of the engines with a capability."""
    return [name for name in engines.names() if can(engines.get(name).capabilities)]


def engines_that(can: Callable[[Capabilities], bool]) -> str:
    """Return the names of the engines with a capability, for messages."""
    return ", ".join(names_of_engines_that(can))
