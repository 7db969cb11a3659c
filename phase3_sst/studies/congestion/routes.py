"""Which links a message between two nodes may take: the routing of the engines, as sets of paths of named links.

In: a network and two nodes. Out: the possible paths, each a list of names ``source->target`` (the columns of
``link-load/2``). Cables between the same two ends share a name. A deterministic routing has one path for each NIC of a
node; an adaptive one has all that it may choose from. The rules are those of ``phase3_sst/machine/topologies/``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

from manynode.config.network import Network
from manynode.config.topology import Dragonfly, FatTree, Torus
from manynode.errors import UsageError

Path = tuple[str, ...]


def link_name(source: str, target: str) -> str:
    """Return the name of the links from one end to another, both as tables name them."""
    return f"{source}->{target}"


def ends_of(link: str) -> tuple[str, str]:
    """Return the two ends of a link's name."""
    source, _, target = link.partition("->")
    return source, target


def is_end(network: Network, name: str) -> bool:
    """Say whether a node or switch of this name is on the network."""
    kind, *numbers = name.split("-")
    if not numbers or not all(number.isdecimal() for number in numbers):
        return False
    topology = network.topology
    if kind == "host":
        sizes = [topology.hosts()]
    elif isinstance(topology, FatTree):
        levels = {"leaf" if level == 1 else f"level{level}": n for level, n in enumerate(topology.switches(), start=1)}
        sizes = [levels.get(kind, 0)]
    elif isinstance(topology, Torus):
        sizes = topology.shape if kind == "router" else []
    else:
        sizes = [topology.groups, topology.routers_per_group] if kind == "router" else []
    return len(sizes) == len(numbers) and all(int(n) < size for n, size in zip(numbers, sizes, strict=True))


def paths(network: Network, source_node: int, target_node: int) -> list[list[str]]:
    """Return the paths that messages from one node to another may take, shortest first, each as names of links.

    A node's messages to itself take no link: one empty path. With several NICs, those of a pair of NICs with the same
    number are possible. A node that is not on the machine is a :class:`UsageError`.
    """
    room = network.room()
    for node in (source_node, target_node):
        if not 0 <= node < room:
            raise UsageError("a node is not on the machine", found=node, allowed=f"0 to {room - 1}")
    if source_node == target_node:
        return [[]]
    rails = network.host.rails
    found: set[Path] = set()
    for rail in range(rails):
        found.update(_through(network.topology, source_node * rails + rail, target_node * rails + rail))
    return [list(path) for path in sorted(found, key=lambda path: (len(path), path))]


def link_class(network: Network, link: str) -> str:
    """Return the class of a link by its name, as ``link_classes`` of the topology has it.

    In a ring of two switches both directions have the same ends; the links are then said to be of ``plus``.
    """
    source, target = ends_of(link)
    topology = network.topology
    if isinstance(topology, FatTree):
        upward = _height(source) < _height(target)
        stem = ("host", "leaf", *(f"level{level}" for level in range(2, len(topology.children))))
        return f"{stem[min(_height(source), _height(target))]}-{'up' if upward else 'down'}"
    if source.startswith("host-"):
        return "host-up"
    if target.startswith("host-"):
        return "host-down"
    here, there = _numbers(source), _numbers(target)
    if isinstance(topology, Dragonfly):
        return "local" if here[0] == there[0] else "global"
    dimension = next(number for number, (a, b) in enumerate(zip(here, there, strict=True)) if a != b)
    plus = (here[dimension] + 1) % topology.shape[dimension] == there[dimension]
    return f"dim{dimension}-{'plus' if plus else 'minus'}"


def _numbers(name: str) -> list[int]:
    return [int(part) for part in name.split("-")[1:]]


def _height(name: str) -> int:
    """Return the level of a node of a fat-tree."""
    kind = name.partition("-")[0]
    return {"host": 0, "leaf": 1}[kind] if kind in ("host", "leaf") else int(kind.removeprefix("level"))


def _through(topology: FatTree | Torus | Dragonfly, source: int, target: int) -> Iterator[Path]:
    if isinstance(topology, FatTree):
        stations = _fat_tree(topology, source, target)
    elif isinstance(topology, Torus):
        stations = iter([_torus(topology, source, target)])
    else:
        stations = _dragonfly(topology, source, target)
    for switches in stations:
        nodes = [f"host-{source}", *switches, f"host-{target}"]
        yield tuple(link_name(a, b) for a, b in itertools.pairwise(nodes))


