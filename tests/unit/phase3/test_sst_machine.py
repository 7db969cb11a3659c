"""The sst engine's machine as plain data: ports, links, ranks and refusals. No SST."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import sst_machine_runs as runs

from manynode.errors import UsageError
from phase3_sst.engines.sst.machine.build import machine_of
from phase3_sst.engines.sst.machine.description import Machine
from phase3_sst.engines.sst.machine.hosts import alternating_messages
from phase3_sst.engines.sst.machine.links import link_of_port
from phase3_sst.engines.sst.machine.sst_run_file import Run, run_of
from phase3_sst.engines.sst.machine.wiring import wiring_of

TOPOLOGIES: dict[str, dict[str, Any]] = {
    "one switch": {"kind": "fat-tree", "children": [8], "parents": [1], "parallel_links": [1]},
    "full tree": runs.FULL_TREE,
    "parallel cables": {"kind": "fat-tree", "children": [8, 4], "parents": [1, 2], "parallel_links": [1, 2]},
    "like omni-path-100": {
        "kind": "fat-tree",
        "children": [4, 4, 4],
        "parents": [1, 4, 2],
        "parallel_links": [1, 1, 2],
    },
    "tapered": {"kind": "fat-tree", "children": [4, 4, 2], "parents": [1, 2, 4], "parallel_links": [1, 1, 1]},
    "torus": {"kind": "torus", "shape": [3, 1, 4], "hosts_per_switch": 2, "links_per_direction": 2},
    "ring of two": {"kind": "torus", "shape": [2, 3], "hosts_per_switch": 1, "links_per_direction": 1},
    "torus of one switch": {"kind": "torus", "shape": [1], "hosts_per_switch": 3, "links_per_direction": 2},
    "rows of two beside rings": {
        **{"kind": "torus", "shape": [2, 3, 2], "hosts_per_switch": 2},
        **{"links_per_direction": 1, "links_by_dimension": [1, 2, 3], "mesh": [0, 2]},
    },
    "rows of two": {"kind": "torus", "shape": [2, 2], "hosts_per_switch": 1, "links_per_direction": 2, "mesh": [0, 1]},
    "hyperx": {"kind": "hyperx", "shape": [3, 1, 4], "hosts_per_switch": 2},
    "hyperx, parallel cables": {
        **{"kind": "hyperx", "shape": [2, 3], "hosts_per_switch": 1, "links_by_dimension": [2, 3]},
        "routing": "minimal-adaptive",
    },
    "hyperx of one switch": {"kind": "hyperx", "shape": [1], "hosts_per_switch": 3},
    "dragonfly": {
        **{"kind": "dragonfly", "groups": 5, "routers_per_group": 3, "hosts_per_router": 2},
        **{"local_links": 1, "global_links": 3},
    },
    "dragonfly, local cables": {
        **{"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 4},
        **{"local_links": 2, "global_links": 2},
    },
    "dragonfly of one group": {
        **{"kind": "dragonfly", "groups": 1, "routers_per_group": 3, "hosts_per_router": 2},
        **{"local_links": 1, "global_links": 0},
    },
}


def run(ranks_per_node: int = 1, hosts: list[int] | None = None, **changes: Any) -> Run:
    net = runs.network(**changes)
    hosts = hosts or list(range(len(wiring_of(net["topology"]).hosts) // net["host"]["rails"]))
    return run_of(runs.run_content(net, runs.job(hosts, ranks_per_node)))


def ports_used(machine: Machine) -> Counter[tuple[str, str]]:
    return Counter((end.component, end.port) for link in machine.links for end in (link.a, link.b))


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES)
def test_every_port_has_at_most_one_link_and_is_a_port_of_its_switch(topology: dict[str, Any]) -> None:
    machine = machine_of(run(topology=topology))
    used = ports_used(machine)
    assert set(used.values()) == {1}
    ports = {router.name: router.parameters["num_ports"] for router in machine.routers}
    for component, port in used:
        if component in ports:
            assert int(port.removeprefix("port")) < ports[component]
    assert all(link.a.component != link.b.component for link in machine.links)


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES)
def test_every_link_begins_at_one_port_and_both_directions_share_a_cable(topology: dict[str, Any]) -> None:
    described = run(topology=topology)
    links = link_of_port(described)
    numbers = [link.id for link in links.values()]
    assert len(set(numbers)) == len(numbers)
    by_number = {link.id: link for link in links.values()}
    wiring = wiring_of(topology)
    for cable in wiring.cables:
        assert (cable.forward.source, cable.forward.target) == (cable.backward.target, cable.backward.source)
        assert by_number[cable.forward.id] == cable.forward
    assert {link.cls for link in links.values()} <= set(wiring.classes)


def test_switches_of_a_tree_with_parallel_cables_see_all_hosts_and_their_own_ports() -> None:
    for name in ("parallel cables", "like omni-path-100"):
        wiring = wiring_of(TOPOLOGIES[name])
        for switch in wiring.switches:
            levels = [level.split(",") for level in str(switch.parameters["shape"]).split(":")]
            hosts = 1
            for level in levels:
                hosts *= int(level[0])
            assert hosts == len(wiring.hosts)
            assert any(sum(map(int, level)) == switch.ports for level in levels)


def test_hosts_without_a_rank_have_no_nic_but_their_switches_are_there() -> None:
    machine = machine_of(run(hosts=[3, 9]))
    assert [nic.name for nic in machine.nics] == ["host_3", "host_9"]
    assert len(machine.routers) == 8
    assert [engine.os_parameters["netMapId"] for engine in machine.engines] == [0, 1]


def test_jobs_have_ranks_motifs_and_maps_of_their_own() -> None:
    content = runs.run_content(runs.network(), runs.job([0, 5], 2), runs.job([7], 1, name="noise", background=True))
    machine = machine_of(run_of(content, "/somewhere/run.network.json", "/parts"))
    motifs = [(engine.job, engine.parameters["motif0.arg.job"], engine.os_parameters["netMapName"])
              for engine in machine.engines]  # fmt: skip
    assert motifs == [(0, 0, "job_0")] * 4 + [(1, 1, "job_1")]
    assert machine.engines[0].parameters["motif0.arg.run"] == "/somewhere/run.network.json"


def test_ranks_are_shared_among_the_rails_of_a_node() -> None:
    torus = {"kind": "torus", "shape": [3], "hosts_per_switch": 6, "links_per_direction": 1}
    machine = machine_of(run(ranks_per_node=4, hosts=[0, 2], topology=torus, rails=2))
    assert [nic.name for nic in machine.nics] == ["host_0", "host_1", "host_4", "host_5"]
    assert {nic.parameters["num_vNics"] for nic in machine.nics} == {2}
    assert machine.protocol_parameters["nicsPerNode"] == 2


@pytest.mark.parametrize(
    ("ranks_per_node", "nodes", "rails", "expected"),
    [(1, 4, 1, 64), (2, 12, 1, 64), (4, 12, 1, 176), (4, 12, 2, 88), (12, 12, 1, 1024)],
    ids=["few peers", "pairs below the least", "each pair", "a rail has half", "memory"],
)
def test_a_message_of_each_pair_of_ranks_has_its_turn(
    ranks_per_node: int, nodes: int, rails: int, expected: int
) -> None:
    torus = {"kind": "torus", "shape": [3], "hosts_per_switch": 8, "links_per_direction": 1}
    machine = machine_of(run(ranks_per_node, hosts=list(range(nodes)), topology=torus, rails=rails))
    assert {nic.parameters["numSendMachines"] for nic in machine.nics} == {expected}


def test_an_experiment_may_choose_the_messages_that_take_turns() -> None:
    extra = {"firefly.nic": {"numSendMachines": 3}}
    machine = machine_of(run_of(runs.run_content(runs.network(), runs.job([0]), extra_parameters=extra)))
    assert machine.nics[0].parameters["numSendMachines"] == 3


def test_messages_that_take_turns_share_the_memory_of_a_large_machine() -> None:
    assert alternating_messages(nodes=1024, ranks_per_node=1, rails=1, nics=1024) == 256
    assert alternating_messages(nodes=100_000, ranks_per_node=1, rails=1, nics=100_000) == 64


@pytest.mark.parametrize("extra", ["firefly.nic", "merlin.linkcontrol", "merlin.hr_router", "merlin.topology"])
def test_parameters_of_sst_can_be_overridden(extra: str) -> None:
    content = runs.run_content(runs.network(), runs.job([0]), extra_parameters={extra: {"probe": "42"}})
    machine = machine_of(run_of(content))
    found = {
        "firefly.nic": machine.nics[0].parameters,
        "merlin.linkcontrol": machine.nics[0].link_parameters,
        "merlin.hr_router": machine.routers[0].parameters,
        "merlin.topology": machine.routers[0].topology_parameters,
    }
    assert found[extra]["probe"] == "42"


@pytest.mark.parametrize("key", ["copy_bandwidth", "fresh_bandwidth", "collective_call", "collective_step"])
def test_ssts_own_collectives_have_no_local_work(key: str) -> None:
    net = runs.network()
    net["host"][f"{key}_Bps" if key.endswith("bandwidth") else f"{key}_s"] = 1e6
    assert run_of(runs.run_content(net, runs.job([0]), collectives="expanded")).options.collectives == "expanded"
    with pytest.raises(UsageError) as refused:
        run_of(runs.run_content(net, runs.job([0]), collectives="sst"))
    assert refused.value.where == f"network.host.{key}"
    assert "expanded" in str(refused.value.remedy)


def test_a_latency_by_size_is_refused() -> None:
    net = runs.network()
    net["host"]["message_latency"] = [{"from_bytes": 0, "seconds": 1e-6, "seconds_per_byte": 0.0}]
    with pytest.raises(UsageError) as refused:
        run_of(runs.run_content(net, runs.job([0])))
    assert refused.value.where == "network.host.message_latency"


REFUSED: list[tuple[str, dict[str, Any], int]] = [
    ("contention", {"contention": False}, 1),
    ("rail_choice", {"rails": 2, "rail_choice": "striped"}, 1),
    ("rail_choice", {"rails": 2, "rail_choice": "by-message"}, 2),
    ("mesh", {"topology": {**TOPOLOGIES["torus"], "mesh": [2]}}, 1),
    ("mesh", {"topology": {**TOPOLOGIES["torus"], "mesh": [0, 2]}}, 1),
    ("links_by_dimension", {"topology": {**TOPOLOGIES["hyperx, parallel cables"], "routing": "valiant"}}, 1),
    *(("kind", {"topology": topology}, 1) for topology in ({"kind": "dragonfly-plus"}, {"kind": "dragonfly-2d"})),
    ("ranks_per_node", {"rails": 2}, 3),
    ("chunk_bytes", {"chunk_bytes": 1001}, 1),
    ("input_buffer_bytes", {"chunk_bytes": 2048, "input_buffer_bytes": 2048}, 1),  # no room for the header
    ("output_buffer_bytes", {"chunk_bytes": 2048, "output_buffer_bytes": 2048}, 1),
    ("parents", {"topology": {**runs.FULL_TREE, "parents": [2, 4]}}, 1),
    ("parallel_links", {"topology": {**runs.FULL_TREE, "parallel_links": [1, 3]}}, 1),
    ("routing", {"topology": {**TOPOLOGIES["dragonfly, local cables"], "routing": "ugal"}}, 1),
    ("link_classes", {"link_classes": {"leaf-up": {"bandwidth_Bps": 1e9, "latency_s": 9e-8}}}, 1),
]


@pytest.mark.parametrize(("key", "changes", "ranks"), REFUSED, ids=[case[0] for case in REFUSED])
def test_what_merlin_or_firefly_cannot_express_is_refused_by_name(
    key: str, changes: dict[str, Any], ranks: int
) -> None:
    with pytest.raises(UsageError) as refused:
        machine_of(run(ranks_per_node=ranks, hosts=[0], **changes))
    assert key in str(refused.value.where)
    assert refused.value.remedy
