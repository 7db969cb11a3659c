"""Dragonflies: numbers of groups and routers, the cables between groups, and a cut that keeps groups whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from manynode.config.group_cables import GroupCables
from manynode.config.quantities import Latency, written
from manynode.config.topology import MOST_PARTS, Count, Topology, check_size, nested_places, topology, up


@topology
class Dragonfly(Topology):
    """A dragonfly (Kim et al., ISCA 2008): groups of fully connected routers, with cables between groups."""

    title: ClassVar[str] = "dragonflies"
    cable_names: ClassVar[str] = "local, global"
    cable_pattern: ClassVar[re.Pattern[str]] = re.compile("local|global")
    link_names: ClassVar[str] = "local, global"
    is_sized: ClassVar[bool] = True

    kind: Literal["dragonfly"] = Field(description="Kind of topology")
    groups: Count = Field(description="Groups of the machine")
    routers_per_group: Count = Field(description="Routers (switches) of a group")
    hosts_per_router: Count = Field(description="Nodes at each router (NICs, if nodes have several rails)")
    local_links: Count = Field(default=1, description="Cables between each pair of routers of a group")
    global_links: Annotated[int, Field(ge=0, le=MOST_PARTS)] = Field(
        description="Ports of each router to other groups; a group shares its ports evenly among the other groups"
    )
    routing: Literal["minimal", "minimal-by-source", "valiant", "ugal"] = Field(
        default="minimal",
        description="minimal: the direct route, over a cable that destination and source select; minimal-by-source: "
        "over one that the source selects, as in SST's merlin, without the cables that only some groups have; valiant: "
        "through a group drawn for each chunk; ugal: the direct route or one of these, that with the smaller backlog",
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
        check_size(self.kind, max(self.hosts(), self.links()), 0)
        return self

    def hosts(self) -> int:
        return self.switches() * self.hosts_per_router

    def switches(self) -> int:
        """Return the number of routers."""
        return self.groups * self.routers_per_group

    def switch_count(self) -> int:
        return self.switches()

    def cables(self) -> dict[str, int]:
        local = self.switches() * (self.routers_per_group - 1) * self.local_links // 2
        return {"host": self.hosts(), "local": local, "global": self.groups * self.ports_in_use() // 2}

    def link_classes(self) -> list[str]:
        return ["host-up", "host-down", "local", "global"]

    def ports_in_use(self) -> int:
        """Return the global ports of a group that have a cable."""
        return self._cables().in_use()

    def peers(self) -> Sequence[int]:
        """Return the distance in groups that each global port of a group spans."""
        return self._cables().peers()

    def _cables(self) -> GroupCables:
        return GroupCables(self.groups, self.routers_per_group * self.global_links)

    def bisection_links(self) -> int:
        """Return an upper bound of the minimum cut between the halves of the hosts, in links of one direction.

        The cut keeps groups whole, although a cut through groups can have fewer links. A group in the middle is cut
        between two of its routers, or belongs to one half and is cut off from its hosts of the other half.
        """
        cables, middle, half = self._cables(), self.groups // 2, self.hosts() // 2
        between = cables.between()
        if self.groups % 2 == 0:
            return min(half, between)
        above, below = cables.of_middle(self.routers_per_group, self.global_links)
        least = half
        for routers in range(self.routers_per_group + 1):
            local = routers * (self.routers_per_group - routers) * self.local_links
            apart = abs(half - (middle * self.routers_per_group + routers) * self.hosts_per_router)
            least = min(least, between + local + sum(above[:routers]) + sum(below[routers:]) + apart)
        return least

    def draws_routes(self) -> bool:
        return self.routing not in ("minimal", "minimal-by-source")

    def places(self, hosts: Sequence[int]) -> list[list[float]]:
        """Return the group and the router of each host."""
        return nested_places(hosts, [self.hosts_per_router, self.routers_per_group, self.groups])

    def exchange_share(self) -> float:
        """Minimal routing uses only one of a group's paths."""
        least = super().exchange_share()
        return min(least, 1 / self.groups) if self.routing.startswith("minimal") else least

    def ports_and_taper(self) -> tuple[int, float]:
        local, above = (self.routers_per_group - 1) * self.local_links, self.global_links if self.groups > 1 else 0
        return self.hosts_per_router + local + above, self.hosts_per_router / (above or local or self.hosts_per_router)

    @classmethod
    def sized(cls, hosts: int, ports: int, taper: float, unit: int = 1) -> dict[str, Any] | None:
        """Return the dragonfly; the taper is that of the global ports, or in a single group of the local ones.

        Two thirds or more of a router's ports to others are local: a message takes up to two local cables for each
        global one (Kim et al. 2008, a >= 2h).
        """
        found: list[tuple[int, int, dict[str, Any]]] = []
        for per_router in range(unit, ports + 1, unit):
            above = up(per_router / taper)
            for groups, own in ((1, 0), (2, above)):
                for links in range(1, ports):
                    for routers in range(1, (ports - per_router - own) // links + 2):
                        local = links * (routers - 1)
                        if groups == 1 and (routers != up(hosts / per_router) or (routers > 1 and local < above)):
                            continue
                        many = groups if groups == 1 else max(2, up(hosts / (routers * per_router)))
                        if groups > 1 and (local < 2 * own or routers * own < many - 1):
                            continue
                        section = {"groups": many, "routers_per_group": routers, "local_links": links}
                        section |= {"hosts_per_router": up(hosts / (many * routers), unit), "global_links": own}
                        found.append((many * routers, many * routers * (local + own), section))
        best = min(found, key=lambda entry: entry[:2], default=None)
        return None if best is None else {"kind": "dragonfly", **best[2]}
