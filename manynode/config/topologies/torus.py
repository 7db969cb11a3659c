"""Tori: numbers of switches per dimension, dimensions without wrap-around, parallel cables, and their cut."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import NotNegativeInt
from manynode.config.topology import Count, Topology, check_size, near_cube, topology, up


@topology
class Torus(Topology):
    """A torus or mesh of any number of dimensions; routes take the dimensions in order, each the shorter way round."""

    title: ClassVar[str] = "tori"
    cable_names: ClassVar[str] = "dim0 ..."
    cable_pattern: ClassVar[re.Pattern[str]] = re.compile(r"dim\d*")
    link_names: ClassVar[str] = "dim0-plus, dim0-minus ..."
    has_directions: ClassVar[bool] = True
    is_sized: ClassVar[bool] = True

    kind: Literal["torus"] = Field(description="Kind of topology")
    shape: list[Count] = Field(
        description="Switches in each dimension; switch numbers run fastest in the first dimension", min_length=1
    )
    hosts_per_switch: Count = Field(description="Nodes at each switch (NICs, if nodes have several rails)")
    links_per_direction: Count = Field(
        default=1, description="Parallel cables from a switch to each neighbour, in each direction of each dimension"
    )
    links_by_dimension: list[Count] = Field(
        default_factory=list,
        description="The same for each dimension, where they differ; links_per_direction is then left out",
    )
    mesh: list[NotNegativeInt] = Field(
        default_factory=list,
        description="Dimensions, from 0, whose last switch has no link to the first one: two switches then share one "
        "bundle of cables, as in axes a and c of Tofu-D; otherwise two",
    )
    routing: Literal["dimension-order", "dimension-order-plus"] = Field(
        default="dimension-order",
        description="dimension-order: half of the pairs half a ring apart go each way, and pairs spread over "
        "parallel cables. dimension-order-plus, as SST's merlin: these pairs all go up, over the cable (switches to "
        "go) modulo the number of cables",
    )

    @model_validator(mode="after")
    def _fits(self) -> Torus:
        dimensions = len(self.shape)
        if self.links_by_dimension:
            if len(self.links_by_dimension) != dimensions:
                raise ValueError(
                    f"links_by_dimension: a shape of {dimensions} dimensions needs as many numbers (found "
                    f"{len(self.links_by_dimension)})"
                )
            if self.links_per_direction != 1:
                raise ValueError(
                    "links_per_direction has no effect beside links_by_dimension; leave one of the two out"
                )
        beyond = [dimension for dimension in self.mesh if dimension >= dimensions]
        if beyond:
            raise ValueError(
                f"mesh: there is no dimension {beyond[0]}; a shape of {dimensions} has 0 to {dimensions - 1}"
            )
        if len(set(self.mesh)) != len(self.mesh):
            raise ValueError("mesh: a dimension is given twice")
        farthest = [size - 1 if d in self.mesh else size // 2 for d, size in enumerate(self.shape)]
        check_size(self.kind, max(self.hosts(), self.links()), 2 + sum(farthest))
        return self

    def widths(self) -> list[int]:
        """Return the cables of one direction in each dimension."""
        return self.links_by_dimension or [self.links_per_direction] * len(self.shape)

    def hosts(self) -> int:
        return self.switches() * self.hosts_per_switch

    def switches(self) -> int:
        """Return the number of switches."""
        return math.prod(self.shape)

    def switch_count(self) -> int:
        return self.switches()

    def cables(self) -> dict[str, int]:
        found = {"host": self.hosts()}
        for d, (size, width) in enumerate(zip(self.shape, self.widths(), strict=True)):
            if size > 1:
                joints = size - 1 if d in self.mesh else size
                found[f"dim{d}"] = self.switches() // size * joints * width
        return found

    def link_classes(self) -> list[str]:
        """Return the names of the classes of links; a dimension of one switch has none."""
        rings = [dimension for dimension, size in enumerate(self.shape) if size > 1]
        return ["host-up", "host-down", *(f"dim{d}-{way}" for d in rings for way in ("plus", "minus"))]

    def bisection_links(self) -> int:
        """Return the minimum cut between the halves of the hosts, in links of one direction.

        The last dimension runs slowest, so the cut crosses each of its rings twice, each of its rows once. If its size
        is odd, the dimension before it divides the middle plane in the same way. The cut is then an upper bound where
        dimensions have different numbers of cables, and beyond about a dozen switches in a dimension.
        """
        cut, rings = 0, self.switches()
        for d, size in reversed([(d, size) for d, size in enumerate(self.shape) if size > 1]):
            rings //= size
            cut += (1 if d in self.mesh else 2) * self.widths()[d] * rings
            if size % 2 == 0:
                return min(cut, self.hosts() // 2)
        return min(cut + self.hosts_per_switch // 2, self.hosts() // 2)

    def places(self, hosts: Sequence[int]) -> list[list[float]]:
        """Return the coordinates of each host's switch, each ring cut in the longest gap between the hosts."""
        columns, rest = [], [host // self.hosts_per_switch for host in hosts]
        for dimension, size in enumerate(self.shape):
            column = [switch % size for switch in rest]
            columns.append([float(at) for at in column] if dimension in self.mesh else _opened(column, size))
            rest = [switch // size for switch in rest]
        return [list(place) for place in zip(*columns, strict=True)]

    def links_to_nearest(self, rails: int) -> int:
        """Return 3 if each node has its own switch, as in Tofu-D, else 2."""
        return 3 if self.hosts_per_switch <= rails else 2

    def exchange_is_exact(self, _nodes: int, flow_control: bool) -> bool:
        """With an even last dimension, along which alone the exchange goes, and unlimited buffers.

        With finite buffers, the hosts of a switch together get a larger share of a ring than passing traffic, which
        then blocks the ring behind it. In a row with parallel cables, messages between the same places of both halves
        may all take the same cable.
        """
        row_with_cables = len(self.shape) - 1 in self.mesh and self.widths()[-1] > 1
        return self.shape[-1] % 2 == 0 and not flow_control and not row_with_cables

    def exchange_share(self) -> float:
        """Where the halves split a plane, messages also use other rings."""
        return min(super().exchange_share(), 1 / max(self.shape))

    def exchange_is_fixed(self, nodes: int) -> bool:
        """With an even number of nodes and an even last ring, half of which every message goes."""
        rings = [size for size in self.shape if size > 1]
        return bool(rings) and rings[-1] % 2 == 0 and nodes % 2 == 0

    def ports_and_taper(self) -> tuple[int, float]:
        between = sum(2 * width for size, width in zip(self.shape, self.widths(), strict=True) if size > 1)
        return self.hosts_per_switch + between, self.hosts_per_switch / (between or self.hosts_per_switch)

    @classmethod
    def sized(cls, hosts: int, ports: int, taper: float, unit: int = 1) -> dict[str, Any] | None:
        """Return a torus of three dimensions with as many cables in each direction, or a single switch."""
        if up(hosts, unit) <= ports:
            return {"kind": "torus", "shape": [1], "hosts_per_switch": up(hosts, unit)}
        for own in range(ports // unit * unit, 0, -unit):
            shape = near_cube(up(hosts / own), 3)
            width = up(own / taper / 2 / max(1, sum(size > 1 for size in shape)))
            section = {"kind": "torus", "shape": shape, "hosts_per_switch": own, "links_per_direction": width}
            if own + 6 * up(own / taper / 6) <= ports and cls.model_validate(section).ports_and_taper()[0] <= ports:
                return section | {"hosts_per_switch": up(hosts / math.prod(shape), unit)}
        return None


def _opened(ring: Sequence[int], size: int) -> list[float]:
    """Return coordinates on a ring, counted from the end of the longest gap."""
    taken = sorted(set(ring))
    gaps = [after - before for before, after in pairwise([*taken, taken[0] + size])]
    # The last of equal gaps, which leaves a full ring unchanged.
    longest = max(range(len(gaps)), key=lambda place: (gaps[place], place))
    start = taken[(longest + 1) % len(taken)]
    return [float((at - start) % size) for at in ring]
