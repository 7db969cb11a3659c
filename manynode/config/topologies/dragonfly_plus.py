"""Dragonfly+: groups of leaf and spine switches, with the cables between groups at the spines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from manynode.config.group_cables import GroupCables
from manynode.config.quantities import Latency, written
from manynode.config.topology import MOST_PARTS, Count, Topology, check_size, nested_places, topology


@topology
class DragonflyPlus(Topology):
    """A dragonfly+ (Shpiner et al., HiPINEB 2017): each group is a two-level tree whose spines lead to other groups."""

    title: ClassVar[str] = "dragonfly-plus machines"
    cable_names: ClassVar[str] = "leaf, global"
    cable_pattern: ClassVar[re.Pattern[str]] = re.compile("leaf|global")
    link_names: ClassVar[str] = "leaf-up, leaf-down, global"

    kind: Literal["dragonfly-plus"] = Field(description="Kind of topology")
    groups: Count = Field(description="Groups of the machine")
    leaves_per_group: Count = Field(description="Leaf switches of a group")
    spines_per_group: Count = Field(description="Spine switches of a group")
    hosts_per_leaf: Count = Field(description="Nodes at each leaf switch (NICs, if nodes have several rails)")
    leaf_links: Count = Field(default=1, description="Cables between a leaf and each spine of its group")
    global_links: Annotated[int, Field(ge=0, le=MOST_PARTS)] = Field(
        description="Ports of each spine to other groups; a group shares its ports evenly among the other groups"
    )
    routing: Literal["minimal", "ugal"] = Field(
        default="minimal",
        description="minimal: up, one global cable, down, chosen by destination and source; ugal: each switch takes "
        "its least loaded link, and a spine may go through a third group",
    )
    ugal_bias: Latency = Field(
        default=written("200 ns"),
        description="Bias of ugal towards the direct cable; about the time of a chunk on a link",
    )

    @model_validator(mode="after")
    def _joined(self) -> DragonflyPlus:
        if refusal := self._group_cables().refusal(self.spines_per_group, "global_links"):
            raise ValueError(refusal)
        check_size(self.kind, max(self.hosts(), self.links()), 0)
        return self

    def hosts(self) -> int:
        return self.groups * self.leaves_per_group * self.hosts_per_leaf

    def switch_count(self) -> int:
        return self.groups * (self.leaves_per_group + self.spines_per_group)

    def cables(self) -> dict[str, int]:
        leaf = self.groups * self.leaves_per_group * self.spines_per_group * self.leaf_links
        return {"host": self.hosts(), "leaf": leaf, "global": self.groups * self._group_cables().in_use() // 2}

    def link_classes(self) -> list[str]:
        return ["host-up", "host-down", "leaf-up", "leaf-down", "global"]

    def _group_cables(self) -> GroupCables:
        return GroupCables(self.groups, self.spines_per_group * self.global_links)

    def bisection_links(self) -> int:
        """Return an upper bound of the minimum cut between the halves of the hosts, in links of one direction.

        The cut keeps groups whole, although a cut through groups can have fewer links. In a group in the middle, some
        leaves belong to the low half, and each spine to the half that cuts fewer of its cables.
        """
        cables, half = self._group_cables(), self.hosts() // 2
        between = cables.between()
        if self.groups % 2 == 0:
            return min(half, between)
        above, below = cables.of_middle(self.spines_per_group, max(1, self.global_links))
        least = half
        for low in range(self.leaves_per_group + 1):
            high = self.leaves_per_group - low
            apart = abs(half - (self.groups // 2 * self.leaves_per_group + low) * self.hosts_per_leaf)
            spines = sum(
                min(high * self.leaf_links + up, low * self.leaf_links + down)
                for up, down in zip(above, below, strict=True)
            )
            least = min(least, between + spines + apart)
        return least

    def draws_routes(self) -> bool:
        return self.routing != "minimal"

    def places(self, hosts: Sequence[int]) -> list[list[float]]:
        """Return the group and the leaf of each host."""
        return nested_places(hosts, [self.hosts_per_leaf, self.leaves_per_group, self.groups])

    def exchange_share(self) -> float:
        """Minimal routing uses only one of a group's paths."""
        least = super().exchange_share()
        return min(least, 1 / self.groups) if self.routing == "minimal" else least
