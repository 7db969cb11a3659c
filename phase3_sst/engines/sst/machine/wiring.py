"""The wiring of switches, hosts and cables for any topology: maps merlin's ports to our links.

A topology's file turns the ``topology`` of a run file into a :class:`Wiring`. Ports have the numbers that merlin's
routing expects; each direction of a cable has its number in the fast engine's ``links.csv``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manynode.errors import UsageError


@dataclass(frozen=True)
class Link:
    """One direction of a cable: number, class and ends as in the fast engine's ``links.csv``."""

    id: int
    cls: str
    source: str
    target: str


@dataclass(frozen=True)
class Switch:
    """A switch: its name as in ``links.csv``, and merlin's routing parameters."""

    name: str
    number: int  # merlin's id of the router
    ports: int
    parameters: Mapping[str, Any]  # of merlin's topology subcomponent, beside those of all switches


@dataclass(frozen=True)
class Cable:
    """Two switches (their places in :attr:`Wiring.switches`) with a port each."""

    a: int
    a_port: int
    b: int
    b_port: int
    forward: Link  # from a to b
    backward: Link


@dataclass(frozen=True)
class HostPort:
    """A host and the port of its switch."""

    host: int
    switch: int
    port: int
    up: Link
    down: Link


@dataclass(frozen=True)
class Wiring:
    """A whole network."""

    merlin: str  # merlin's topology subcomponent
    switches: Sequence[Switch]
    cables: Sequence[Cable]
    hosts: Sequence[HostPort]
    parameters: Mapping[str, Any]  # of the topology subcomponents of all switches
    reorders: bool  # packets of a message may overtake each other
    classes: Sequence[str]  # of links, in the fast engine's order
    # Classes of cables that can have their own rate in merlin, by logical group of ports; others have the router's
    # rate.
    groups: Mapping[str, str]


Builder = Callable[[Mapping[str, Any]], Wiring]
_BUILDERS: dict[str, Builder] = {}


def topology(kind: str) -> Callable[[Builder], Builder]:
    """Register the builder of a kind of topology."""

    def register(builder: Builder) -> Builder:
        _BUILDERS[kind] = builder
        return builder

    return register


def wiring_of(description: Mapping[str, Any]) -> Wiring:
    """Return the wiring of the ``topology`` of a run file."""
    from phase3_sst.engines.sst.machine.topologies import load

    load()
    kind = description["kind"]
    if kind not in _BUILDERS:
        # merlin's dragonfly knows only groups of fully connected routers. Its "anytopo", for any wiring, needs the
        # tables of a routing plugin in the interface of every NIC.
        raise UsageError(
            "the sst engine has no topology of this kind",
            where="network.topology.kind",
            found=kind,
            allowed=", ".join(sorted(_BUILDERS)),
            remedy="use the engine fast or simgrid, which know every topology",
        )
    return _BUILDERS[kind](description)


def host_name(host: int) -> str:
    """Return the name of a host in ``links.csv``."""
    return f"host-{host}"


def component_name(name: str) -> str:
    """Return SST's name of a switch or host, which may only have letters, digits and underscores."""
    return name.replace("-", "_")
