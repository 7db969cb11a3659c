"""The busiest link of an exchange on fixed routes: the most messages that any link carries.

In: the ``topology`` of a run file with fixed routes, sources and destinations. Out: the load of the busiest link. A
minimum cut between the halves of a machine bounds what the best routing can carry. Fixed routes carry less where the
halves cut a subtree, or where messages do not divide evenly among links. This figure tells how much less.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Hosts = npt.NDArray[np.int64]


def busiest_link(topology: Mapping[str, Any], sources: Hosts, destinations: Hosts) -> int | None:
    """Return the most messages on a link when each source sends one; None if unknown.

    Supports fat-trees with D-mod-k routing, and tori where all messages go half-way round the last dimension.
    """
    if topology["kind"] == "fat-tree" and topology["routing"] == "d-mod-k":
        return _on_a_tree(topology, sources, destinations)
    if topology["kind"] == "torus":
        return _on_rings(topology, sources, destinations)
    return None


def _on_a_tree(topology: Mapping[str, Any], sources: Hosts, destinations: Hosts) -> int:
    """Return the load of a fat-tree's busiest link.

    The node of a level on the way to host ``d`` has the digits ``d mod W``, W being the switches of that level above a
    host, and goes up by port ``(d / W) mod ports`` (Zahavi 2010; ``phase3_sst/machine/topologies/fat_tree.cpp``):
    messages that share a link to the next level have the same subtree and the same ``d mod (W ports)``. The way down to
    ``d`` is the same from every source.
    """
    most, below, above = 0, 1, 1
    levels = zip(topology["children"], topology["parents"], topology["parallel_links"], strict=True)
    for children, parents, parallel in levels:
        ports = above * parents * parallel
        leave = sources // below != destinations // below
        for subtree in (sources // below, destinations // below):
            most = max(most, _most((subtree * ports + destinations % ports)[leave]))
        below, above = below * children, above * parents
    return most


def _on_rings(topology: Mapping[str, Any], sources: Hosts, destinations: Hosts) -> int | None:
    """Return the load of the busiest link of a torus along its last dimension (``topologies/torus.cpp``)."""
    shape = [size for size in topology["shape"] if size > 1]
    hosts, cables = topology["hosts_per_switch"], topology["links_per_direction"]
    switches = math.prod(shape)
    if not shape or shape[-1] % 2 or np.any((destinations - sources) % (switches * hosts) != switches * hosts // 2):
        return None
    size, stride = shape[-1], switches // shape[-1]
    start, end = sources // hosts, destinations // hosts
    ring, here, there = start % stride, start // stride, end // stride
    balanced = topology["routing"] == "dimension-order"
    # Direction and cable depend on the numbers of host and switches.
    number = destinations % hosts + here + there
    rest = ring
    for extent in shape[:-1]:
        number = number + 2 * (rest % extent)
        rest = rest // extent
    up = (number + there) % 2 == 0 if balanced else np.full(len(sources), True)
    links = []
    for step in range(size // 2):
        at = np.where(up, here + step, here - step) % size
        cable = number // 2 % cables if balanced else np.full(len(sources), (size // 2 - step) % cables)
        links.append(((ring * size + at) * 2 + up) * cables + cable)
    return _most(np.concatenate(links))


def _most(links: Hosts) -> int:
    """Return how often the most frequent number occurs."""
    return int(np.unique(links, return_counts=True)[1].max()) if links.size else 0
