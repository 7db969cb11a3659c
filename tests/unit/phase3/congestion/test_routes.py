"""Paths between nodes, on machines that are small enough to draw."""

from __future__ import annotations

from typing import Any

import pytest

from manynode.config.network import Network
from manynode.errors import UsageError
from phase3_sst.studies.congestion.routes import ends_of, is_end, link_class, paths


def network(**topology: Any) -> Network:
    return Network.model_validate({"name": "small", "topology": topology})


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


def test_classes_of_links_are_told_by_their_names() -> None:
    torus = network(kind="torus", shape=[3, 3], hosts_per_switch=1)
    assert [link_class(torus, link) for link in paths(torus, 0, 7)[0]] == [
        "host-up", "dim0-plus", "dim1-minus", "host-down",
    ]  # fmt: skip
    flyer = network(kind="dragonfly", groups=2, routers_per_group=2, hosts_per_router=1, global_links=1)
    classes = {link_class(flyer, link) for node in (1, 2, 3) for link in paths(flyer, 0, node)[0]}
    assert classes == {"host-up", "local", "global", "host-down"}
    tree = network(kind="fat-tree", children=[2, 2, 2], parents=[1, 2, 2], parallel_links=[1, 1, 1])
    assert [link_class(tree, link) for link in paths(tree, 0, 7)[0]] == [
        "host-up", "leaf-up", "level2-up", "level2-down", "leaf-down", "host-down",
    ]  # fmt: skip


def test_ends_are_known_by_their_names() -> None:
    flyer = network(kind="dragonfly", groups=2, routers_per_group=3, hosts_per_router=1, global_links=1)
    tree = network(kind="fat-tree", children=[2, 2], parents=[1, 3], parallel_links=[1, 1])
    assert all(is_end(flyer, name) for name in ("host-5", "router-1-2"))
    assert not any(is_end(flyer, name) for name in ("host-6", "router-2-0", "router-0-3", "router-1", "leaf-0", "x"))
    assert all(is_end(tree, name) for name in ("host-3", "leaf-1", "level2-2"))
    assert not any(is_end(tree, name) for name in ("leaf-2", "level2-3", "level3-0", "router-0", "host--1"))
    assert is_end(RING, "router-4") and not is_end(RING, "router-5")
