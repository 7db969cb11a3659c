"""The contract of a phase 3 engine.

In: a :class:`Point` (one technique at one node count) and a folder. Out: that folder holding ``result.json`` (schema
``network-result/1``), ``ranks.parquet`` (``rank-times/1``) and ``links.parquet`` (``link-load/1``), the same for every
engine:

- result.json: engine name and version; per replica makespan [s] and the end of each iteration [s];
- ranks: replica, rank, operation ("compute" or an MPI call), seconds, calls, bytes;
- links: replica, link, class, source, target, bytes, busy_s, stall_s.

All times are simulated seconds. The same point gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from manynode.probe import Probe
from manynode.registry import Registry

RESULT_SCHEMA = "network-result/1"
RANKS_SCHEMA = "rank-times/1"
LINKS_SCHEMA = "link-load/1"


@dataclass(frozen=True)
class Point:
    """One point of an experiment: what is simulated, on how many nodes, with which compute times."""

    experiment: dict[str, Any]
    nodes: int
    technique: str
    timing_profile: Path
    class_of_rank: Sequence[str]
    seed: int

    @property
    def ranks(self) -> int:
        """The number of MPI ranks."""
        return int(self.nodes * self.experiment["ranks_per_node"])


class NetworkEngine(Protocol):
    """A network simulator."""

    def probe(self) -> Probe:
        """Say whether the engine is installed, where, and what to do when it is not."""

    def simulate(self, point: Point, directory: Path) -> None:
        """Simulate ``point`` and write its three files into ``directory``."""


engines: Registry[type[NetworkEngine]] = Registry("network engine", "phase3_sst.engines")
