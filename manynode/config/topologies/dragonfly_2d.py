"""Dragonflies whose groups are grids of routers, each row and each column fully connected (Cray XC)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from manynode.config.group_cables import GroupCables
from manynode.config.quantities import Latency, written
from manynode.config.topology import MOST_PARTS, Count, Topology, check_size, nested_places, topology


@topology
class Dragonfly2d(Topology):
    """A dragonfly of two-dimensional groups (Alverson et al., Cray XC series network, 2012)."""

    title: ClassVar[str] = "two-dimensional dragonflies"
    cable_names: ClassVar[str] = "row, column, global"
    cable_pattern: ClassVar[re.Pattern[str]] = re.compile("row|column|global")
    link_names: ClassVar[str] = "row, column, global"

    kind: Literal["dragonfly-2d"] = Field(description="Kind of topology")
    groups: Count = Field(description="Groups of the machine")
    rows: Count = Field(description="Rows of routers in a group (chassis; 6 in a Cray XC)")
    columns: Count = Field(description="Routers in a row (16 in a Cray XC)")
    hosts_per_router: Count = Field(description="Nodes at each router (NICs, if nodes have several rails)")
    row_links: Count = Field(default=1, description="Cables between each pair of routers of a row")
    column_links: Count = Field(default=1, description="Cables between each pair of routers of a column")
    global_links: Annotated[int, Field(ge=0, le=MOST_PARTS)] = Field(
        description="Ports of each router to other groups; a group shares its ports evenly among the other groups"
    )
    routing: Literal["minimal", "valiant", "ugal"] = Field(
        default="minimal",
        description="minimal: the direct route, in groups row then column; valiant: through a group drawn for each "
        "chunk; ugal: the one of these with the smaller backlog",
    )
    ugal_bias: Latency = Field(
        default=written("200 ns"),
        description="Bias of ugal towards the direct route; about the time of a chunk on a link",
    )

    @model_validator(mode="after")
    def _joined(self) -> Dragonfly2d:
        if refusal := self._group_cables().refusal(self.rows * self.columns, "global_links"):
            raise ValueError(refusal)
        check_size(self.kind, max(self.hosts(), self.links()), 0)
        return self

    def hosts(self) -> int:
        return self.switch_count() * self.hosts_per_router

    def switch_count(self) -> int:
        return self.groups * self.rows * self.columns

    def cables(self) -> dict[str, int]:
        return {
            "host": self.hosts(),
            "row": self.switch_count() * (self.columns - 1) * self.row_links // 2,
            "column": self.switch_count() * (self.rows - 1) * self.column_links // 2,
            "global": self.groups * self._group_cables().in_use() // 2,
        }

    def link_classes(self) -> list[str]:
        return ["host-up", "host-down", "row", "column", "global"]

    def _group_cables(self) -> GroupCables:
        return GroupCables(self.groups, self.rows * self.columns * self.global_links)

    def bisection_links(self) -> int:
        """Return an upper bound of the minimum cut between the halves of the hosts, in links of one direction.

        The cut keeps groups whole, although a cut through groups can have fewer links. A group in the middle is cut
        between two of its routers, or belongs to one half and is cut off from its hosts of the other half.
        """
        cables, half = self._group_cables(), self.hosts() // 2
        between = cables.between()
        if self.groups % 2 == 0:
            return min(half, between)
        routers = self.rows * self.columns
        above, below = cables.of_middle(routers, max(1, self.global_links))
        least = half
        for low in range(routers + 1):
            apart = abs(half - (self.groups // 2 * routers + low) * self.hosts_per_router)
            least = min(least, between + self._within(low) + sum(above[:low]) + sum(below[low:]) + apart)
        return least

    def _within(self, low: int) -> int:
        """Return the cables between the first ``low`` routers of a group and the others."""
        rows, begun = divmod(low, self.columns)
        in_row = begun * (self.columns - begun) * self.row_links
        longer, shorter = (rows + 1) * (self.rows - rows - 1), rows * (self.rows - rows)
        return in_row + (begun * longer + (self.columns - begun) * shorter) * self.column_links

    def draws_routes(self) -> bool:
        return self.routing != "minimal"

    def places(self, hosts: Sequence[int]) -> list[list[float]]:
        """Return the group, the row and the column of each host's router."""
        return nested_places(hosts, [self.hosts_per_router, self.columns, self.rows, self.groups])

    def exchange_share(self) -> float:
        """Minimal routing uses only one of a group's paths."""
        least = super().exchange_share()
        return min(least, 1 / self.groups) if self.routing == "minimal" else least
