"""Which links a message between two nodes may take: the routing of the engines, as sets of paths of named links.

In: a network and pairs of nodes. Out: the possible paths of each pair, each a list of names ``source->target`` (the
columns of ``link-load/2``). Cables between the same two ends share a name. A deterministic routing has one path for
each NIC of a node; an adaptive one has all that it may choose from (:mod:`phase3_sst.engines.native_routes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from manynode.config.network import Network
from manynode.errors import UsageError
from phase3_sst.engines.native_routes import routes_on
from phase3_sst.point.run_file import network_description

Pair = tuple[int, int]
Path = tuple[str, ...]


@dataclass(frozen=True)
class Paths:
    """The classes of all links of a machine by name, and the possible paths of some pairs, shortest first."""

    classes: Mapping[str, str]
    of: Mapping[Pair, list[Path]]


def link_name(source: str, target: str) -> str:
    """Return the name of the links from one end to another, both as tables name them."""
    return f"{source}->{target}"


def ends_of(link: str) -> tuple[str, str]:
    """Return the two ends of a link's name."""
    source, _, target = link.partition("->")
    return source, target


def possible_paths(network: Network, pairs: Iterable[Pair]) -> Paths:
    """Return the paths that messages between ``pairs`` of nodes (source, target) may take.

    A node's messages to itself take no link: one empty path. With several NICs, those of a pair of NICs with the same
    number are possible. A node that is not on the machine is a :class:`UsageError`. In a ring of two switches both
    directions have the same ends; the class of these links is ``plus``.
    """
    chosen, room = list(pairs), network.room()
    for node in (node for pair in chosen for node in pair):
        if not 0 <= node < room:
            raise UsageError("a node is not on the machine", found=node, allowed=f"0 to {room - 1}")
    # Slow links have classes of their own, but the same routes.
    described = network_description(network.model_copy(update={"slow_links": []}))
    routes = routes_on(described, [pair for pair in chosen if pair[0] != pair[1]], possible=True)
    links = routes.machine_links
    names = [link_name(a, b) for a, b in zip(links["source"], links["target"], strict=True)]
    # The first of the links of a name decides.
    classes = dict(zip(reversed(names), reversed(links["class"].tolist()), strict=True))
    found: dict[Pair, set[Path]] = {pair: {()} if pair[0] == pair[1] else set() for pair in chosen}
    numbers, first = routes.links.tolist(), 0
    ways = zip(routes.source.tolist(), routes.destination.tolist(), routes.lengths.tolist(), strict=True)
    for source, target, length in ways:
        found[source, target].add(tuple(names[number] for number in numbers[first : first + length]))
        first += length
    return Paths(classes, {pair: sorted(own, key=lambda path: (len(path), path)) for pair, own in found.items()})
