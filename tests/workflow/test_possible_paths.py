"""Paths between nodes, on machines that are small enough to draw."""

from __future__ import annotations

from typing import Any

import pytest

from manynode.config.network import Network
from manynode.errors import UsageError
from phase3_sst.studies.congestion.delay.passages import Routes
from phase3_sst.studies.congestion.routes import ends_of, possible_paths


def network(**topology: Any) -> Network:
    return Network.model_validate({"name": "small", "topology": topology})


def paths(network: Network, source: int, target: int) -> list[list[str]]:
    return [list(path) for path in possible_paths(network, [(source, target)]).of[source, target]]


RING = network(kind="torus", shape=[5], hosts_per_switch=1)


def test_a_ring_is_gone_round_the_shorter_way() -> None:
    assert paths(RING, 0, 2) == [["host-0->router-0", "router-0->router-1", "router-1->router-2", "router-2->host-2"]]
    assert paths(RING, 0, 4) == [["host-0->router-0", "router-0->router-4", "router-4->host-4"]]


def test_nodes_of_one_switch_meet_there() -> None:
    tree = network(kind="fat-tree", children=[2, 2], parents=[1, 2], parallel_links=[1, 1])
    assert paths(tree, 2, 3) == [["host-2->leaf-1", "leaf-1->host-3"]]


def test_an_adaptive_tree_may_go_over_every_spine() -> None:
    tree = network(kind="fat-tree", children=[2, 2], parents=[1, 3], parallel_links=[1, 1], routing="adaptive")
    assert [path[1] for path in paths(tree, 0, 2)] == [f"leaf-0->level2-{spine}" for spine in range(3)]


def test_a_message_to_oneself_takes_no_link() -> None:
    assert paths(RING, 3, 3) == [[]]


def test_ugal_may_take_the_direct_way_and_one_over_each_other_group() -> None:
    shape = {"groups": 4, "routers_per_group": 3, "hosts_per_router": 1, "global_links": 1}
    possible = paths(network(kind="dragonfly", routing="ugal", **shape), 0, 3)
    globals_of = [
        sum(ends_of(link)[0].split("-")[1] != ends_of(link)[1].split("-")[1] for link in path[1:-1])
        for path in possible
    ]
    assert globals_of == sorted(globals_of) and globals_of.count(1) == 1 and globals_of.count(2) == 2
    minimal = paths(network(kind="dragonfly", **shape), 0, 3)
    assert len(minimal) == 1 and minimal[0] in possible


@pytest.mark.parametrize("node", [-1, 5])
def test_a_node_that_is_not_there_is_refused(node: int) -> None:
    with pytest.raises(UsageError, match="0 to 4"):
        paths(RING, 0, node)


def classes(network: Network, target: int) -> list[str]:
    """The classes of the links on the only path from node 0."""
    found = possible_paths(network, [(0, target)])
    return [found.classes[link] for link in found.of[0, target][0]]


def test_links_have_their_classes() -> None:
    torus = network(kind="torus", shape=[3, 3], hosts_per_switch=1)
    assert classes(torus, 7) == ["host-up", "dim0-plus", "dim1-minus", "host-down"]
    flyer = network(kind="dragonfly", groups=2, routers_per_group=2, hosts_per_router=1, global_links=1)
    assert {name for node in (1, 2, 3) for name in classes(flyer, node)} == {"host-up", "local", "global", "host-down"}
    tree = network(kind="fat-tree", children=[2, 2, 2], parents=[1, 2, 2], parallel_links=[1, 1, 1])
    assert classes(tree, 7) == ["host-up", "leaf-up", "level2-up", "level2-down", "leaf-down", "host-down"]


def test_slow_links_keep_their_class() -> None:
    slow = {"between": ["router-0", "router-1"], "bandwidth_share": 0.5}
    ring = Network.model_validate({"name": "slow", "topology": RING.topology.model_dump(), "slow_links": [slow]})
    assert classes(ring, 2) == ["host-up", "dim0-plus", "dim0-plus", "host-down"]


def test_ends_are_known_by_their_names() -> None:
    flyer = Routes(network(kind="dragonfly", groups=2, routers_per_group=3, hosts_per_router=1, global_links=1)).ends()
    tree = Routes(network(kind="fat-tree", children=[2, 2], parents=[1, 3], parallel_links=[1, 1])).ends()
    assert flyer == {*(f"host-{n}" for n in range(6)), *(f"router-{g}-{n}" for g in range(2) for n in range(3))}
    assert tree == {*(f"host-{n}" for n in range(4)), "leaf-0", "leaf-1", "level2-0", "level2-1", "level2-2"}
    assert Routes(RING).ends() == {f"{kind}-{n}" for kind in ("host", "router") for n in range(5)}
