"""Legal machines drawn at random, and the true least cut between their halves.

The wiring of trees follows the definition of a PGFT (Zahavi 2010), that of tori their coordinates. That of dragonflies
is :mod:`phase3_sst.engines.sst.machine.wiring`. The cut is scipy's maximum flow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
    if topology["kind"] in ("torus", "hyperx"):
        return math.prod(topology["shape"]) * int(topology["hosts_per_switch"])
    if topology["kind"] == "dragonfly-plus":
        return int(topology["groups"] * topology["leaves_per_group"] * topology["hosts_per_leaf"])
    if topology["kind"] == "dragonfly-2d":
        return int(topology["groups"] * topology["rows"] * topology["columns"] * topology["hosts_per_router"])
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
        "routing": st.sampled_from(["minimal", "minimal-by-source", "valiant", "ugal"]),
    }
).filter(lambda it: _fits(it) and it["groups"] - 1 <= it["routers_per_group"] * it["global_links"])


@st.composite
def _hyperx(draw: st.DrawFn) -> dict[str, Any]:
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    return {
        "kind": "hyperx",
        "shape": shape,
        "hosts_per_switch": draw(st.integers(1, 5)),
        "links_by_dimension": [draw(st.integers(1, 3)) for _ in shape],
    }


hyperx = _hyperx().filter(_fits)
dragonflies_plus = st.fixed_dictionaries(
    {
        "kind": st.just("dragonfly-plus"),
        "groups": st.integers(1, 7),
        "leaves_per_group": st.integers(1, 4),
        "spines_per_group": st.integers(1, 4),
        "hosts_per_leaf": st.integers(1, 4),
        "leaf_links": st.integers(1, 3),
        "global_links": st.integers(0, 4),
    }
).filter(lambda it: _fits(it) and it["groups"] - 1 <= it["spines_per_group"] * it["global_links"])
dragonflies_2d = st.fixed_dictionaries(
    {
        "kind": st.just("dragonfly-2d"),
        "groups": st.integers(1, 6),
        "rows": st.integers(1, 3),
        "columns": st.integers(1, 4),
        "hosts_per_router": st.integers(1, 4),
        "row_links": st.integers(1, 3),
        "column_links": st.integers(1, 3),
        "global_links": st.integers(0, 4),
    }
).filter(lambda it: _fits(it) and it["groups"] - 1 <= it["rows"] * it["columns"] * it["global_links"])

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


def _hyperx_cables(topology: dict[str, Any]) -> Cables:
    """Return the ends and the number of parallel cables between the nodes of a HyperX."""
    shape, local = topology["shape"], topology["hosts_per_switch"]
    found: Cables = [(f"0:{host}", f"1:{host // local}", 1) for host in range(hosts_of(topology))]
    for dimension, (size, width) in enumerate(zip(shape, topology["links_by_dimension"], strict=True)):
        stride = math.prod(shape[:dimension])
        for at in range(math.prod(shape)):
            here = at // stride % size
            found += [(f"1:{at}", f"1:{at + (there - here) * stride}", width) for there in range(here + 1, size)]
    return found


def _global_cables(groups: int, ports: int) -> list[tuple[int, int, int]]:
    """Return group, port and other group of each end of a global cable, as a dragonfly's groups share their ports.

    The ports of a group go round the others, nearest first. Those that remain lead to the nearest on both sides and, if
    one is over, to the opposite group.
    """
    if groups == 1:
        return []
    rounds, further = divmod(ports, groups - 1)
    if further % 2 and groups % 2:
        further -= 1
    near = further // 2
    distances = [*range(1, groups)] * rounds + [*range(1, near + 1)]
    distances += [groups // 2] * (further % 2) + [*range(groups - near, groups)]
    return [(at, port, (at + far) % groups) for at in range(groups) for port, far in enumerate(distances)]


def _paired(ends: list[tuple[int, int, int]], switch: Callable[[int, int], str]) -> Cables:
    """Return the global cables: the n-th port to a group meets its n-th port back."""
    found: Cables = []
    for low, high in {(at, to) for at, _, to in ends if at < to}:
        one = [port for at, port, to in ends if (at, to) == (low, high)]
        other = [port for at, port, to in ends if (at, to) == (high, low)]
        found += [(switch(low, a), switch(high, b), 1) for a, b in zip(one, other, strict=True)]
    return found


def _plus_cables(topology: dict[str, Any]) -> Cables:
    """Return the ends and the number of parallel cables between the nodes of a dragonfly+."""
    groups, leaves, spines = (topology[f"{key}"] for key in ("groups", "leaves_per_group", "spines_per_group"))
    ports, local = topology["global_links"], topology["hosts_per_leaf"]
    found: Cables = [(f"0:{host}", f"1:{host // local}", 1) for host in range(hosts_of(topology))]
    for leaf in range(groups * leaves):
        found += [(f"1:{leaf}", f"2:{leaf // leaves}.{spine}", topology["leaf_links"]) for spine in range(spines)]
    return found + _paired(_global_cables(groups, spines * ports), lambda group, port: f"2:{group}.{port // ports}")


def _grid_cables(topology: dict[str, Any]) -> Cables:
    """Return the ends and the number of parallel cables between the nodes of a two-dimensional dragonfly."""
    groups, rows, columns = (topology[key] for key in ("groups", "rows", "columns"))
    ports, local = topology["global_links"], topology["hosts_per_router"]
    found: Cables = [(f"0:{host}", f"1:{host // local}", 1) for host in range(hosts_of(topology))]
    for a in range(groups * rows * columns):
        for b in range(a + 1, (a // (rows * columns) + 1) * rows * columns):
            if a // columns == b // columns:
                found.append((f"1:{a}", f"1:{b}", topology["row_links"]))
            elif a % columns == b % columns:
                found.append((f"1:{a}", f"1:{b}", topology["column_links"]))
    routers = rows * columns
    ends = _global_cables(groups, routers * ports)
    return found + _paired(ends, lambda group, port: f"1:{group * routers + port // ports}")


_CABLES = {
    "fat-tree": lambda topology: _tree_cables(topology),
    "torus": lambda topology: _torus_cables(topology),
    "hyperx": lambda topology: _hyperx_cables(topology),
    "dragonfly-plus": lambda topology: _plus_cables(topology),
    "dragonfly-2d": lambda topology: _grid_cables(topology),
    "dragonfly": lambda topology: _wired_cables(topology),
}


def _wired_cables(topology: dict[str, Any]) -> Cables:
    # Routing, which SST does not have with every wiring, changes no cable.
    wiring = wiring_of({**topology, "routing": _WIRED[topology["kind"]]})
    hosts = [(f"0:{port.host}", f"1:{port.switch}", 1) for port in wiring.hosts]
    return hosts + [(f"1:{cable.a}", f"1:{cable.b}", 1) for cable in wiring.cables]


def least_cut(topology: dict[str, Any], low: Sequence[int], high: Sequence[int]) -> int:
    """Return the least number of links of one direction that part the hosts ``low`` from ``high``."""
    cables = _CABLES[topology["kind"]](topology)
    numbers = {name: number for number, name in enumerate(sorted({end for a, b, _ in cables for end in (a, b)}))}
    source, sink, plenty = len(numbers), len(numbers) + 1, 10**6
    edges = [(numbers[a], numbers[b], links) for one, other, links in cables for a, b in ((one, other), (other, one))]
    edges += [(source, numbers[f"0:{host}"], plenty) for host in low]
    edges += [(numbers[f"0:{host}"], sink, plenty) for host in high]
    tails, heads, links = (np.array(column, dtype=np.int32) for column in zip(*edges, strict=True))
    graph = coo_array((links, (tails, heads)), shape=(sink + 1, sink + 1)).tocsr()
    return int(maximum_flow(graph, source, sink).flow_value)
