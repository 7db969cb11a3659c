"""The links of a machine as the engines' topologies have them, against counts, classes and cuts of its class in Python.

The cut is scipy's maximum flow over the links that ``manynode-routes`` describes.
"""

from __future__ import annotations

import itertools
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines_drawn import (
    dragonflies,
    dragonflies_2d,
    dragonflies_plus,
    fat_trees,
    hosts_of,
    hyperx,
    least_cut,
    meshes,
    tori,
)
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from manynode.config.network import Network
from manynode.config.topology import TOPOLOGIES
from manynode.errors import UsageError
from phase3_sst.checks.probes import halves
from phase3_sst.checks.routing_load import busiest_link
from phase3_sst.engines.native_routes import routes_on
from phase3_sst.engines.sst.machine.wiring import wiring_of
from phase3_sst.point.run_file import network_description


def description(topology: dict[str, Any]) -> dict[str, Any]:
    network = Network.model_validate({"name": "small", "topology": topology})
    return network_description(network)


def links_of(topology: dict[str, Any]) -> pd.DataFrame:
    return routes_on(description(topology), []).machine_links


def cut(links: pd.DataFrame, hosts: int) -> int:
    """Return the least number of links from the low to the high half of the hosts."""
    names = sorted({*links["source"], *links["target"]})
    number = {name: place for place, name in enumerate(names)}
    low, high = len(names), len(names) + 1
    edges = [(number[a], number[b], 1) for a, b in zip(links["source"], links["target"], strict=True)]
    edges += [(low, number[f"host-{host}"], 10**6) for host in range(hosts // 2)]
    edges += [(number[f"host-{host}"], high, 10**6) for host in range(hosts // 2, hosts)]
    tails, heads, room = (np.array(column, dtype=np.int32) for column in zip(*edges, strict=True))
    graph = coo_array((room, (tails, heads)), shape=(high + 1, high + 1)).tocsr()
    return int(maximum_flow(graph, low, high).flow_value)


def tree(children: list[int], parents: list[int], parallel_links: list[int]) -> dict[str, Any]:
    return {"kind": "fat-tree", "children": children, "parents": parents, "parallel_links": parallel_links}


def torus(shape: list[int], hosts: int, links: int) -> dict[str, Any]:
    return {"kind": "torus", "shape": shape, "hosts_per_switch": hosts, "links_per_direction": links}


def dragonfly(groups: int, routers: int, hosts: int, local: int, ports: int) -> dict[str, Any]:
    shape = {"groups": groups, "routers_per_group": routers, "hosts_per_router": hosts}
    return {"kind": "dragonfly", **shape, "local_links": local, "global_links": ports}


TREES = [
    *(tree([4], [1], [1]), tree([4], [2], [2]), tree([2, 3], [1, 2], [1, 1]), tree([3, 2, 4], [1, 3, 2], [1, 2, 3])),
    *(tree([2, 2, 3], [2, 3, 2], [2, 1, 2]), tree([4, 4, 2, 2], [1, 2, 1, 3], [1, 1, 2, 1])),
    *(tree([6, 3], [1, 2], [1, 1]), tree([2, 3, 3], [1, 1, 2], [1, 2, 1])),
]
TORI = [
    *(torus([1], 3, 1), torus([2], 2, 1), torus([5], 1, 2), torus([6], 2, 3), torus([3, 4], 2, 1), torus([4, 3], 3, 2)),
    *(torus([2, 2, 2], 2, 2), torus([3, 3, 3], 3, 1), torus([4, 1, 2], 2, 2), torus([2, 3, 2, 2], 1, 1)),
    *(torus([x, y], n, k) for x, y, n, k in itertools.product(range(1, 6), range(1, 5), (1, 5, 9), (1, 2))),
]
DRAGONFLIES = [
    *(dragonfly(1, 4, 2, 2, 0), dragonfly(2, 2, 3, 1, 2), dragonfly(3, 2, 2, 1, 1), dragonfly(5, 3, 2, 2, 2)),
    *(dragonfly(4, 2, 2, 1, 2), dragonfly(5, 5, 1, 1, 1), dragonfly(4, 1, 3, 1, 3), dragonfly(3, 3, 3, 1, 1)),
    *(dragonfly(9, 4, 2, 1, 2), dragonfly(6, 7, 1, 1, 1), dragonfly(4, 3, 8, 1, 2), dragonfly(5, 18, 24, 1, 7)),
    *(
        dragonfly(groups, routers, hosts, 1, ports)
        for groups, routers, hosts in itertools.product(range(1, 8), range(1, 5), (1, 5, 9))
        for ports in range((groups + routers - 2) // routers, 4)
    ),
]


@pytest.mark.parametrize("machines", [TREES, TORI, DRAGONFLIES], ids=["trees", "tori", "dragonflies"])
def test_links_classes_and_cut_are_those_of_the_engine(machines: list[dict[str, Any]]) -> None:
    for topology in machines:
        section = Network.model_validate({"name": "small", "topology": topology}).topology
        links = links_of(topology)
        switches = {end for end in {*links["source"], *links["target"]} if not end.startswith("host-")}
        assert (len(links), len(switches)) == (section.links(), section.switch_count()), topology
        known = set(section.link_classes())
        assert set(links["class"]) <= known, topology
        assert known - set(links["class"]) <= {"local", "global"}, topology
        assert section.bisection_links() == cut(links, section.hosts()), topology


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.one_of(meshes, hyperx, dragonflies_plus, dragonflies_2d))
def test_drawn_machines_have_the_links_and_classes_of_the_engine(topology: dict[str, Any]) -> None:
    section = Network.model_validate({"name": "small", "topology": topology}).topology
    links = links_of(topology)
    switches = {end for end in {*links["source"], *links["target"]} if not end.startswith("host-")}
    assert (len(links), len(switches)) == (section.links(), section.switch_count())
    assert set(links["class"]) <= set(section.link_classes())
    by_class = links["class"].str.replace("-(up|down|plus|minus)$", "", regex=True).value_counts().to_dict()
    assert by_class == {name: 2 * count for name, count in section.cables().items() if count}
    # The wiring of the tests' own maximum flow is the engine's.
    low = range(section.hosts() // 2)
    assert cut(links, section.hosts()) == least_cut(topology, low, range(section.hosts() // 2, section.hosts()))


# Machines of each kind in which some nodes are joined by more than one way.
WAYS: dict[str, dict[str, Any]] = {
    "dragonfly": dragonfly(4, 2, 2, 1, 2),
    "dragonfly-2d": {"groups": 4, "rows": 2, "columns": 2, "hosts_per_router": 2, "global_links": 2},
    "dragonfly-plus": {
        **{"groups": 4, "leaves_per_group": 2, "spines_per_group": 2, "hosts_per_leaf": 2, "global_links": 2}
    },
    "fat-tree": tree([2, 2], [1, 2], [1, 1]),
    "hyperx": {"shape": [3, 3], "hosts_per_switch": 2},
    "torus": torus([3, 4], 2, 2),
}


@pytest.mark.parametrize("kind", TOPOLOGIES.names())
def test_the_routings_that_draw_routes_are_those_of_the_engine(kind: str) -> None:
    for routing in get_args(TOPOLOGIES.get(kind).model_fields["routing"].annotation):
        topology = {**WAYS[kind], "kind": kind, "routing": routing}
        section = Network.model_validate({"name": "small", "topology": topology}).topology
        ways = routes_on(description(topology), itertools.permutations(range(section.hosts()), 2), possible=True)
        chosen = len(ways.source) > section.hosts() * (section.hosts() - 1)
        assert section.draws_routes() == chosen, topology


def test_every_kind_has_its_routes_and_its_wiring_for_sst() -> None:
    with pytest.raises(UsageError) as by_engines:
        routes_on({**description(TORI[0]), "topology": {"kind": "none"}}, [])
    with pytest.raises(UsageError) as by_sst:
        wiring_of({"kind": "none"})
    assert by_engines.value.allowed == ", ".join(TOPOLOGIES.names())
    # merlin has neither of these
    lacking = {"dragonfly-2d", "dragonfly-plus"}
    assert by_sst.value.allowed == ", ".join(name for name in TOPOLOGIES.names() if name not in lacking)


@pytest.mark.parametrize("pair", [(0, 3), (3, 0), (1, 1)])
def test_pairs_that_are_not_on_the_machine_are_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="line 2") as refused:
        routes_on(description(torus([3], 1, 1)), [(0, 2), pair])
    assert refused.value.allowed == "two different numbers from 0 to 2"


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.one_of(fat_trees, tori, meshes, hyperx, dragonflies))
def test_the_busiest_link_of_fixed_routes_is_never_below_the_share_of_the_cut(topology: dict[str, Any]) -> None:
    """Were it below, messages would cross the cut elsewhere."""
    section = Network.model_validate({"name": "small", "topology": topology}).topology
    if not section.exchange_is_fixed(hosts_of(topology)):
        return
    low, apart = halves(hosts_of(topology))
    there = [(node, node + apart) for node in low]
    load = busiest_link(description(topology), [*there, *((b, a) for a, b in there)])
    assert load * least_cut(topology, low, [node + apart for node in low]) >= len(low)
