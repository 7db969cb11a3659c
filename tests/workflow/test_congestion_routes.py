"""The possible paths between nodes are those that single messages take through the fast engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manynode.config.network import Network
from manynode.config.quantities import RESOLVED
from manynode.config.simulate import SimulateSection
from phase3_sst.studies.congestion.contract import Workload
from phase3_sst.studies.congestion.routes import Path as Way
from phase3_sst.studies.congestion.routes import link_name, possible_paths
from phase3_sst.studies.congestion.situation import Situation
from phase3_sst.studies.congestion.situation_runs import Runs

TREE = {"kind": "fat-tree", "children": [3, 2, 4], "parents": [1, 3, 2], "parallel_links": [1, 2, 1]}
FLYER = {"kind": "dragonfly", "groups": 5, "routers_per_group": 4, "hosts_per_router": 2, "global_links": 3}
MACHINES: dict[str, dict[str, Any]] = {
    "fat-tree": TREE,
    "fat-tree-adaptive": {**TREE, "routing": "adaptive"},
    "torus": {"kind": "torus", "shape": [4, 3, 2, 1], "hosts_per_switch": 2, "links_per_direction": 2},
    "torus-plus": {"kind": "torus", "shape": [4, 4], "hosts_per_switch": 1, "routing": "dimension-order-plus"},
    "dragonfly": FLYER,
    "dragonfly-valiant": {**FLYER, "routing": "valiant"},
    "dragonfly-ugal": {**FLYER, "routing": "ugal"},
    "dragonfly-pair": {**FLYER, "groups": 2, "routing": "valiant"},
}


def machine(topology: dict[str, Any], output: Path, **network: Any) -> Runs:
    model = Network.model_validate({"name": "small", "topology": topology, **network})
    simulate = SimulateSection(engine="fast", replicas=1).model_dump(mode="json")
    return Runs(model, model.model_dump(mode="json"), simulate, 1, 0.95, {}, output)


def paths(network: Network, source: int, target: int) -> list[Way]:
    return possible_paths(network, [(source, target)]).of[source, target]


def used(runs: Runs, source: int, target: int, size_bytes: int, count: int = 1) -> dict[str, str]:
    """Return the links that ``count`` messages of ``size_bytes`` take, with their classes."""
    parameters = {"pattern": "incast", "bytes": size_bytes, "senders": 1, "iterations": count}
    message = Workload("message", "patterns", parameters, 1, None)
    situation = Situation(f"from-{source}-to-{target}", [message.on([target, source])], 1)
    runs.run(situation)
    assert runs.failed(situation) is None, runs.failed(situation)
    rows = runs.result(situation).links()
    return {link_name(a, b): kind for a, b, kind in zip(rows["source"], rows["target"], rows["class"], strict=True)}


@pytest.mark.parametrize("name", MACHINES)
def test_a_message_of_one_chunk_takes_one_of_the_paths(name: str, tmp_path: Path) -> None:
    runs = machine(MACHINES[name], tmp_path)
    room = runs.network.room()
    pairs = [(number * 7 % room, (number * 11 + 5) % room) for number in range(12)]
    possible = possible_paths(runs.network, pairs)
    for source, target in pairs:
        if source == target:
            continue
        taken = used(runs, source, target, 64)
        assert set(taken) in [set(path) for path in possible.of[source, target]], (source, target)
        ring_of_two = {possible.classes[link].rpartition("-")[0] for link in taken}
        assert ring_of_two == {kind.rpartition("-")[0] for kind in taken.values()}


@pytest.mark.parametrize(
    "name", [name for name in MACHINES if name in ("fat-tree", "torus", "torus-plus", "dragonfly")]
)
def test_a_deterministic_routing_has_one_path(name: str, tmp_path: Path) -> None:
    network = machine(MACHINES[name], tmp_path).network
    room = network.room()
    found = possible_paths(network, [(a, b) for a in range(room) for b in range(0, room, 5)])
    assert found.of and all(len(ways) == 1 for ways in found.of.values())


@pytest.mark.parametrize("name", ["fat-tree-adaptive", "dragonfly-valiant", "dragonfly-ugal"])
def test_the_chunks_of_a_long_message_take_every_path_and_no_other_link(name: str, tmp_path: Path) -> None:
    # Many chunks on one slow route fill it, and adaptive routing then leaves it; a message has at most 64 chunks.
    slow = {"host": {"nic_bandwidth": "400 Gbit/s"}, "link": {"bandwidth": "20 Gbit/s"}, "chunk": "256 B"}
    fast_ends = {end: {"bandwidth": "400 Gbit/s", "latency": "90 ns"} for end in ("host-up", "host-down")}
    runs = machine(MACHINES[name], tmp_path, link_classes=fast_ends, **slow)
    source, target = 0, runs.network.room() - 1
    taken = set(used(runs, source, target, 64 << 8, count=64))
    possible = {link for path in paths(runs.network, source, target) for link in path}
    if name == "dragonfly-ugal":
        # It leaves the direct ways where they are full, so it need not use every detour.
        direct = {link for path in paths(runs.network, source, target) if len(path) <= 5 for link in path}
        assert taken <= possible and taken - direct
    else:
        assert taken == possible


def test_nics_of_a_node_give_a_path_each(tmp_path: Path) -> None:
    runs = machine(MACHINES["torus"], tmp_path, host={"rails": 2, "rail_choice": "striped"})
    possible = paths(runs.network, 3, 8)
    assert len(possible) == 2
    assert set(used(runs, 3, 8, 64 << 10)) == {link for path in possible for link in path}


def test_a_resolved_network_gives_the_same_paths(tmp_path: Path) -> None:
    network = machine(MACHINES["dragonfly-ugal"], tmp_path).network
    again = Network.model_validate(network.model_dump(mode="json"), context=RESOLVED)
    assert paths(again, 1, 30) == paths(network, 1, 30)
