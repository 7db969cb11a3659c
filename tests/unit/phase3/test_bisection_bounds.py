"""The bisection of every legal machine against the true least cut between the halves that the pre-flight check uses."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
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

from manynode.config.network import Network, nic_of, topology_of
from phase3_sst.checks.probes import bisection, halves

ISSUED = {
    "kind": "fat-tree",
    "children": [6, 5, 3],
    "parents": [1, 3, 2],
    "parallel_links": [1, 1, 2],
    "routing": "d-mod-k",
}


def cuts(topology: dict[str, Any], rails: int = 1) -> tuple[int, int]:
    """Return the formula's cut and the true one between the halves of the check, for nodes with this number of NICs."""
    low, apart = halves(hosts_of(topology) // rails)
    nics = [node * rails + rail for node in low for rail in range(rails)]
    true = least_cut(topology, nics, [nic + apart * rails for nic in nics])
    return topology_of(topology).bisection_links(), true


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.one_of(fat_trees, tori))
@example(ISSUED)
def test_the_cut_of_trees_and_tori_is_the_least_one(topology: dict[str, Any]) -> None:
    formula, true = cuts(topology)
    assert formula == true


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.one_of(meshes, hyperx))
def test_the_cut_of_a_mesh_or_hyperx_is_the_least_one_or_a_bound_of_it(topology: dict[str, Any]) -> None:
    formula, true = cuts(topology)
    several = [size for size in topology["shape"] if size > 1]
    exact = not several or several[-1] % 2 == 0
    assert formula == true if exact else formula >= true


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.one_of(dragonflies, dragonflies_plus, dragonflies_2d))
def test_the_cut_of_a_dragonfly_is_never_below_the_least_one(topology: dict[str, Any]) -> None:
    formula, true = cuts(topology)
    assert formula >= true


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.one_of(fat_trees, tori, meshes, hyperx, dragonflies, dragonflies_plus, dragonflies_2d), st.integers(2, 4))
@example(
    {"kind": "torus", "shape": [2], "hosts_per_switch": 5, "links_per_direction": 1, "routing": "dimension-order"}, 2
)
def test_with_rails_the_cut_is_never_below_the_least_one(topology: dict[str, Any], rails: int) -> None:
    if hosts_of(topology) % rails or hosts_of(topology) < 2 * rails:
        return
    formula, true = cuts(topology, rails)
    assert formula >= true


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.one_of(fat_trees, tori, hyperx, dragonflies, dragonflies_plus), st.integers(2, 4), st.integers(2, 6))
def test_with_the_nics_of_a_node_apart_the_cut_is_never_below_the_least_one(
    topology: dict[str, Any], rails: int, stride: int
) -> None:
    if hosts_of(topology) % (rails * stride):
        return
    host = {"rails": rails, "rail_stride": stride}
    network = Network.model_validate({"name": "drawn", "topology": topology, "host": host})
    low, apart = halves(network.room())
    if not low:
        return
    nics = {side: [nic_of(host, node + side, rail) for node in low for rail in range(rails)] for side in (0, apart)}
    assert network.bisection_links() >= least_cut(topology, nics[0], nics[apart])


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.one_of(dragonflies_plus, dragonflies_2d).filter(lambda it: it["groups"] == 2))
def test_the_cut_of_two_groups_is_their_cables_or_a_half_of_the_hosts(topology: dict[str, Any]) -> None:
    switches = topology.get("spines_per_group") or topology["rows"] * topology["columns"]
    assert topology_of(topology).bisection_links() == min(switches * topology["global_links"], hosts_of(topology) // 2)


def test_the_halves_are_those_of_the_job() -> None:
    low, apart = halves(7)
    assert (low, apart) == (range(3), 4)
    assert bisection(low, apart, 1, 8)["hosts"] == [0, 1, 2, 4, 5, 6]
