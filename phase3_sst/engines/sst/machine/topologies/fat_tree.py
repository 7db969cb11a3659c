"""The parallel-ports generalised fat-tree of the fast engine, wired for merlin's ``fattree``.

Hosts are level 0. A switch of level l has children[l-1] children, each child parents[l-1] parents, and
parallel_links[l-1] cables join the two. As in ``phase3_sst/machine/topologies/fat_tree.hpp``, a node of level l
has the number low + W_l * (host // M_l), where M_l and W_l are the products of children and parents up to l; merlin
numbers the switches of a level the same way.

merlin routes up through port (destination // hosts below one down-port) mod up-ports, and down through the port that
leads to the host. Without parallel cables, it gets the tree as it is. It does not support parallel cables. Each switch
therefore gets its own tree, in which the hosts below a child are distributed over the cables to that child in blocks.
The routes are the fast engine's wherever W_l p_l = M_l below the switch, see README.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from manynode.errors import UsageError
from phase3_sst.engines.sst.machine.wiring import Cable, HostPort, Link, Switch, Wiring, host_name, topology

_ROUTING = {"d-mod-k": "deterministic", "adaptive": "adaptive"}


@topology("fat-tree")
def fat_tree(description: Mapping[str, Any]) -> Wiring:
    """Return the wiring of a fat-tree."""
    tree = _Tree(description)
    levels = range(1, tree.levels + 1)
    places = {level: sum(tree.count(below) for below in levels if below < level) for level in levels}
    routing = description.get("routing", "d-mod-k")
    return Wiring(
        merlin="merlin.fattree",
        switches=[tree.switch(level, index) for level in levels for index in range(tree.count(level))],
        cables=[cable for level in levels[:-1] for cable in tree.cables(level, places[level], places[level + 1])],
        hosts=tree.host_ports(),
        # All ports are compared when the default one has packets in it, as in the fast engine.
        parameters={"routing_alg": _ROUTING[routing], **({"adaptive_threshold": 1.0} if routing == "adaptive" else {})},
        reorders=routing == "adaptive",
        classes=[f"{tree.stem(level)}-{way}" for level in range(tree.levels) for way in ("up", "down")],
        groups={},
    )


class _Tree:
    def __init__(self, description: Mapping[str, Any]) -> None:
        self.children: list[int] = list(description["children"])
        self.parents: list[int] = list(description["parents"])
        self.parallel: list[int] = list(description["parallel_links"])
        self.levels = len(self.children)
        self.hosts = math.prod(self.children)
        if description.get("planes", 1) > 1:
            raise UsageError(
                "the sst engine cannot keep messages in the planes of a network",
                where="network.topology.planes",
                found=description["planes"],
                allowed="1: firefly sends to the NIC of the receiver, which may be in another plane",
                remedy="use the engine fast, or one plane",
            )
        if self.parents[0] * self.parallel[0] != 1:
            raise UsageError(
                "the sst engine cannot join a host to its leaf switches by several cables",
                where="network.topology.parents and parallel_links, first entries",
                found=f"{self.parents[0]} and {self.parallel[0]}",
                allowed="1 and 1: a NIC of SST has one port",
                remedy="use rails for hosts with several NICs",
            )
        for level in range(1, self.levels):
            below = self.below(level)
            if below % self.parallel[level]:
                raise UsageError(
                    "the sst engine cannot share the hosts below a switch among its parallel cables",
                    where=f"network.topology.parallel_links[{level}]",
                    found=f"{self.parallel[level]} cables for {below} hosts",
                    allowed="a divisor of the number of hosts",
                    remedy="choose another number of parallel cables",
                )

    def below(self, level: int) -> int:
        """Return M, the hosts below one node of a level."""
        return math.prod(self.children[:level])

    def width(self, level: int) -> int:
        """Return W, the nodes of a level over the same hosts."""
        return math.prod(self.parents[:level])

    def count(self, level: int) -> int:
        return self.hosts // self.below(level) * self.width(level)

    def ups(self, level: int) -> int:
        """Return the up-ports of a node of a level."""
        return self.parents[level] * self.parallel[level] if level < self.levels else 0

    @staticmethod
    def stem(level: int) -> str:
        return "host" if level == 0 else "leaf" if level == 1 else f"level{level}"

    def name(self, level: int, index: int) -> str:
        return f"{self.stem(level)}-{index}"

    def first_link(self, level: int) -> int:
        """Return the number of the first link from a level up; the links down follow those up."""
        return sum(2 * self.count(below) * self.ups(below) for below in range(level))

    def switch(self, level: int, index: int) -> Switch:
        cables = self.parallel[level - 1]
        ports = self.children[level - 1] * cables + self.ups(level)
        if max(self.parallel) == 1:
            number = sum(self.count(below) for below in range(1, level)) + index
            shape = [f"{self.children[i]}{self._up(i + 1)}" for i in range(self.levels)]
            return Switch(self.name(level, index), number, ports, {"shape": ":".join(shape)})
        # The switch's own tree: everything below its down-ports, the switch, everything above.
        share = self.below(level - 1) // cables
        rest = self.hosts // self.below(level)
        shape = [f"{self.children[level - 1] * cables}{self._up(level)}"]
        if level < self.levels:
            shape.append(str(rest))
        if level == 1:
            return Switch(self.name(level, index), index, ports, {"shape": ":".join(shape)})
        shape.insert(0, f"{share},{self.width(level)}")
        return Switch(self.name(level, index), self.hosts // share + index, ports, {"shape": ":".join(shape)})

    def _up(self, level: int) -> str:
        return f",{self.ups(level)}" if level < self.levels else ""

    def cables(self, level: int, place: int, above: int) -> list[Cable]:
        """Return the cables between a level and the next; ``place`` and ``above`` are their first switches."""
        parents, parallel, count = self.parents[level], self.parallel[level], self.count(level)
        first = self.first_link(level)
        down = first + count * self.ups(level)
        found = []
        for lower in range(count):
            high, low = divmod(lower, self.width(level))
            tree, child = divmod(high, self.children[level])
            for digit in range(parents):
                upper = low + self.width(level) * digit + self.width(level + 1) * tree
                names = self.name(level, lower), self.name(level + 1, upper)
                for cable in range(parallel):
                    number = (lower * parents + digit) * parallel + cable
                    found.append(
                        Cable(
                            a=place + lower,
                            a_port=self.children[level - 1] * self.parallel[level - 1] + cable * parents + digit,
                            b=above + upper,
                            b_port=child * parallel + cable,
                            forward=Link(first + number, f"{self.stem(level)}-up", *names),
                            backward=Link(down + number, f"{self.stem(level)}-down", *reversed(names)),
                        )
                    )
        return found

    def host_ports(self) -> list[HostPort]:
        found = []
        for host in range(self.hosts):
            leaf, port = divmod(host, self.children[0])
            names = host_name(host), self.name(1, leaf)
            found.append(
                HostPort(
                    host=host,
                    switch=leaf,
                    port=port,
                    up=Link(host, "host-up", *names),
                    down=Link(self.hosts + host, "host-down", *reversed(names)),
                )
            )
        return found
