"""Topologies: the counts and the bisection of known machines, and each mistake named with its place.

The counts and cuts are those that ``tests/cpp/topologies`` finds for the same machines by looking at every link.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from manynode.config.network import Network, nic_of
from manynode.config.resolved import validation_error
from manynode.config.topologies.dragonfly import Dragonfly
from manynode.config.topologies.dragonfly_2d import Dragonfly2d
from manynode.config.topologies.dragonfly_plus import DragonflyPlus
from manynode.config.topologies.fat_tree import FatTree
from manynode.config.topologies.hyperx import HyperX
from manynode.config.topologies.torus import Torus


def fat_tree(children: list[int], parents: list[int], parallel_links: list[int], **more: Any) -> FatTree:
    return FatTree(kind="fat-tree", children=children, parents=parents, parallel_links=parallel_links, **more)


def torus(shape: list[int], hosts: int, links: int) -> Torus:
    return Torus(kind="torus", shape=shape, hosts_per_switch=hosts, links_per_direction=links)


def dragonfly(groups: int, routers: int, hosts: int, local: int, ports: int) -> Dragonfly:
    return Dragonfly(
        kind="dragonfly",
        groups=groups,
        routers_per_group=routers,
        hosts_per_router=hosts,
        local_links=local,
        global_links=ports,
    )


def message(**topology: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Network.model_validate({"name": "test", "topology": topology})
    return validation_error(caught.value, Network, "test").render()


@pytest.mark.parametrize(
    ("tree", "hosts", "switches", "links", "bisection"),
    [
        (([24, 24, 4], [1, 24, 2], [1, 1, 12]), 2304, 240, 13824, 1152),
        (([4], [2], [2]), 4, 2, 32, 8),
        (([3, 2, 4], [1, 3, 2], [1, 2, 3]), 24, 26, 288, 12),
        (([2, 2, 3], [2, 3, 2], [2, 1, 2]), 12, 42, 312, 18),
        (([2, 3, 3], [1, 1, 2], [1, 2, 1]), 18, 14, 84, 5),
        (([6, 3], [1, 2], [1, 1]), 18, 5, 48, 5),
        (([4, 2, 2], [1, 2, 2], [1, 1, 2]), 16, 12, 80, 4),
    ],
)
def test_fat_trees_have_the_parts_and_the_cut_of_the_engine(
    tree: tuple[list[int], list[int], list[int]], hosts: int, switches: int, links: int, bisection: int
) -> None:
    made = fat_tree(*tree)
    assert (made.hosts(), sum(made.switches()), made.links(), made.bisection_links()) == (
        hosts,
        switches,
        links,
        bisection,
    )


def test_planes_of_a_fat_tree_are_as_many_trees() -> None:
    one, three = fat_tree([4, 3], [1, 2], [1, 1]), fat_tree([4, 3], [1, 2], [1, 1], planes=3)
    for count in (FatTree.hosts, FatTree.links, FatTree.switch_count, FatTree.bisection_links):
        assert count(three) == 3 * count(one)


RAILS: dict[str, Any] = {"kind": "fat-tree", "children": [4, 3], "parents": [1, 2], "parallel_links": [1, 1]}


@pytest.mark.parametrize(
    ("topology", "host", "words"),
    [
        (
            {**RAILS, "planes": 2},
            {},
            "the 2 planes of the topology need nodes with a NIC in each: rails 2 and rail_stride 12",
        ),
        ({**RAILS, "planes": 2}, {"rails": 2, "rail_stride": 4}, "(found 2 and 4)"),
        (RAILS, {"rail_stride": 4}, "rail_stride has no effect with one rail"),
        (RAILS, {"rails": 3, "rail_stride": 3}, "3 does not divide the 4 nodes"),
        (RAILS, {"rails": 5}, "5 NICs per node do not divide the 12 hosts"),
        (RAILS, {"rails": 2, "rail_choice": "by-direction"}, "routes of a fat-tree leave in no directions"),
    ],
)
def test_rails_that_do_not_fit_the_topology_are_refused(
    topology: dict[str, Any], host: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        Network.model_validate({"name": "test", "topology": topology, "host": host})
    assert words in validation_error(caught.value, Network, "test").render()


@pytest.mark.parametrize("stride", [1, 2, 4, 6])
def test_the_nics_of_all_nodes_are_all_hosts(stride: int) -> None:
    host = {"rails": 3, "rail_stride": stride}
    nics = [[nic_of(host, node, rail) for rail in range(3)] for node in range(12)]
    assert sorted(nic for node in nics for nic in node) == list(range(36))
    assert {b - a for node in nics for a, b in pairwise(node)} == {stride}


def test_the_fat_tree_of_the_paper_has_its_switches_per_level() -> None:
    assert fat_tree([24, 24, 4], [1, 24, 2], [1, 1, 12]).switches() == [96, 96, 48]


@pytest.mark.parametrize(
    ("shape", "hosts_per_switch", "links_per_direction", "hosts", "switches", "links", "bisection"),
    [
        ([5, 5, 4], 24, 4, 2400, 100, 7200, 200),
        ([1], 3, 1, 3, 1, 6, 1),
        ([3, 4], 20, 2, 240, 12, 576, 12),
        ([3, 3], 21, 1, 189, 9, 414, 18),
        ([4, 1, 2], 2, 2, 16, 8, 96, 8),
        ([5], 1, 2, 5, 5, 30, 2),
    ],
)
def test_tori_have_the_parts_and_the_cut_of_the_engine(
    shape: list[int],
    hosts_per_switch: int,
    links_per_direction: int,
    hosts: int,
    switches: int,
    links: int,
    bisection: int,
) -> None:
    made = torus(shape, hosts_per_switch, links_per_direction)
    assert (made.hosts(), made.switches(), made.links(), made.bisection_links()) == (hosts, switches, links, bisection)


@pytest.mark.parametrize(
    ("shape", "hosts", "widths", "mesh", "links", "bisection"),
    [
        ([3, 4], 20, [1, 2], [1], 480 + 2 * 12 + 2 * 9 * 2, 6),
        ([3, 4], 20, [1, 2], [0], 480 + 2 * 8 + 2 * 12 * 2, 12),
        ([2, 3, 2, 2, 3, 2], 6, [1] * 6, [0, 2], 2 * 864 + 2 * (2 * 72 + 4 * 144), 144),
        ([2, 3, 2], 6, [1] * 3, [0, 2], 144 + 2 * (6 + 12 + 6), 6),
        ([3, 3], 21, [2, 1], [0, 1], 378 + 2 * (12 + 6), 15),
    ],
)
def test_meshes_have_the_parts_and_the_cut_of_the_engine(
    shape: list[int], hosts: int, widths: list[int], mesh: list[int], links: int, bisection: int
) -> None:
    made = Torus(kind="torus", shape=shape, hosts_per_switch=hosts, links_by_dimension=widths, mesh=mesh)
    assert (made.links(), made.bisection_links()) == (links, bisection)


@pytest.mark.parametrize(
    ("shape", "hosts", "links", "bisection"),
    [
        ((5, 18, 24, 1, 7), 2160, 6480, 270),
        ((1, 4, 2, 2, 0), 8, 40, 4),
        ((3, 2, 2, 1, 1), 12, 36, 4),
        ((5, 3, 2, 2, 2), 30, 150, 11),
        ((4, 2, 2, 1, 2), 16, 56, 6),
        ((9, 4, 2, 1, 2), 72, 324, 24),
        ((6, 7, 1, 1, 1), 42, 378, 11),
        ((7, 3, 5, 1, 3), 105, 308, 19),
        ((4, 3, 8, 1, 2), 96, 240, 8),
    ],
)
def test_dragonflies_have_the_parts_and_the_cut_of_the_engine(
    shape: tuple[int, int, int, int, int], hosts: int, links: int, bisection: int
) -> None:
    made = dragonfly(*shape)
    assert (made.hosts(), made.links(), made.bisection_links()) == (hosts, links, bisection)


@pytest.mark.parametrize(
    ("shape", "hosts", "links", "bisection"),
    [
        ((23, 18, 18, 22, 1, 22), 9108, 18216 + 2 * 7452 + 9108, 11 * 11 * 18 + 18 * 20),
        ((4, 3, 2, 2, 1, 3), 24, 48 + 48 + 24, 8),
        ((2, 2, 2, 4, 1, 1), 16, 32 + 16 + 4, 2),
        ((1, 4, 3, 8, 1, 0), 32, 64 + 24, 6),
    ],
)
def test_dragonfly_plus_machines_have_the_parts_and_the_cut_of_the_engine(
    shape: tuple[int, ...], hosts: int, links: int, bisection: int
) -> None:
    keys = ("groups", "leaves_per_group", "spines_per_group", "hosts_per_leaf", "leaf_links", "global_links")
    made = DragonflyPlus(kind="dragonfly-plus", **dict(zip(keys, shape, strict=True)))
    assert (made.hosts(), made.links(), made.bisection_links()) == (hosts, links, bisection)


@pytest.mark.parametrize(
    ("shape", "hosts", "links", "bisection"),
    [
        ((4, 6, 16, 4, 1, 3, 10), 1536, 2 * 1536 + 384 * 15 + 384 * 15 + 3840, 768),
        ((4, 2, 3, 8, 1, 1, 2), 192, 384 + 48 + 24 + 48, 16),
        ((1, 2, 4, 8, 1, 3, 0), 64, 128 + 24 + 24, 12),
        ((1, 1, 4, 8, 1, 1, 0), 32, 64 + 12, 4),
    ],
)
def test_two_dimensional_dragonflies_have_the_parts_and_the_cut_of_the_engine(
    shape: tuple[int, ...], hosts: int, links: int, bisection: int
) -> None:
    keys = ("groups", "rows", "columns", "hosts_per_router", "row_links", "column_links", "global_links")
    made = Dragonfly2d(kind="dragonfly-2d", **dict(zip(keys, shape, strict=True)))
    assert (made.hosts(), made.links(), made.bisection_links()) == (hosts, links, bisection)


@pytest.mark.parametrize(
    ("shape", "hosts", "widths", "links", "bisection"),
    [
        ([4, 3], 5, [2, 1], 120 + 72 + 24, 4 * 2 + 2 * 2 * 2),
        ([3, 4], 20, [1, 2], 480 + 24 + 72, 24),
        ([3, 4], 2, [1, 2], 48 + 24 + 72, 12),
        ([6], 20, [1], 240 + 30, 9),
    ],
)
def test_hyperx_networks_have_the_parts_and_the_cut_of_the_engine(
    shape: list[int], hosts: int, widths: list[int], links: int, bisection: int
) -> None:
    made = HyperX(kind="hyperx", shape=shape, hosts_per_switch=hosts, links_by_dimension=widths)
    assert (made.links(), made.bisection_links()) == (links, bisection)


@given(groups=st.integers(2, 12), routers=st.integers(1, 12), ports=st.integers(1, 6))
def test_cables_of_a_dragonfly_are_as_many_in_both_directions(groups: int, routers: int, ports: int) -> None:
    if groups - 1 > routers * ports:
        return
    made = dragonfly(groups, routers, 1, 1, ports)
    peers = list(made.peers())
    assert len(peers) == made.ports_in_use() >= routers * ports - 1
    counts = [peers.count(distance) for distance in range(1, groups)]
    assert counts == counts[::-1]
    assert max(counts) - min(counts) <= 1


def test_names_of_link_classes_are_those_of_the_engine() -> None:
    assert fat_tree([2, 2, 2], [1, 1, 1], [1, 1, 1]).link_classes() == [
        "host-up",
        "host-down",
        "leaf-up",
        "leaf-down",
        "level2-up",
        "level2-down",
    ]
    assert fat_tree([2], [1], [1]).link_classes() == ["host-up", "host-down"]
    assert torus([4, 1, 2], 1, 1).link_classes() == [
        "host-up",
        "host-down",
        "dim0-plus",
        "dim0-minus",
        "dim2-plus",
        "dim2-minus",
    ]


@pytest.mark.parametrize(
    ("taper", "parents", "parallel_links"),
    [
        ([1, 1], [1, 24, 2], [1, 1, 12]),
        ([2, 1], [1, 12, 2], [1, 1, 12]),
        ([1, 4], [1, 24, 2], [1, 1, 3]),
        ([3, 24], [1, 8, 1], [1, 1, 1]),
    ],
)
def test_a_taper_divides_the_links_up_to_a_level(
    taper: list[int], parents: list[int], parallel_links: list[int]
) -> None:
    made = fat_tree([24, 24, 4], [1, 24, 2], [1, 1, 12], taper=taper)
    assert made.model_dump() == {
        "kind": "fat-tree",
        "children": [24, 24, 4],
        "parents": parents,
        "parallel_links": parallel_links,
        "routing": "d-mod-k",
        "planes": 1,
    }


@pytest.mark.parametrize("taper", [[5, 1], [48, 1], [1, 7]])
def test_a_taper_that_disconnects_is_refused_with_what_is_possible(taper: list[int]) -> None:
    text = message(kind="fat-tree", children=[24, 24, 4], parents=[1, 24, 2], parallel_links=[1, 1, 12], taper=taper)
    assert "topology: taper: a switch of level" in text
    assert "does not divide" in text
    assert "choose a divisor of 24" in text


@pytest.mark.parametrize("taper", [[], [1], [1, 1, 1], [0, 1], ["2", 1], 2])
def test_a_taper_of_another_form_is_refused(taper: object) -> None:
    text = message(kind="fat-tree", children=[24, 24, 4], parents=[1, 24, 2], parallel_links=[1, 1, 12], taper=taper)
    assert "topology: taper" in text


TORUS = {"kind": "torus", "shape": [4, 3], "hosts_per_switch": 2}
DRAGONFLY = {"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 2, "global_links": 1}
PLUS = {"kind": "dragonfly-plus", "groups": 3, "leaves_per_group": 2, "spines_per_group": 2, "hosts_per_leaf": 2}
GRID = {"kind": "dragonfly-2d", "groups": 3, "rows": 2, "columns": 2, "hosts_per_router": 2}
HYPERX = {"kind": "hyperx", "shape": [4, 3], "hosts_per_switch": 2}
FAT_TREE = {"kind": "fat-tree", "children": [4, 3], "parents": [1, 2], "parallel_links": [1, 2]}


@pytest.mark.parametrize(
    ("topology", "words"),
    [
        ({}, "topology: kind: this key is missing"),
        ({"kind": "tours"}, "topology: kind: there is no 'tours'; did you mean 'torus'?"),
        ({**TORUS, "shape": [4, 0]}, "topology: shape: 1: Input should be greater than or equal to 1"),
        ({**TORUS, "shape": []}, "topology: shape"),
        ({**TORUS, "shape": [508]}, "routes of the torus have up to 256 links"),
        ({**TORUS, "hosts_per_switch": 2**30}, "the torus is too large"),
        ({**TORUS, "links_per_direction": 0}, "topology: links_per_direction"),
        ({**TORUS, "routing": "adaptive"}, "Input should be 'dimension-order' or 'dimension-order-plus'"),
        ({**TORUS, "mesh": [0, 2]}, "mesh: there is no dimension 2; a shape of 2 has 0 to 1"),
        ({**TORUS, "mesh": [1, 1]}, "mesh: a dimension is given twice"),
        ({**TORUS, "links_by_dimension": [1]}, "links_by_dimension: a shape of 2 dimensions needs as many numbers"),
        ({**TORUS, "links_by_dimension": [1, 0]}, "topology: links_by_dimension: 1"),
        ({**TORUS, "links_by_dimension": [1, 2], "links_per_direction": 2}, "has no effect beside links_by_dimension"),
        ({**TORUS, "shape": [255], "mesh": [0]}, "routes of the torus have up to 256 links"),
        ({**TORUS, "shap": [2]}, "topology: shap: unknown key; did you mean 'shape'?"),
        ({**FAT_TREE, "parents": [1, 0]}, "topology: parents: 1"),
        ({**FAT_TREE, "parents": [1]}, "must have one entry per level"),
        ({**FAT_TREE, "routing": "ecmp"}, "Input should be 'd-mod-k' or 'adaptive'"),
        ({**FAT_TREE, "children": [65536, 65536]}, "the fat-tree is too large"),
        ({**PLUS, "global_links": 0}, "global_links: 2 switches with 0 each cannot connect a group to the 2 others"),
        ({**PLUS, "global_links": 1, "groups": 6}, "raise global_links to at least 3 or lower groups"),
        ({**PLUS, "global_links": 1, "routing": "valiant"}, "Input should be 'minimal' or 'ugal'"),
        (PLUS, "topology: global_links: this key is missing"),
        ({**GRID, "global_links": 1, "groups": 7}, "4 switches with 1 each cannot connect a group to the 6 others"),
        ({**GRID, "global_links": 1, "column_links": 0}, "topology: column_links"),
        ({**HYPERX, "links_by_dimension": [1]}, "links_by_dimension: a shape of 2 dimensions needs as many numbers"),
        ({**HYPERX, "hosts_per_switch": 2**30}, "the hyperx is too large"),
        ({**HYPERX, "mesh": [0]}, "topology: mesh: unknown key"),
        ({**DRAGONFLY, "groups": 4}, "raise global_links to at least 2 or lower groups"),
        ({**DRAGONFLY, "global_links": 0}, "raise global_links to at least 1"),
        ({**DRAGONFLY, "local_links": 0}, "topology: local_links"),
        ({**DRAGONFLY, "routing": "par"}, "Input should be 'minimal', 'minimal-by-source', 'valiant' or 'ugal'"),
        ({**DRAGONFLY, "ugal_bias": "-1 ns"}, "topology: ugal_bias"),
    ],
)
def test_a_mistake_is_named_with_its_place(topology: dict[str, Any], words: str) -> None:
    assert words in message(**topology)