def _fat_tree(tree: FatTree, source: int, target: int) -> Iterator[list[str]]:
    """Yield the switches of each path: up to a common switch, and down by the same digits (``fat_tree.hpp``)."""
    hosts_under = [math.prod(tree.children[:level]) for level in range(len(tree.children) + 1)]
    width = [math.prod(tree.parents[:level]) for level in range(len(tree.children) + 1)]
    top = next(level for level, hosts in enumerate(hosts_under) if source // hosts == target // hosts)
    choices: list[Sequence[int]] = []
    for level in range(top):
        ports = tree.parents[level] * tree.parallel_links[level]
        chosen = target // width[level] % ports % tree.parents[level]
        free = tree.routing == "adaptive" and level > 0
        choices.append(range(tree.parents[level]) if free else [chosen])
    for digits in itertools.product(*choices):
        low = [sum(width[i] * digits[i] for i in range(level)) for level in range(top + 1)]

        def name(level: int, host: int, low: Sequence[int] = low) -> str:
            stem = "leaf" if level == 1 else f"level{level}"
            return f"{stem}-{low[level] + width[level] * (host // hosts_under[level])}"

        up = [name(level, source) for level in range(1, top + 1)]
        yield [*up, *(name(level, target) for level in range(top - 1, 0, -1))]


def _torus(torus: Torus, source: int, target: int) -> list[str]:
    """Return the switches of the path: dimension after dimension, the shorter way round (``torus.hpp``)."""
    here = _coordinates(torus, source // torus.hosts_per_switch)
    there = _coordinates(torus, target // torus.hosts_per_switch)
    # Half a ring apart, the parity of this sum chooses the way.
    total = target % torus.hosts_per_switch + sum(here) + sum(there)
    switches = [_router(here)]
    for number, size in enumerate(torus.shape):
        upward = (there[number] - here[number]) % size
        plus = 2 * upward < size
        if 2 * upward == size:
            plus = torus.routing == "dimension-order-plus" or (total + there[number]) % 2 == 0
        for _ in range(upward if plus else size - upward) if upward else ():
            here[number] = (here[number] + (1 if plus else -1)) % size
            switches.append(_router(here))
    return switches


def _coordinates(torus: Torus, switch: int) -> list[int]:
    coordinates = []
    for size in torus.shape:
        switch, coordinate = divmod(switch, size)
        coordinates.append(coordinate)
    return coordinates


def _router(numbers: Sequence[int]) -> str:
    return "-".join(["router", *map(str, numbers)])


@lru_cache(maxsize=16)
def _ports(groups: int, routers: int, global_links: int) -> tuple[tuple[int, ...], ...]:
    """Return the ports of any group by how many groups further on their cables end, in the order of the cables."""
    flyer = Dragonfly(
        kind="dragonfly", groups=groups, routers_per_group=routers, hosts_per_router=1, global_links=global_links
    )
    peers = flyer.peers()
    return tuple(tuple(port for port, far in enumerate(peers) if far == distance) for distance in range(groups))


def _dragonfly(flyer: Dragonfly, source: int, target: int) -> Iterator[list[str]]:
    """Yield the switches of each path (``dragonfly.hpp``)."""
    routers, per_group = flyer.routers_per_group, flyer.routers_per_group * flyer.hosts_per_router
    start = (source // per_group, source % per_group // flyer.hosts_per_router)
    end = (target // per_group, target % per_group // flyer.hosts_per_router)
    if start[0] == end[0]:
        if flyer.routing != "valiant" or routers < 3 or start == end:
            yield _named([start, end])
        if flyer.routing != "minimal" and start != end:
            for router in set(range(routers)) - {start[1], end[1]}:
                yield _named([start, (start[0], router), end])
        return
    ports = _ports(flyer.groups, routers, flyer.global_links)
    cables = len(ports[(end[0] - start[0]) % flyer.groups])
    if flyer.routing == "minimal":
        # The destination chooses the cable, turned by the source's router.
        chosen: Sequence[int] = [(target % per_group + start[1]) % cables]
    else:
        chosen = range(cables)
    if flyer.routing != "valiant" or flyer.groups < 3:
        for cable in chosen:
            yield _named([start, *_over(flyer, start[0], end[0], cable), end])
    if flyer.routing == "minimal":
        return
    for group in set(range(flyer.groups)) - {start[0], end[0]}:
        first = range(len(ports[(group - start[0]) % flyer.groups]))
        second = range(len(ports[(end[0] - group) % flyer.groups]))
        for out, onward in itertools.product(first, second):
            way = [*_over(flyer, start[0], group, out), *_over(flyer, group, end[0], onward)]
            yield _named([start, *way, end])


def _over(flyer: Dragonfly, here: int, there: int, cable: int) -> list[tuple[int, int]]:
    """Return the routers at the two ends of a cable between two groups."""
    ports = _ports(flyer.groups, flyer.routers_per_group, flyer.global_links)
    distance = (there - here) % flyer.groups
    near, far = ports[distance][cable], ports[-distance % flyer.groups][cable]
    return [(here, near // flyer.global_links), (there, far // flyer.global_links)]


def _named(places: Sequence[tuple[int, int]]) -> list[str]:
    """Return the names of the routers; one that follows itself is met once."""
    return [_router(place) for place, _ in itertools.groupby(places)]
