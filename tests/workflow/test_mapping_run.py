"""Mapping with the real programs: the engine's routes, Scotch's mapping, and the time that the part recovers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from described_tables import check_findings

from manynode.config.network import Network
from manynode.config.simulate import SimulateSection
from manynode.errors import EngineMissingError, ManynodeError, UsageError
from phase3_sst.studies.congestion.contract import Findings, Workload, parts
from phase3_sst.studies.congestion.mapping import scotch
from phase3_sst.studies.congestion.mapping.assignment import cost, default_mapping
from phase3_sst.studies.congestion.mapping.cases import MappingSection
from phase3_sst.studies.congestion.mapping.link_paths import routes_between
from phase3_sst.studies.congestion.mapping.mapping_findings import RUN_COLUMNS
from phase3_sst.studies.congestion.mapping.task_graph import of_skeleton, task_graph
from phase3_sst.studies.congestion.situation import Member, Situation
from phase3_sst.studies.congestion.situation_runs import Runs

TORUS = {"kind": "torus", "shape": [4, 3, 2], "hosts_per_switch": 2, "links_per_direction": 2}
PLUS = {**TORUS, "routing": "dimension-order-plus", "links_per_direction": 1}
TREE = {"kind": "fat-tree", "children": [4, 4], "parents": [1, 2], "parallel_links": [1, 1]}
DRAGONFLY = {
    **{"kind": "dragonfly", "groups": 3, "routers_per_group": 4, "hosts_per_router": 2, "local_links": 1},
    "global_links": 1,
}


def machine(topology: dict[str, Any], output: Path, **network: Any) -> Runs:
    model = Network.model_validate({"name": "small", "topology": topology, **network})
    simulate = SimulateSection().model_dump(mode="json")
    halo = {"pattern": "halo3d", "grid": "4x2x2", "periodic": False, "bytes": 20000, "iterations": 20}
    workloads = {"halo": Workload("halo", "patterns", halo, 2, None)}
    return Runs(model, model.model_dump(mode="json"), simulate, 1, 0.95, workloads, output)


@pytest.mark.parametrize("topology", [TORUS, PLUS, TREE, DRAGONFLY], ids=["torus", "plus", "tree", "dragonfly"])
def test_routes_are_the_links_that_a_message_uses(topology: dict[str, Any], tmp_path: Path) -> None:
    runs = machine(topology, tmp_path)
    nodes = [0, 1, 3, 9, 14]
    routes = routes_between(runs.network_content, nodes)
    way = {(a, b): number for number, (a, b) in enumerate(zip(routes.source, routes.destination, strict=True))}
    for a, b in [(0, 1), (0, 3), (2, 4), (3, 1), (1, 4)]:
        parameters = {"pattern": "ping-pong", "bytes": 100_000, "iterations": 1}
        situation = Situation(f"{a}-{b}", [Member("pair", "patterns", parameters, [nodes[a], nodes[b]])], 1)
        runs.run(situation)
        links = runs.result(situation).links()
        used = links[(links["bytes"] > 0) & ~links["class"].str.startswith("host-")]
        expected: set[int] = set()
        for pair in ((a, b), (b, a)):
            first = routes.first[way[pair]]
            expected |= set(routes.links[first : routes.first[way[pair] + 1]].tolist())
        assert set(used["link"]) == expected, (a, b)


def test_where_routes_depend_on_chance_there_are_several_ways(tmp_path: Path) -> None:
    valiant = routes_between(machine({**DRAGONFLY, "routing": "valiant"}, tmp_path).network_content, [0, 8, 20])
    assert len(valiant.source) == 6 * 16
    assert len(set(valiant.hops.tolist())) > 1
    again = routes_between(machine({**DRAGONFLY, "routing": "valiant"}, tmp_path).network_content, [0, 8, 20])
    assert valiant.links.tolist() == again.links.tolist()
    ugal = routes_between(machine({**DRAGONFLY, "routing": "ugal"}, tmp_path).network_content, [0, 8, 20])
    assert ugal.hops.max() <= 3 < valiant.hops.max(), "an idle network goes directly"


def test_a_skeletons_task_graph_has_its_messages_and_those_of_its_collectives() -> None:
    shift = of_skeleton("patterns", {"pattern": "shift", "distance": 1, "bytes": 7, "iterations": 3}, 4)
    assert [list(part) for part in shift.edges()] == [[0, 0, 1, 2], [1, 3, 2, 3], [21.0] * 4]
    allreduce = {"pattern": "collective", "collective": "allreduce", "bytes": 64, "iterations": 1}
    doubling = of_skeleton("patterns", allreduce, 4, {"allreduce": "recursive_doubling"})
    assert [list(part) for part in doubling.edges()] == [[0, 0, 1, 2], [1, 2, 3, 3], [128.0] * 4]
    with pytest.raises(UsageError, match="task graph"):
        of_skeleton("patterns", {"pattern": "no-such"}, 4)


def two_groups() -> tuple[Any, np.ndarray]:
    """Even ranks exchange much, odd ranks exchange much; nodes 0 and 2 are near each other, 1 and 3 are."""
    a, b = np.triu_indices(8, k=1)
    amount = np.where(a % 2 == b % 2, 100.0, 1.0)
    far = np.array([[(i - j) % 2 for j in range(4)] for i in range(4)], float)
    return task_graph(a, b, amount, 8), far * 10


@pytest.mark.skipif(not scotch.available(), reason="the native build has no Scotch")
def test_scotch_finds_the_groups_and_the_same_ones_again() -> None:
    tasks, weights = two_groups()
    found = scotch.scotch_mapping(tasks, weights, 2, seed=1)
    assert np.bincount(found).tolist() == [2, 2, 2, 2]
    assert len({(rank % 2, node % 2) for rank, node in enumerate(found)}) == 2
    assert cost(tasks, weights, found).total < cost(tasks, weights, default_mapping(8, 2)).total
    assert found.tolist() == scotch.scotch_mapping(tasks, weights, 2, seed=1).tolist()


@pytest.mark.skipif(not scotch.available(), reason="the native build has no Scotch")
def test_scotch_maps_fewer_ranks_than_slots_and_machines_of_one_node() -> None:
    tasks, weights = two_groups()
    assert np.bincount(scotch.scotch_mapping(tasks, weights, 3, seed=1), minlength=4).max() <= 3
    assert scotch.scotch_mapping(tasks, np.zeros((1, 1)), 8, seed=1).tolist() == [0] * 8
    silent = task_graph([], [], [], 4)
    assert sorted(scotch.scotch_mapping(silent, weights, 1, seed=1).tolist()) == [0, 1, 2, 3]


@pytest.mark.skipif(not scotch.available(), reason="the native build has no Scotch")
def test_above_many_slots_whole_nodes_are_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, weights = two_groups()
    monkeypatch.setattr(scotch, "MOST_SLOTS", 4)
    found = scotch.scotch_mapping(tasks, weights, 2, seed=1)
    assert np.bincount(found).tolist() == [2, 2, 2, 2]
    assert len({(rank % 2, node % 2) for rank, node in enumerate(found)}) == 2


def test_without_scotch_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MANYNODE_BUILD_DIR", str(tmp_path))
    with pytest.raises(EngineMissingError, match="mapping by Scotch is not available") as caught:
        scotch.scotch_mapping(*two_groups(), 2, seed=1)
    assert "libscotch-dev" in str(caught.value.remedy)


def study(runs: Runs, settings: MappingSection) -> Findings:
    part = parts.get("mapping")
    part.check(runs, settings)
    for number in range(3):
        for situation in runs.missing(part.situations(runs, settings, number)):
            runs.run(situation)
    assert not part.situations(runs, settings, 2)
    return part.conclude(runs, settings)


def section(**keys: Any) -> MappingSection:
    # Eight nodes of a ring in an order that sends neighbours to opposite sides: the traffic fills the links between.
    case = {"name": "ring", "hosts": [0, 8, 4, 12, 1, 9, 5, 13], "traffic": [[2, 11], [3, 10]]}
    return MappingSection.model_validate({"cases": [case], "grid": [4, 2, 2], "window": "1 ms", **keys})


RING = {"kind": "torus", "shape": [8], "hosts_per_switch": 2, "routing": "dimension-order-plus"}


def test_the_part_maps_around_traffic_and_gives_the_same_again(tmp_path: Path) -> None:
    methods = ["hops", "stalls", "geometric"] if scotch.available() else ["geometric"]
    runs = machine(RING, tmp_path, flow_control="credits")
    findings = study(runs, section(methods=methods))
    check_findings(findings.tables)
    table: pd.DataFrame = findings.tables["mapping-runs"][1]
    assert list(table.columns) == RUN_COLUMNS
    assert list(table["method"]) == methods
    assert (table["loss"] > 0.05).all(), "the traffic costs time"
    if scotch.available():
        by_method = table.set_index("method")
        assert by_method.loc["stalls", "cost_total"] < 1
        assert by_method.loc["stalls", "run_s"] < by_method.loc["stalls", "default_s"]
    again = parts.get("mapping").conclude(runs, section(methods=methods))
    pd.testing.assert_frame_equal(again.tables["mapping-runs"][1], table)
    assert again.sentences == findings.sentences


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"cases": [{"name": "far", "hosts": [0, 99], "traffic": [[1, 2]]}]}, "a node that the machine does not have"),
        ({"random_cases": 1, "nodes": 10, "traffic_pairs": 4}, "do not fit the machine"),
        ({"workload": "spmv"}, "no such workload"),
        ({"grid": [4, 4]}, None),
        ({"grid": [4, 3]}, "one place per rank"),
    ],
)
def test_a_study_that_does_not_fit_is_refused_before_it_runs(
    keys: dict[str, Any], message: str | None, tmp_path: Path
) -> None:
    settings = section(**{"methods": ["geometric"], **keys})
    if message is None:
        parts.get("mapping").check(machine(RING, tmp_path), settings)
        return
    with pytest.raises(ManynodeError, match=message):
        parts.get("mapping").check(machine(RING, tmp_path), settings)
