"""Geometric mapping: halves of the tasks go to halves of the nodes; coordinates of nodes by topology."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from manynode.errors import UsageError
from phase3_sst.studies.congestion.mapping.geometric import (
    even_grid,
    geometric_mapping,
    grid_coordinates,
    node_coordinates,
)


def test_a_line_of_tasks_follows_a_line_of_nodes() -> None:
    tasks = np.arange(8.0).reshape(-1, 1)
    nodes = np.array([[3.0], [1.0], [2.0], [0.0]])
    assert geometric_mapping(tasks, nodes, 2).tolist() == [3, 3, 1, 1, 2, 2, 0, 0]


def test_blocks_of_a_square_are_on_nodes_of_a_square() -> None:
    tasks = grid_coordinates([4, 4], 16)
    nodes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    mapping = geometric_mapping(tasks, nodes, 4)
    blocks = {tuple(sorted(np.flatnonzero(mapping == node).tolist())) for node in range(4)}
    assert blocks == {(0, 1, 4, 5), (2, 3, 6, 7), (8, 9, 12, 13), (10, 11, 14, 15)}


@pytest.mark.parametrize(("ranks", "nodes", "capacity"), [(7, 3, 3), (1, 4, 2), (12, 5, 3), (64, 16, 4), (5, 5, 1)])
def test_no_node_has_more_ranks_than_slots(ranks: int, nodes: int, capacity: int) -> None:
    random = np.random.default_rng(ranks)
    mapping = geometric_mapping(random.random((ranks, 3)), random.random((nodes, 2)), capacity)
    assert np.bincount(mapping, minlength=nodes).max() <= capacity


def test_ranks_of_a_grid_count_the_last_dimension_fastest() -> None:
    assert grid_coordinates([2, 3], 6).tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    with pytest.raises(UsageError, match="one place per rank"):
        grid_coordinates([2, 3], 8)


@pytest.mark.parametrize(("ranks", "grid"), [(64, [4, 4, 4]), (96, [6, 4, 4]), (7, [7, 1, 1]), (1, [1, 1, 1])])
def test_a_grid_that_nobody_gives_is_as_equal_as_can_be(ranks: int, grid: list[int]) -> None:
    assert even_grid(ranks) == grid


def network(rails: int = 1, **topology: Any) -> dict[str, Any]:
    return {"topology": topology, "host": {"rails": rails}}


def test_nodes_of_a_torus_are_where_their_switches_are() -> None:
    torus = network(kind="torus", shape=[2, 2, 8], hosts_per_switch=2)
    # nid00016, nid00012 and nid00038 of Brandt et al.'s machine: (0,1,7), (0,0,6), (1,1,3).
    places = node_coordinates(torus, [60, 48, 30])
    assert (places[0] - places[1]).tolist() == [0, 1, 1]
    assert (places[2] - places[1]).tolist() == [1, 1, -3]


def test_a_ring_is_cut_open_where_the_job_is_not() -> None:
    ring = network(kind="torus", shape=[8], hosts_per_switch=1)
    places = node_coordinates(ring, [7, 0, 1])[:, 0]
    assert (places - places[0]).tolist() == [0, 1, 2]


def test_groups_of_a_dragonfly_are_farther_apart_than_its_routers() -> None:
    dragonfly = network(kind="dragonfly", hosts_per_router=2, routers_per_group=4, groups=3, global_links=1)
    places = node_coordinates(dragonfly, [0, 1, 7, 8])
    assert places[0].tolist() == places[1].tolist()
    assert abs(places[3] - places[0]).max() > abs(places[2] - places[0]).max()


TREE = {"kind": "fat-tree", "children": [4, 4], "parents": [1, 4], "parallel_links": [1, 1]}


def test_nodes_below_one_leaf_switch_are_in_one_place() -> None:
    tree = network(**TREE)
    places = node_coordinates(tree, [0, 3, 4])
    assert places[0].tolist() == places[1].tolist() != places[2].tolist()
    single = network(kind="fat-tree", children=[8], parents=[1], parallel_links=[1])
    assert node_coordinates(single, [0, 5]).tolist() == [[0.0], [0.0]]


def test_rails_of_a_node_are_hosts_of_the_topology() -> None:
    tree = network(rails=2, **TREE)
    assert node_coordinates(tree, [1])[0].tolist() != node_coordinates(tree, [2])[0].tolist()
