"""The machine as plain data: the input of ``issue.py``, which tests can inspect without SST."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class End:
    """One end of a link of SST: a component (or a part of it) and a port."""

    component: str
    port: str


@dataclass(frozen=True)
class SstLink:
    """A link of SST; both ends of a no-cut link stay on one thread."""

    name: str
    a: End
    b: End
    latency_ps: int
    no_cut: bool = False


@dataclass(frozen=True)
class Router:
    """A merlin router with its topology subcomponent."""

    name: str
    parameters: Mapping[str, Any]
    topology: str
    topology_parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Nic:
    """A firefly NIC; its link controls are nested, the outermost first."""

    name: str
    parameters: Mapping[str, Any]
    link_controls: Sequence[str]
    link_parameters: Mapping[str, Any]  # of the innermost


@dataclass(frozen=True)
class Engine:
    """A rank: ember's engine with its OS layer."""

    name: str
    parameters: Mapping[str, Any]
    os_parameters: Mapping[str, Any]
    job: int
    logical_nic: int
    core: int


@dataclass(frozen=True)
class LoopBack:
    """The path between the ranks of a node."""

    name: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Statistics:
    """The statistics: what is counted where, and the interval of writing."""

    file: str
    rate: str  # "0ns": once, at the end
    routers: Sequence[str]
    link_controls: Sequence[str]


@dataclass(frozen=True)
class Machine:
    """The whole machine."""

    routers: Sequence[Router]
    nics: Sequence[Nic]
    loop_backs: Sequence[LoopBack]
    engines: Sequence[Engine]
    links: Sequence[SstLink]
    # Parameters of all engines' parts; SST gets each set once.
    virtual_nic_parameters: Mapping[str, Any]
    protocol_parameters: Mapping[str, Any]
    statistics: Statistics
