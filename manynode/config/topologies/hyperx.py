"""HyperX networks: switches in a grid, fully connected in each dimension, and their cut."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from manynode.config.topology import Count, Topology, check_size, near_cube, topology, up


@topology
class HyperX(Topology):
    """A HyperX (Ahn et al., SC 2009): all switches that differ in one coordinate are joined."""

    title: ClassVar[str] = "hyperx networks"
    cable_names: ClassVar[str] = "dim0 ..."
    cable_pattern: ClassVar[re.Pattern[str]] = re.compile(r"dim\d*")
    link_names: ClassVar[str] = "dim0 ..."
    is_sized: ClassVar[bool] = True

    kind: Literal["hyperx"] = Field(description="Kind of topology")
    shape: list[Count] = Field(
        description="Switches in each dimension; switch numbers run fastest in the first dimension", min_length=1
    )
    hosts_per_switch: Count = Field(description="Nodes at each switch (NICs, if nodes have several rails)")
    links_by_dimension: list[Count] = Field(
        default_factory=list, description="Cables between each pair of switches of a dimension. Default: one"
    )
    routing: Literal["dimension-order", "minimal-adaptive", "valiant"] = Field(
        default="dimension-order",
        description="dimension-order: the dimensions in order; minimal-adaptive: at each switch the least loaded link "
        "of a shortest route; valiant: through a switch drawn for each chunk",
    )

    @model_validator(mode="after")
    def _fits(self) -> HyperX:
        if self.links_by_dimension and len(self.links_by_dimension) != len(self.shape):
            raise ValueError(
                f"links_by_dimension: a shape of {len(self.shape)} dimensions needs as many numbers (found "
                f"{len(self.links_by_dimension)})"
            )
        longest = sum(size > 1 for size in self.shape) * (2 if self.routing == "valiant" else 1)
        check_size(self.kind, max(self.hosts(), self.links()), 2 + longest)
        return self

    def widths(self) -> list[int]:
        """Return the cables between two switches in each dimension."""
        return self.links_by_dimension or [1] * len(self.shape)

    def hosts(self) -> int:
        return self.switch_count() * self.hosts_per_switch

    def switch_count(self) -> int:
        return math.prod(self.shape)

    def cables(self) -> dict[str, int]:
        pairs = {
            f"dim{d}": self.switch_count() * (size - 1) * width // 2
            for d, (size, width) in enumerate(zip(self.shape, self.widths(), strict=True))
            if size > 1
        }
        return {"host": self.hosts(), **pairs}

    def link_classes(self) -> list[str]:
        """Return the names of the classes of links; a dimension of one switch has none."""
        return ["host-up", "host-down", *(f"dim{d}" for d, size in enumerate(self.shape) if size > 1)]

    def bisection_links(self) -> int:
        """Return the minimum cut between the halves of the hosts, in links of one direction.

        The last dimension runs slowest: the cut parts its low from its high switches. If its size is odd, each switch
        of the middle plane belongs to the half of its hosts, and the dimension before it divides the plane in the same
        way. The cut is then an upper bound.
        """
        cut, rest = 0, self.switch_count()
        for size, width in reversed([*zip(self.shape, self.widths(), strict=True)]):
            if size == 1:
                continue
            rest //= size
            half = size // 2
            cut += rest * half * (half + size % 2) * width
            if size % 2 == 0:
                return min(cut, self.hosts() // 2)
        return min(cut + self.hosts_per_switch // 2, self.hosts() // 2)

    def draws_routes(self) -> bool:
        return self.routing != "dimension-order"

    def places(self, hosts: Sequence[int]) -> list[list[float]]:
        """Return the coordinates of each host's switch."""
        columns, rest = [], [host // self.hosts_per_switch for host in hosts]
        for size in self.shape:
            columns.append([float(switch % size) for switch in rest])
            rest = [switch // size for switch in rest]
        return [list(place) for place in zip(*columns, strict=True)]

    def exchange_share(self) -> float:
        """In dimension order, the halves use one link of each switch in the last dimension."""
        least = super().exchange_share()
        return min(least, 1 / max(self.shape)) if self.routing == "dimension-order" else least

    def ports_and_taper(self) -> tuple[int, float]:
        joined = [(size, width) for size, width in zip(self.shape, self.widths(), strict=True) if size > 1]
        least = min((size * width for size, width in joined), default=self.hosts_per_switch)
        return self.hosts_per_switch + sum((size - 1) * width for size, width in joined), self.hosts_per_switch / least

    @classmethod
    def sized(cls, hosts: int, ports: int, taper: float, unit: int = 1) -> dict[str, Any] | None:
        """Return a HyperX of one to three dimensions; the bisection has its hosts' bandwidth over ``taper``.

        A dimension of S switches with K cables between two has S K / 2 ports across its middle for T / 2 hosts of
        each switch (Ahn et al. 2009).
        """
        found: list[tuple[int, int, dict[str, Any]]] = []
        for own in range(unit, ports + 1, unit):
            for dimensions in (1, 2, 3):
                shape = near_cube(up(hosts / own), dimensions)
                widths = [up(own / taper / size) for size in shape]
                between = sum((size - 1) * width for size, width in zip(shape, widths, strict=True))
                if own + between <= ports:
                    switches = math.prod(shape)
                    section = {"shape": shape, "hosts_per_switch": up(hosts / switches, unit)}
                    found.append((switches, switches * between, section | {"links_by_dimension": widths}))
        best = min(found, key=lambda entry: entry[:2], default=None)
        return None if best is None else {"kind": "hyperx", **best[2]}
