"""Topologies of the network, one section per kind: numbers of nodes and switches, and their wiring.

The resolved section is the object ``topology`` of an engine's run file, key by key. Its checks and its bisection
formulas are those of the engines (``phase3_sst/machine/topologies/``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import MOST_COUNT, Latency, Section, written

# Hosts, switches and links have 31-bit numbers; routes have at most 255 links.
MOST_PARTS = MOST_COUNT
MOST_HOPS = 255

Count = Annotated[int, Field(ge=1, le=MOST_PARTS)]


def _check_size(kind: str, parts: int, hops: int) -> None:
    if parts > MOST_PARTS:
        raise ValueError(
            f"the {kind} is too large: {parts} hosts, switches or links (limit {MOST_PARTS}); choose smaller numbers"
        )
    if hops > MOST_HOPS:
        raise ValueError(
            f"routes of the {kind} have up to {hops} links (limit {MOST_HOPS}); choose fewer levels or a shape closer "
            "to a cube"
        )


class FatTree(Section):
    """A parallel-ports generalised fat-tree (Zahavi's PGFT, as in SimGrid): level 1 is next to the nodes."""

    kind: Literal["fat-tree"] = Field(description="Kind of topology")
    children: list[Count] = Field(
        description="Per level: nodes or switches below one switch of that level", min_length=1
    )
    parents: list[Count] = Field(
        description="Per level: switches of that level above one node or switch of the level below"
    )
    parallel_links: list[Count] = Field(
        description="Per level: parallel links between a switch of that level and each child"
    )
    routing: Literal["d-mod-k", "adaptive"] = Field(
        default="d-mod-k",
        description="Route upwards: d-mod-k chooses the port by destination; adaptive takes the port with the "
        "smallest backlog at each switch",
    )
    # Not in the resolved section, where parents and parallel_links already include it.
    taper: list[Count] | None = Field(
        default=None,
        exclude=True,
        description="Per level from 2 on: tapering factor of the links up to that level. It removes parallel links "
        "first, then parents; [2, 1] is 2:1 above the leaf switches",
    )

    @model_validator(mode="before")
    @classmethod
    def _tapered(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or given.get("taper") is None:
            return given
        numbers = [given.get(key) for key in ("taper", "parents", "parallel_links")]
        if not all(isinstance(n, list) and all(type(entry) is int and entry > 0 for entry in n) for n in numbers):
            return given  # the field declarations refuse it
        taper, parents, parallel_links = (list(n) for n in numbers)  # type: ignore[arg-type]
        if len(taper) != len(parents) - 1 or len(parents) != len(parallel_links):
            raise ValueError(
                f"taper needs one entry per level from 2 on: {len(parents) - 1} for these parents (found {len(taper)})"
            )
        for level, (factor, links) in enumerate(zip(taper, parallel_links[1:], strict=True), start=1):
            ports = parents[level] * links
            if ports % factor:
                raise ValueError(
                    f"taper: a switch of level {level} has {ports} links up, which {factor} does not divide; choose a "
                    f"divisor of {ports}"
                )
            of_links = math.gcd(links, factor)
            parallel_links[level] //= of_links
            parents[level] //= factor // of_links
        rest = {key: value for key, value in given.items() if key != "taper"}
        return {**rest, "parents": parents, "parallel_links": parallel_links}

    @model_validator(mode="after")
    def _consistent(self) -> FatTree:
        lengths = {len(self.children), len(self.parents), len(self.parallel_links)}
        if len(lengths) != 1:
            raise ValueError(
                "children, parents and parallel_links must have one entry per level "
                f"(found {len(self.children)}, {len(self.parents)} and {len(self.parallel_links)})"
            )
        _check_size(self.kind, max(self.hosts(), self.links(), sum(self.switches())), 2 * len(self.children))
        return self

    def hosts(self) -> int:
        """Return the number of hosts."""
        return math.prod(self.children)

    def switches(self) -> list[int]:
        """Return the number of switches per level, level 1 (leaf switches) first."""
        return [
            math.prod(self.children[level + 1 :]) * math.prod(self.parents[: level + 1])
            for level in range(len(self.children))
        ]

    def cables(self) -> dict[str, int]:
        """Return the number of cables by class; each is a link in both directions."""
        below = [self.hosts(), *self.switches()]
        ports = [w * p for w, p in zip(self.parents, self.parallel_links, strict=True)]
        return {stem: nodes * up for stem, nodes, up in zip(self._stems(), below, ports, strict=False)}

    def links(self) -> int:
        """Return the number of directed links."""
        return 2 * sum(self.cables().values())

    def _stems(self) -> list[str]:
        return ["host", "leaf", *(f"level{level}" for level in range(2, len(self.children)))][: len(self.children)]

    def link_classes(self) -> list[str]:
        """Return the names of the classes of links."""
        return [f"{stem}-{way}" for stem in self._stems() for way in ("up", "down")]

    def switch_count(self) -> int:
        """Return the number of switches of all levels."""
        return sum(self.switches())

    def bisection_links(self) -> int:
        """Return the minimum cut between the halves of the hosts, in links of one direction.

        All switches of a level above the same hosts act as one, because flows spread evenly over them. ``whole`` is the
        cut around a subtree of the level below. One subtree holds hosts of both halves: ``low`` and ``high`` are its
        cuts if its own switches belong to the low or to the high half.
        """
        at, under, width = self.hosts() // 2, 1, 1
        whole, low, high = 0, 0, 0
        for children, parents, parallel in zip(self.children, self.parents, self.parallel_links, strict=True):
            cables = width * parents * parallel
            whole = min(cables, whole) if whole else cables
            lower, divided = divmod(at % (under * children), under)
            upper = children - lower - bool(divided)
            low, high = (
                upper * whole + (min(low, high + cables) if divided else 0),
                lower * whole + (min(high, low + cables) if divided else 0),
            )
            whole, under, width = whole * children, under * children, width * parents
        return min(low, high)


class Torus(Section):
    """A torus of any number of dimensions; routes take the dimensions in order, each the shorter way round."""

    kind: Literal["torus"] = Field(description="Kind of topology")
    shape: list[Count] = Field(
        description="Switches in each dimension; switch numbers run fastest in the first dimension", min_length=1
    )
    hosts_per_switch: Count = Field(description="Nodes at each switch (NICs, if nodes have several rails)")
    links_per_direction: Count = Field(
        default=1, description="Parallel cables from a switch to each neighbour, in each direction of each dimension"
    )
    routing: Literal["dimension-order", "dimension-order-plus"] = Field(
        default="dimension-order",
        description="dimension-order: half of the pairs half a ring apart go each way, and pairs spread over "
        "parallel cables. dimension-order-plus, as SST's merlin: these pairs all go up, over the cable (switches to "
        "go) modulo the number of cables",
    )

    @model_validator(mode="after")
    def _fits(self) -> Torus:
        _check_size(self.kind, max(self.hosts(), self.links()), 2 + sum(size // 2 for size in self.shape))
        return self

    def hosts(self) -> int:
        """Return the number of hosts."""
        return self.switches() * self.hosts_per_switch

    def switches(self) -> int:
        """Return the number of switches."""
        return math.prod(self.shape)

    def switch_count(self) -> int:
        """Return the number of switches."""
        return self.switches()

    def cables(self) -> dict[str, int]:
        """Return the number of cables by class; each is a link in both directions."""
        each = self.switches() * self.links_per_direction
        return {"host": self.hosts(), **{f"dim{d}": each for d, size in enumerate(self.shape) if size > 1}}

    def links(self) -> int:
        """Return the number of directed links."""
        return 2 * sum(self.cables().values())

    def link_classes(self) -> list[str]:
        """Return the names of the classes of links; a dimension of size 1 has none."""
        rings = [dimension for dimension, size in enumerate(self.shape) if size > 1]
        return ["host-up", "host-down", *(f"dim{d}-{way}" for d in rings for way in ("plus", "minus"))]

    def bisection_links(self) -> int:
        """Return the minimum cut between the halves of the hosts, in links of one direction.

        The last dimension runs slowest, so the cut crosses each of its rings twice. If its size is odd, the dimension
        before it divides the middle plane in the same way.
        """
        cut, rings = 0, self.switches()
        for size in reversed([size for size in self.shape if size > 1]):
            rings //= size
            cut += 2 * self.links_per_direction * rings
            if size % 2 == 0:
                return min(cut, self.hosts() // 2)
        return min(cut + self.hosts_per_switch // 2, self.hosts() // 2)


class Dragonfly(Section):
    """A dragonfly (Kim et al., ISCA 2008): groups of fully connected routers, with cables between groups."""

    kind: Literal["dragonfly"] = Field(description="Kind of topology")
    groups: Count = Field(description="Groups of the machine")
    routers_per_group: Count = Field(description="Routers (switches) of a group")
    hosts_per_router: Count = Field(description="Nodes at each router (NICs, if nodes have several rails)")
    local_links: Count = Field(default=1, description="Cables between each pair of routers of a group")
    global_links: Annotated[int, Field(ge=0, le=MOST_PARTS)] = Field(
        description="Ports of each router to other groups; a group shares its ports evenly among the other groups"
    )
    routing: Literal["minimal", "valiant", "ugal"] = Field(
        default="minimal",
        description="minimal: the direct route; valiant: through a group drawn for each chunk; ugal: the one of "
        "these with the smaller backlog",
    )
    ugal_bias: Latency = Field(
        default=written("200 ns"),
        description="Bias of ugal towards the direct route; about the time of a chunk on a link",
    )

    @model_validator(mode="after")
    def _joined(self) -> Dragonfly:
        ports = self.routers_per_group * self.global_links
        if self.groups - 1 > ports:
            least = -(-(self.groups - 1) // self.routers_per_group)
            raise ValueError(
                f"global_links: {self.routers_per_group} routers with {self.global_links} each cannot connect a group "
                f"to the {self.groups - 1} others; raise global_links to at least {least} or lower groups"
            )
        _check_size(self.kind, max(self.hosts(), self.links()), 0)
        return self

    def hosts(self) -> int:
        """Return the number of hosts."""
        return self.switches() * self.hosts_per_router

    def switches(self) -> int:
        """Return the number of routers."""
        return self.groups * self.routers_per_group

    def switch_count(self) -> int:
        """Return the number of routers."""
        return self.switches()

    def cables(self) -> dict[str, int]:
        """Return the number of cables by class; each is a link in both directions."""
        local = self.switches() * (self.routers_per_group - 1) * self.local_links // 2
        return {"host": self.hosts(), "local": local, "global": self.groups * self.ports_in_use() // 2}

    def links(self) -> int:
        """Return the number of directed links."""
        return 2 * sum(self.cables().values())

    def link_classes(self) -> list[str]:
        """Return the names of the classes of links."""
        return ["host-up", "host-down", "local", "global"]

    def ports_in_use(self) -> int:
        """Return the global ports of a group that have a cable: all, or one less if the groups do not pair up."""
        if self.groups == 1:
            return 0
        ports = self.routers_per_group * self.global_links
        return ports - (ports % (self.groups - 1)) % 2 * (self.groups % 2)

    def peers(self) -> Sequence[int]:
        """Return the distance in groups that each global port of a group spans.

        The ports go round the other groups. Remaining ports lead to the nearest groups on both sides and to the
        opposite group (``phase3_sst/machine/topologies/global_cables.hpp``).
        """
        if self.groups == 1:
            return []
        rounds, further = divmod(self.ports_in_use(), self.groups - 1)
        near = further // 2
        opposite = [self.groups // 2] if further % 2 else []
        rest = [*range(1, near + 1), *opposite, *range(self.groups - near, self.groups)]
        return [*range(1, self.groups)] * rounds + rest

    def bisection_links(self) -> int:
        """Return an upper bound of the minimum cut between the halves of the hosts, in links of one direction.

        The cut keeps groups whole, although a cut through groups can have fewer links. A group in the middle is cut
        between two of its routers, or belongs to one half and is cut off from its hosts of the other half.
        """
        peers, middle = self.peers(), self.groups // 2
        cables = [0] * self.groups
        for distance in peers:
            cables[distance] += 1
        upper = range(self.groups - middle, self.groups)
        between = sum(cables[high - low] for low in range(middle) for high in upper)
        half = self.hosts() // 2
        if self.groups % 2 == 0:
            return min(half, between)
        # Cables of each router of the middle group to the groups above (nearer than the wrap) and below.
        above, below = [0] * self.routers_per_group, [0] * self.routers_per_group
        for port, distance in enumerate(peers):
            side = above if distance <= middle else below
            side[port // self.global_links] += 1
        least = half
        for routers in range(self.routers_per_group + 1):
            local = routers * (self.routers_per_group - routers) * self.local_links
            apart = abs(half - (middle * self.routers_per_group + routers) * self.hosts_per_router)
            least = min(least, between + local + sum(above[:routers]) + sum(below[routers:]) + apart)
        return least


Topology = Annotated[FatTree | Torus | Dragonfly, Field(discriminator="kind")]
