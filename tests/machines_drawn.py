"""Legal machines drawn at random, and the true least cut between their halves.

The wiring of trees follows the definition of a PGFT (Zahavi 2010), that of tori their coordinates. That of dragonflies
is :mod:`phase3_sst.engines.sst.machine.wiring`. The cut is scipy's maximum flow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from phase3_sst.engines.sst.machine.wiring import wiring_of

MOST_HOSTS = 150
_WIRED = {"dragonfly": "minimal"}


def _fat_tree(levels: Sequence[tuple[int, int, int]], routing: str) -> dict[str, Any]:
    children, parents, parallel = (list(numbers) for numbers in zip(*levels, strict=True))
    return {
        "kind": "fat-tree",
        "children": children,
        "parents": parents,
        "parallel_links": parallel,
        "routing": routing,
    }


def hosts_of(topology: dict[str, Any]) -> int:
    """Return the number of hosts."""
    if topology["kind"] == "fat-tree":
        return math.prod(topology["children"])
    if topology["kind"] == "torus":
        return math.prod(topology["shape"]) * int(topology["hosts_per_switch"])
    return int(topology["groups"] * topology["routers_per_group"] * topology["hosts_per_router"])


def _fits(topology: dict[str, Any]) -> bool:
    return 2 <= hosts_of(topology) <= MOST_HOSTS


fat_trees = st.builds(
    _fat_tree,
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=3),
    st.sampled_from(["d-mod-k", "d-mod-k", "adaptive"]),
).filter(_fits)
tori = st.fixed_dictionaries(
    {
        "kind": st.just("torus"),
        "shape": st.lists(st.integers(1, 6), min_size=1, max_size=3),
        "hosts_per_switch": st.integers(1, 5),
        "links_per_direction": st.integers(1, 3),
        "routing": st.sampled_from(["dimension-order", "dimension-order-plus"]),
    }
).filter(_fits)


@st.composite
def _meshes(draw: st.DrawFn) -> dict[str, Any]:
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    return {
        "kind": "torus",
        "shape": shape,
        "hosts_per_switch": draw(st.integers(1, 5)),
        "links_per_direction": 1,
        "links_by_dimension": [draw(st.integers(1, 3)) for _ in shape],
        "mesh": [dimension for dimension in range(len(shape)) if draw(st.booleans())],
    }


meshes = _meshes().filter(_fits)
dragonflies = st.fixed_dictionaries(
    {
        "kind": st.just("dragonfly"),
        "groups": st.integers(1, 7),
        "routers_per_group": st.integers(1, 5),
        "hosts_per_router": st.integers(1, 4),
        "local_links": st.integers(1, 3),
        "global_links": st.integers(0, 4),
        "routing": st.sampled_from(["minimal", "valiant", "ugal"]),
    }
).filter(lambda it: _fits(it) and it["groups"] - 1 <= it["routers_per_group"] * it["global_links"])


Cables = list[tuple[str, str, int]]


def _tree_cables(topology: dict[str, Any]) -> Cables:
    """Return the ends and the number of parallel cables between the nodes of a fat-tree."""
    found, width, below, hosts = [], 1, 1, hosts_of(topology)
    levels = zip(topology["children"], topology["parents"], topology["parallel_links"], strict=True)
    for level, (children, parents, parallel) in enumerate(levels):
        for node in range(hosts // below * width):
            tree, low = node // width // children, node % width
            for digit in range(parents):
                upper = low + width * digit + width * parents * tree
                found.append((f"{level}:{node}", f"{level + 1}:{upper}", parallel))
        width, below = width * parents, below * children
    return found


def _torus_cables(topology: dict[str, Any]) -> Cables:
    """Return the ends and the number of parallel cables between the nodes of a torus, whose dimensions may be rows."""
    shape, local = topology["shape"], topology["hosts_per_switch"]
    widths = topology.get("links_by_dimension") or [topology["links_per_direction"]] * len(shape)
    found: Cables = [(f"0:{host}", f"1:{host // local}", 1) for host in range(hosts_of(topology))]
    for dimension, (size, width) in enumerate(zip(shape, widths, strict=True)):
        stride = math.prod(shape[:dimension])
        for at in range(math.prod(shape)):
            last = at // stride % size == size - 1
            if size > 1 and not (last and dimension in topology.get("mesh", [])):
                found.append((f"1:{at}", f"1:{at + (1 - size if last else 1) * stride}", width))
    return found


def _wired_cables(topology: dict[str, Any]) -> Cables:
    # Routing, which SST does not have with every wiring, changes no cable.
    if topology["kind"] == "torus":
        return _torus_cables(topology)
    wiring = wiring_of({**topology, "routing": _WIRED[topology["kind"]]})
    hosts = [(f"0:{port.host}", f"1:{port.switch}", 1) for port in wiring.hosts]
    return hosts + [(f"1:{cable.a}", f"1:{cable.b}", 1) for cable in wiring.cables]


def least_cut(topology: dict[str, Any], low: Sequence[int], high: Sequence[int]) -> int:
    """Return the least number of links of one direction that part the hosts ``low`` from ``high``."""
    cables = _tree_cables(topology) if topology["kind"] == "fat-tree" else _wired_cables(topology)
    numbers = {name: number for number, name in enumerate(sorted({end for a, b, _ in cables for end in (a, b)}))}
    source, sink, plenty = len(numbers), len(numbers) + 1, 10**6
    edges = [(numbers[a], numbers[b], links) for one, other, links in cables for a, b in ((one, other), (other, one))]
    edges += [(source, numbers[f"0:{host}"], plenty) for host in low]
    edges += [(numbers[f"0:{host}"], sink, plenty) for host in high]
    tails, heads, links = (np.array(column, dtype=np.int32) for column in zip(*edges, strict=True))
    graph = coo_array((links, (tails, heads)), shape=(sink + 1, sink + 1)).tocsr()
    return int(maximum_flow(graph, source, sink).flow_value)
