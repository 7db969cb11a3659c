"""The contract of a phase 3 engine.

In: a :class:`Point` (one technique at one node count) and a folder. Out: that folder holding ``result.json`` and the
tables below, the same for every engine. All times are simulated seconds. The same point gives the same bytes, for any
number of processes.

- result.json (``network-result/2``): engine name and version; per replica the makespan [s] (end of the last job that is
  no background job), events, messages, bytes, and its jobs: name, background, own makespan [s], the end of each
  iteration [s], messages, bytes. Job 0 is the application under study. Written last: its presence says that the others
  are whole.
- ranks.parquet (``rank-times/2``): replica, job, rank (in its job), operation ("compute" or an MPI call), seconds,
  calls, bytes.
- links.parquet (``link-load/3``): replica, link, class, source, target, bytes, chunks, busy_s, stall_s (summed over the
  chunks that waited), credit_stall_s and inq_stall_s (what a router's counters tell, each at most the time of the run:
  the link stood idle although a chunk was ready for it; the first chunk of the input port behind the link could not go
  on), queue_max_bytes (the most unsent bytes that a chunk found before it). Links without traffic have no row.
- link_jobs.parquet (``link-jobs/1``): replica, job, class, bytes, chunks, busy_s, stall_s, summed over the links of a
  class.
- series.parquet (``link-series/2``), with ``simulate.counters`` only: replica, start_s, end_s, class, link (empty when
  counted per class: then a row sums over the links), bytes, busy_s, stall_s, credit_stall_s, inq_stall_s, queue_bytes.

- injection.parquet (``injection/1``), only where jobs are held back (``simulate: injection``): replica, job, nic (its
  host in the topology), bytes (that it sent under control), held_bytes (of chunks that waited), held_s (while at least
  one waited), rate_mean_Bps and rate_least_Bps (of the rate that it was allowed, over the run).

A quantity that an engine cannot tell (SimGrid's flows neither stall nor queue) is 0 or empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from manynode.probe import Probe
from manynode.registry import Registry

RESULT_SCHEMA = "network-result/2"
RANKS_SCHEMA = "rank-times/2"
LINKS_SCHEMA = "link-load/3"
LINK_JOBS_SCHEMA = "link-jobs/1"
LINK_SERIES_SCHEMA = "link-series/2"
INJECTION_SCHEMA = "injection/1"

ProgressSink = Callable[[str], None]


@dataclass(frozen=True)
class Point:
    """One point of an experiment: what is simulated, on how many nodes, with which compute times (None: no time).

    ``processes`` is how many processes may share the replicas; ``progress`` receives the lines in which the engine says
    how far it is; ``variant`` names the variant of a study, for messages; ``replicas`` are the numbers of those to
    simulate, if not all.
    """

    experiment: dict[str, Any]
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
        """The numbers of the replicas that are simulated: ``replicas``, or all of the experiment's."""
        return range(self.experiment["simulate"]["replicas"]) if self.replicas is None else self.replicas

    @property
    def ranks(self) -> int:
        """The number of MPI ranks."""
        return int(self.nodes * self.experiment["ranks_per_node"])

    @property
    def name(self) -> str:
        """The point in words, for messages."""
        words = f"{self.technique} on {self.nodes} node{'' if self.nodes == 1 else 's'}"
        return words if self.variant is None else f"{words}, {self.variant}"


@dataclass(frozen=True)
class Measurement:
    """What a probe tells: its makespan [s], the classes of the links that it used, their chunks, and the messages."""

    makespan_s: float
    link_classes: frozenset[str]
    packet_hops: float = 0.0
    messages: int = 0


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do beyond the parts of a run file that every engine simulates."""

    controls_injection: bool = False
    """Holds the NICs of jobs back as ``simulate: injection`` says."""
    counts_stalls: bool = False
    """Counts how long links and router inputs stand still."""
    always_has_buffers: bool = False
    """Simulates finite buffers also with ``flow_control: none``."""


class NetworkEngine(Protocol):
    """A network simulator; found by its name."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    @classmethod
    def for_experiment(cls, experiment: Mapping[str, Any]) -> NetworkEngine:
        """Return the engine with the settings of a resolved experiment."""

    def probe_bytes(self, network: Mapping[str, Any]) -> float:
        """Return how much traffic a probe of the pre-flight check may cause at most on ``network`` (of a run file)."""

    def probe(self) -> Probe:
        """Say whether the engine is installed, where, and what to do when it is not."""

    def cores_of_replica(self) -> int:
        """Return the number of cores that the simulation of one replica keeps busy."""

    def check(self, runs: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuse run files (:mod:`phase3_sst.point.run_file`; by their names in messages) that cannot be simulated.

        Nothing is simulated. What a simulation would refuse before its first event is a :class:`UsageError` (of a
        timing profile, an :class:`InputError`); an engine that is not installed is an :class:`EngineMissingError`, once
        all has been said that can be said without it.
        """

    def simulate(self, point: Point, directory: Path) -> None:
        """Simulate ``point`` and write its files into ``directory``."""

    def measure(self, run: Mapping[str, Any], timeout_s: float | None = None) -> Measurement:
        """Simulate one replica of a run file (:mod:`phase3_sst.point.run_file`): the pre-flight check's probes."""


engines: Registry[type[NetworkEngine]] = Registry("network engine", "phase3_sst.engines", inside="engine")


def engine_of(experiment: Mapping[str, Any]) -> NetworkEngine:
    """Return the engine that a resolved experiment names, with its settings."""
    return engines.get(experiment["simulate"]["engine"]).for_experiment(experiment)


def engines_that(can: Callable[[Capabilities], bool]) -> str:
    """Return the names of the engines with a capability, for messages."""
    return ", ".join(name for name in engines.names() if can(engines.get(name).capabilities))
