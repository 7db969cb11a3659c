"""What a topology of the network is: one section per kind, in a file of :mod:`manynode.config.topologies`.

The resolved section is the object ``topology`` of an engine's run file, key by key. The routes of a kind are one C++
file, ``phase3_sst/machine/topologies/KIND.cpp``; its wiring for SST is one file of
``phase3_sst/engines/sst/machine/topologies/``.
"""

from __future__ import annotations

import functools
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Annotated, Any, ClassVar, TypeVar, get_args

from pydantic import Field

from manynode.config.quantities import MOST_COUNT, Section
from manynode.registry import Registry

# Hosts, switches and links have 31-bit numbers; routes have at most 255 links.
MOST_PARTS = MOST_COUNT
MOST_HOPS = 255

Count = Annotated[int, Field(ge=1, le=MOST_PARTS)]


class Topology(Section, ABC):
    """The contract of a topology: a set of hosts (one per NIC), switches and cables.

    Hosts have the numbers 0 to ``hosts() - 1``. A cable is two directed links. ``kind`` is narrowed to a literal, which
    is the name that files give.
    """

    title: ClassVar[str]
    """Machines of this kind, in the plural."""
    cable_names: ClassVar[str]
    """Classes of cables beside ``host``, as words for people."""
    cable_pattern: ClassVar[re.Pattern[str]]
    """All names of these classes, in machines of any shape."""
    link_names: ClassVar[str]
    """Classes of links beside ``host-up`` and ``host-down``, as words for people."""
    has_directions: ClassVar[bool] = False
    """Whether routes leave a switch in directions by which nodes can choose one of several NICs."""
    is_sized: ClassVar[bool] = False
    """Whether :meth:`sized` makes machines of this kind."""

    kind: str

    @abstractmethod
    def hosts(self) -> int:
        """Return the number of hosts."""

    @abstractmethod
    def switch_count(self) -> int:
        """Return the number of switches."""

    @abstractmethod
    def cables(self) -> dict[str, int]:
        """Return the number of cables by class; each is a link in both directions."""

    def links(self) -> int:
        """Return the number of directed links."""
        return 2 * sum(self.cables().values())

    @abstractmethod
    def link_classes(self) -> list[str]:
        """Return the names of the classes of links, ``host-up`` and ``host-down`` first."""

    @abstractmethod
    def bisection_links(self) -> int:
        """Return the minimum cut between the low and the high half of the hosts, in links of one direction.

        It may be an upper bound of that cut.
        """

    @abstractmethod
    def places(self, hosts: Sequence[int]) -> list[list[float]]:
        """Return coordinates of each host's switch; near hosts have near coordinates in every dimension."""

    def plane_count(self) -> int:
        """Return the number of parts without a link between them; nodes have a NIC in each."""
        return 1

    def draws_routes(self) -> bool:
        """Return whether routes depend on chance or load, so that replicas differ without any other draw."""
        return False

    def links_to_nearest(self, _rails: int) -> int:
        """Return the links between two nearest nodes of ``_rails`` hosts each: 2 if they share a switch."""
        return 2

    def exchange_is_exact(self, _nodes: int, _flow_control: bool) -> bool:
        """Return whether the halves of a machine of ``_nodes`` nodes exchange at exactly the rate of the bisection.

        Node i of the low half exchanges with node i of the high half. All links have one rate. ``_flow_control`` says
        whether buffers are finite.
        """
        return False

    def exchange_share(self) -> float:
        """Return the share of the bisection's rate that a sound exchange reaches where that rate is only a bound."""
        return 0.2

    def exchange_is_fixed(self, _nodes: int) -> bool:
        """Return whether the busiest link of the exchange tells its rate: routes are fixed and as the halves need."""
        return False

    def ports_and_taper(self) -> tuple[int, float] | None:
        """Return the ports in use of the fullest switch, and the taper as :meth:`sized` takes it; None if not sized."""
        return None

    @classmethod
    def sized(cls, _hosts: int, _ports: int, _taper: float, _unit: int = 1) -> dict[str, Any] | None:
        """Return the section of the machine with the fewest switches of ``_ports`` ports for ``_hosts`` hosts.

        A switch has ``_taper`` hosts (in multiples of ``_unit``, so that the NICs of a node share one) for each port to
        other switches, or fewer. None if no such machine has room for so many hosts.
        """
        return None

    def switches_needed(self, hosts: int, unit: int = 1) -> int:
        """Return the switches that ``hosts`` need in a machine of this kind, taper and ports of a switch.

        Where the kind is not sized: the hosts' share of this machine's switches.
        """
        shape = self.ports_and_taper()
        needed = None if shape is None else _fewest_switches(type(self), hosts, *shape, unit)
        return min(self.switch_count(), needed or -(-self.switch_count() * hosts // self.hosts()))


TOPOLOGIES: Registry[type[Topology]] = Registry("topology", "manynode.config.topologies")

T = TypeVar("T", bound=Topology)


def topology(section: type[T]) -> type[T]:
    """Register a topology under its kind."""
    (kind,) = get_args(section.model_fields["kind"].annotation)
    TOPOLOGIES.register(kind)(section)
    return section


def topologies() -> list[type[Topology]]:
    """Return all topologies, by kind."""
    return [TOPOLOGIES.get(kind) for kind in TOPOLOGIES.names()]


def cable_names() -> str:
    """Return the classes of cables of all topologies, as words for people."""
    return "; in ".join(["host", *(f"{kind.title}: {kind.cable_names}" for kind in topologies())])


def link_names() -> str:
    """Return the classes of links of all topologies, as words for people."""
    return "; in ".join(["host-up, host-down", *(f"{kind.title}: {kind.link_names}" for kind in topologies())])


@functools.lru_cache(maxsize=1000)
def _fewest_switches(kind: type[Topology], hosts: int, ports: int, taper: float, unit: int) -> int | None:
    """Return the switches of the machine that ``kind`` sizes; the explorer asks it of thousands of answers."""
    section = kind.sized(hosts, ports, taper, unit)
    return None if section is None else kind.model_validate(section).switch_count()


def up(count: float, unit: int = 1) -> int:
    """Return ``count`` as the next larger multiple of ``unit``; rounding errors of a division do not count."""
    return unit * math.ceil(count / unit - 1e-9)


def near_cube(parts: int, dimensions: int) -> list[int]:
    """Return the shape with the fewest parts, at least ``parts``, no side more than twice as long as another."""
    if dimensions == 1:
        return [parts]
    root, shapes = up(parts ** (1 / dimensions)), []
    for shortest in range(-(-root // 2), root + 1):
        for middle in combinations_with_replacement(range(shortest, 2 * shortest + 1), dimensions - 2):
            others = [*middle[::-1], shortest]
            longest = max(up(parts / math.prod(others)), others[0])
            if longest <= 2 * shortest:
                shapes.append([longest, *others])
    return min(shapes, key=lambda shape: (math.prod(shape), shape))


def check_size(kind: str, parts: int, hops: int) -> None:
    """Raise ``ValueError`` where a machine has too many parts, or routes of too many links."""
    if parts > MOST_PARTS:
        raise ValueError(
            f"the {kind} is too large: {parts} hosts, switches or links (limit {MOST_PARTS}); choose smaller numbers"
        )
    if hops > MOST_HOPS:
        raise ValueError(
            f"routes of the {kind} have up to {hops} links (limit {MOST_HOPS}); choose fewer levels or a shape closer "
            "to a cube"
        )


def nested_places(hosts: Sequence[int], sizes: Sequence[int]) -> list[list[float]]:
    """Return places in groups within groups: a number per level from the outermost, farther apart there.

    ``sizes`` are the hosts of a switch, then the parts of each larger group.
    """
    scales = [1.0]
    for size in sizes[1:]:
        scales.append(scales[-1] * size)
    found = []
    for host in hosts:
        rest, place = host // sizes[0], []
        for size, scale in zip(sizes[1:], scales, strict=False):
            rest, at = divmod(rest, size)
            place.append(at * scale)
        found.append(place[::-1] or [0.0])
    return found
