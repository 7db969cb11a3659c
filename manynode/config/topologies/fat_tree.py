"""Fat-trees: numbers of nodes and switches per level, tapering, and their cut."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from manynode.config.topology import Count, Topology, check_size, nested_places, topology, up


@topology
class FatTree(Topology):
    """A parallel-ports generalised fat-tree (Zahavi's PGFT, as in SimGrid): level 1 is next to the nodes."""

    title: ClassVar[str] = "trees"
    cable_names: ClassVar[str] = "leaf, level2 ..."
    cable_pattern: ClassVar[re.Pattern[str]] = re.compile(r"leaf\d*|level\d*")
    link_names: ClassVar[str] = "leaf-up, leaf-down, level2-up ..."
    is_sized: ClassVar[bool] = True

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
    planes: Count = Field(
        default=1,
        description="Equal trees without a link between them; nodes have a NIC in each (host: rails and rail_stride)",
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
        check_size(self.kind, max(self.hosts(), self.links(), sum(self.switches())), 2 * len(self.children))
        return self

    def hosts(self) -> int:
        return math.prod(self.children) * self.planes

    def plane_count(self) -> int:
        return self.planes

    def switches(self) -> list[int]:
        """Return the number of switches per level, level 1 (leaf switches) first."""
        return [
            math.prod(self.children[level + 1 :]) * math.prod(self.parents[: level + 1]) * self.planes
            for level in range(len(self.children))
        ]

    def cables(self) -> dict[str, int]:
        below = [self.hosts(), *self.switches()]
        ports = [w * p for w, p in zip(self.parents, self.parallel_links, strict=True)]
        return {stem: nodes * up for stem, nodes, up in zip(self._stems(), below, ports, strict=False)}

    def _stems(self) -> list[str]:
        return ["host", "leaf", *(f"level{level}" for level in range(2, len(self.children)))][: len(self.children)]

    def link_classes(self) -> list[str]:
        return [f"{stem}-{way}" for stem in self._stems() for way in ("up", "down")]

    def switch_count(self) -> int:
        return sum(self.switches())

    def bisection_links(self) -> int:
        """Return the minimum cut between the halves of the hosts, in links of one direction, in all planes together.

        All switches of a level above the same hosts act as one, because flows spread evenly over them. ``whole`` is the
        cut around a subtree of the level below. One subtree holds hosts of both halves: ``low`` and ``high`` are its
        cuts if its own switches belong to the low or to the high half.
        """
        at, under, width = math.prod(self.children) // 2, 1, 1
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
        return min(low, high) * self.planes

    def draws_routes(self) -> bool:
        return self.routing == "adaptive"

    def places(self, hosts: Sequence[int]) -> list[list[float]]:
        """Return the subtree of each host at each level from the top."""
        return nested_places(hosts, [*self.children, self.planes])

    def exchange_is_exact(self, nodes: int, _flow_control: bool) -> bool:
        """With D-mod-K routing and an even number of nodes: the exchange is then a shift (Zahavi 2010)."""
        return self.routing == "d-mod-k" and nodes % 2 == 0

    def exchange_is_fixed(self, _nodes: int) -> bool:
        return self.routing == "d-mod-k"

    def ports_and_taper(self) -> tuple[int, float]:
        below = [n * p for n, p in zip(self.children, self.parallel_links, strict=True)]
        above = [w * p for w, p in zip(self.parents[1:], self.parallel_links[1:], strict=True)]
        ports = max(down + ports_up for down, ports_up in zip(below, [*above, 0], strict=True))
        return ports, below[0] / above[0] if above else 1.0

    @classmethod
    def sized(cls, hosts: int, ports: int, taper: float, unit: int = 1) -> dict[str, Any] | None:
        """Return a tree of one to three levels with the largest pods, tapered above the leaf switches only."""
        if up(hosts, unit) <= ports:
            return {"kind": "fat-tree", "children": [up(hosts, unit)], "parents": [1], "parallel_links": [1]}
        most = max((h for h in range(unit, ports, unit) if h + up(h / taper) <= ports), default=0)
        if not most:
            return None
        leaves = up(hosts / most)
        below = up(hosts / leaves, unit)
        trees = [
            {
                "kind": "fat-tree",
                "children": [below, *children],
                "parents": [1, *parents],
                "parallel_links": [1, *links],
            }
            for above in range(up(below / taper), ports - below + 1)
            for children, parents, links in [*_two_levels(leaves, above, ports), *_three_levels(leaves, above, ports)]
        ]
        return min(trees, key=_cost, default=None)


def _two_levels(leaves: int, above: int, ports: int) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Yield children, parents and parallel links above ``leaves`` leaf switches with ``above`` ports up each."""
    for parallel in _divisors(above):
        if leaves * parallel <= ports:
            yield [leaves], [above // parallel], [parallel]


def _three_levels(leaves: int, above: int, ports: int) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Yield the same with a second level in pods, whose switches have as many ports up as down."""
    for parallel in _divisors(above):
        for pods in range(2, min(leaves, ports) + 1):
            in_pod = up(leaves / pods)
            through = in_pod * parallel
            if 2 * through > ports:
                continue
            for bundle in _divisors(through):
                if pods * bundle <= ports:
                    yield [in_pod, pods], [above // parallel, through // bundle], [parallel, bundle]


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def _cost(tree: Mapping[str, Any]) -> tuple[int, int, int]:
    built = FatTree.model_validate(tree)
    # Large pods: more traffic stays below the top.
    return built.switch_count(), tree["children"][-1], built.links()
