"""The contract of a part of a congestion study: its situations, round by round, and its findings.

A part is one folder of ``phase3_sst/studies/congestion`` whose ``part.py`` registers a :class:`Part`; its section of
the study's file has the part's name. In each round, it returns the situations that it needs. Later ones may depend on
earlier results (a mapping first needs the counters of the congested machine). When it needs no more, it returns its
findings. They go into the study's page and, table by table, into files beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from manynode.config.network import Network
from manynode.config.quantities import Section
from manynode.errors import UsageError, nearest
from manynode.registry import Registry
from manynode.report.figure import Figure
from phase3_sst.point.contract import engine_of_settings, engines_that
from phase3_sst.point.point_result import PointResult
from phase3_sst.studies.congestion.situation import Member, Situation


@dataclass(frozen=True)
class Workload:
    """An application of the study: its skeleton and its measured compute times (None: no time)."""

    name: str
    application: str
    parameters: Mapping[str, Any]
    ranks_per_node: int
    timing_profile: Path | None

    def on(self, hosts: Sequence[int], **options: Any) -> Member:
        """Return the application as a job on ``hosts``; ``options`` are those of :class:`Member`."""
        job = (self.name, self.application, self.parameters, hosts, self.ranks_per_node, self.timing_profile)
        return Member(*job, **options)


class Machine(Protocol):
    """The machine of the study, its workloads, and the results of simulated situations."""

    @property
    def network(self) -> Network:
        """Return the checked network."""

    @property
    def network_content(self) -> Mapping[str, Any]:
        """Return the network in the engines' form."""

    @property
    def simulate(self) -> Mapping[str, Any]:
        """Return the section ``simulate`` in the engines' form."""

    @property
    def seed(self) -> int:
        """Return the root seed."""

    @property
    def confidence(self) -> float:
        """Return the confidence of intervals."""

    @property
    def workloads(self) -> Mapping[str, Workload]:
        """Return the applications by name."""

    @property
    def output(self) -> Path:
        """Return the folder of the study."""

    def result(self, situation: Situation) -> PointResult:
        """Return the result of a situation of an earlier round."""

    def failed(self, situation: Situation) -> str | None:
        """Return why a situation of an earlier round has no result; None when it has one."""


@dataclass(frozen=True)
class Findings:
    """The findings of a part: sentences, tables (name -> schema and rows) and figures of those tables."""

    sentences: Sequence[str]
    tables: Mapping[str, tuple[str, pd.DataFrame]] = field(default_factory=dict)
    figures: Sequence[Figure] = ()


class Part(Protocol):
    """A part of a study; one stateless object for all studies."""

    title: str
    section: type[Section]

    def check(self, machine: Machine, settings: Any) -> None:
        """Raise :class:`UsageError` when the settings do not fit the machine, before anything is simulated."""

    def situations(self, machine: Machine, settings: Any, round_number: int) -> Sequence[Situation]:
        """Return the situations of a round, counted from 0; empty when no more are needed."""

    def conclude(self, machine: Machine, settings: Any) -> Findings:
        """Return the findings; they depend only on the results."""


parts: Registry[Part] = Registry("part of a congestion study", "phase3_sst.studies.congestion", inside="part")


def check_counts_stalls(machine: Machine, where: str) -> None:
    """Raise :class:`UsageError` when the engine counts no stalls."""
    engine = engine_of_settings(machine.simulate)
    if not engine.capabilities.counts_stalls:
        raise UsageError(
            "the engine counts no stalls of links",
            where=where,
            found=engine.name,
            allowed=engines_that(lambda capabilities: capabilities.counts_stalls),
            remedy="choose another engine: simulate: engine",
        )


def check_workloads(machine: Machine, names: Sequence[str], where: str) -> None:
    """Raise :class:`UsageError` for an unknown workload."""
    for name in names:
        if name not in machine.workloads:
            near = nearest(name, machine.workloads)
            raise UsageError(
                "the study has no such workload",
                where=where,
                found=name,
                allowed=", ".join(machine.workloads),
                remedy=f"did you mean {near!r}?" if near else None,
            )
