"""Task graph, machine graph and mappings of a few ranks, small enough to be checked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manynode.errors import InputError, UsageError
from phase3_sst.studies.congestion.counters.counter_table import Counters, ordered
from phase3_sst.studies.congestion.mapping.assignment import (
    cost,
    default_mapping,
    slots,
    within_capacity,
)
from phase3_sst.studies.congestion.mapping.link_paths import Routes
from phase3_sst.studies.congestion.mapping.machine_graph import machine_graph
from phase3_sst.studies.congestion.mapping.own_load import busiest_link_s, congested
from phase3_sst.studies.congestion.mapping.plan import Question
from phase3_sst.studies.congestion.mapping.snapshot import Snapshot, of_counters, of_measured, of_simulation
from phase3_sst.studies.congestion.mapping.task_graph import TaskGraph, read_matrix, task_graph

# Three nodes: 0 and 1 share a switch; 2 is two links away from both. Links 0 and 1 lead to it, 2 and 3 back.
LINKS = pd.DataFrame(
    {
        "class": ["dim0-plus", "dim0-plus", "dim0-minus", "dim0-minus"],
        "source": ["router-0", "router-1", "router-2", "router-1"],
        "target": ["router-1", "router-2", "router-1", "router-0"],
        "bandwidth_Bps": [1e9, 1e9, 2e9, 2e9],
    },
    index=pd.RangeIndex(4, name="link"),
)
WAYS = {(0, 1): [], (1, 0): [], (0, 2): [0, 1], (1, 2): [0, 1], (2, 0): [2, 3], (2, 1): [2, 3]}


def routes() -> Routes:
    ends = np.array(list(WAYS))
    first = np.cumsum([0, *map(len, WAYS.values())])
    flat = np.array([link for way in WAYS.values() for link in way])
    return Routes([4, 5, 9], ends[:, 0], ends[:, 1], first, flat, LINKS)


def snapshot() -> Snapshot:
    return Snapshot(np.array([10.0, 40.0, 0.0, 70.0]), np.array([5.0, 15.0, 0.0, 20.0]))


def pairs() -> TaskGraph:
    """Ranks 0 and 1 exchange 10 bytes, 2 and 3 exchange 20, 0 and 3 exchange 1."""
    return task_graph([0, 1, 2, 0], [1, 0, 3, 3], [4, 6, 20, 1], 4)


def test_both_directions_of_a_pair_are_one_edge() -> None:
    a, b, amount = pairs().edges()
    assert list(zip(a.tolist(), b.tolist(), amount.tolist(), strict=True)) == [(0, 1, 10.0), (0, 3, 1.0), (2, 3, 20.0)]


def test_what_a_rank_sends_to_itself_is_no_edge() -> None:
    assert task_graph([0, 1], [0, 0], [99, 1], 2).edges()[2].tolist() == [1.0]


def test_hops_are_links_between_switches() -> None:
    assert machine_graph("hops", routes()).tolist() == [[0, 0, 2], [0, 0, 2], [2, 2, 0]]


def test_stalls_and_bandwidth_are_the_largest_of_the_route_in_the_worse_direction() -> None:
    assert machine_graph("stalls", routes(), snapshot()).tolist() == [[0, 0, 70], [0, 0, 70], [70, 70, 0]]
    assert machine_graph("bw", routes(), snapshot()).tolist() == [[0, 0, 20], [0, 0, 20], [20, 20, 0]]


def test_links_may_count_beside_their_counters() -> None:
    assert machine_graph("stalls", routes(), snapshot(), 5.0).tolist() == [[0, 0, 80], [0, 0, 80], [80, 80, 0]]
    assert machine_graph("hops", routes(), snapshot(), 5.0).tolist() == machine_graph("hops", routes()).tolist()


def test_the_busiest_link_is_the_one_that_carries_the_jobs_bytes_longest() -> None:
    # Ranks 0 and 1 on node 0, 2 on node 1, 3 on node 2: of 21 bytes to rank 3 half go each way.
    nodes = np.array([0, 0, 1, 2])
    assert busiest_link_s(pairs(), routes(), None, nodes) == pytest.approx(10.5 / 1e9)
    full = Snapshot(np.zeros(4), np.array([0.0, 0.0, 50.0, 100.0]))
    assert busiest_link_s(pairs(), routes(), full, nodes) == pytest.approx(10.5 / (0.1 * 2e9))
    assert busiest_link_s(pairs(), routes(), full, np.array([0, 0, 1, 1])) == 0.0


def test_a_job_is_congested_where_its_busiest_link_takes_twice_as_long() -> None:
    nodes = np.array([0, 0, 1, 2])
    for used, expected in ((0.0, False), (40.0, False), (60.0, True), (100.0, True)):
        # Links 0 and 1 are the slow ones.
        assert congested(pairs(), routes(), Snapshot(np.zeros(4), np.array([used, 0.0, 0.0, 0.0])), nodes) is expected


def test_several_ways_of_a_pair_count_with_their_mean() -> None:
    two_ways = Routes([0, 1], *map(np.array, ([0, 0], [1, 1], [0, 1, 3], [0, 1, 2])), LINKS)
    assert machine_graph("hops", two_ways)[0, 1] == 1.5
    assert machine_graph("stalls", two_ways, snapshot())[0, 1] == 25.0


def test_without_a_metric_all_slots_are_equally_far() -> None:
    assert machine_graph("none", routes()).tolist() == [[1, 1, 1]] * 3


def test_metrics_of_counters_need_a_snapshot() -> None:
    with pytest.raises(UsageError, match="needs counters"):
        machine_graph("stalls", routes())
    with pytest.raises(UsageError, match="unknown metric"):
        machine_graph("stall", routes())


def test_a_simulated_snapshot_is_in_percent_of_the_run() -> None:
    loads = pd.DataFrame({"link": [1, 3], "bytes": [5e5, 1e6], "stall_s": [2.5e-4, 7e-3]})
    found = of_simulation(loads, 1e-3, LINKS)
    assert found.percent_bandwidth.tolist() == pytest.approx([0, 50, 0, 50])
    assert found.percent_stalled.tolist() == pytest.approx([0, 25, 0, 100]), (
        "waiting of many chunks is at most all time"
    )


def test_time_without_credits_counts_where_the_engine_tells_it() -> None:
    loads = pd.DataFrame({"link": [1], "bytes": [0], "stall_s": [7e-3], "credit_stall_s": [1e-4]})
    assert of_simulation(loads, 1e-3, LINKS).percent_stalled[1] == pytest.approx(10)


def measured(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "snapshot.csv"
    path.write_text("\n".join(["source,target,percent_stalled,percent_bandwidth", *lines]) + "\n")
    return path


def test_a_measured_snapshot_names_links_by_their_ends(tmp_path: Path) -> None:
    found = of_measured(measured(tmp_path, "router-1,router-2,68,61", "router-1, router-0,5,1"), LINKS)
    assert found.percent_stalled.tolist() == [0, 68, 0, 5]
    assert found.percent_bandwidth.tolist() == [0, 61, 0, 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("NA,router-2,1,1", "NA -> router-2"),
        ("router-1,router-3,1,1", "a link that the machine does not have"),
        ("router-0,router-1,101,1", "out of bounds"),
        ("router-0,router-1,1,-1", "out of bounds"),
        ("router-0,router-1,,1", "out of bounds"),
    ],
)
def test_a_measured_snapshot_with_a_mistake_names_its_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        of_measured(measured(tmp_path, "router-0,router-1,1,1", line), LINKS)
    assert message in caught.value.render()
    assert "line 3" in str(caught.value.where)


def counters(*rows: tuple[float, float, str, str, str, float, float, float]) -> Counters:
    """Return counters from rows: start, end, router, port, peer, no credit, input stalled, used (percent)."""
    names = ["start_s", "end_s", "router", "port", "peer", "credit_stalled_pct", "stalled_pct", "used_pct"]
    table = pd.DataFrame(rows, columns=names).assign(port_class="network", direction="in")
    host = {"start_s": 0.0, "end_s": 1.0, "router": "router-1", "port": "h", "peer": "host-4", "stalled_pct": 99.0}
    host |= {"port_class": "host", "direction": "in"}
    return Counters(ordered(pd.concat([table, pd.DataFrame([host])], ignore_index=True)))


def test_a_snapshot_of_router_counters_is_their_mean_over_time() -> None:
    nan = float("nan")
    found, notes = of_counters(
        counters(
            (0, 1, "router-2", "a", "router-1", 60, 90, 10),
            (1, 4, "router-2", "a", "router-1", 20, 90, nan),
            (0, 1, "router-0", "a", "router-1", nan, 7, 3),
            (0, 1, "router-0", "b", "", 100, 100, 100),
        ),
        "c.parquet",
        LINKS,
        None,
    )
    assert found.percent_stalled.tolist() == [0, 30, 0, 7], "without credits before a stalled input"
    assert found.percent_bandwidth.tolist() == [0, 10, 0, 3]
    assert notes == ["1 network ports without a known peer count as idle"]


def test_cables_name_the_links_of_counters_that_do_not(tmp_path: Path) -> None:
    nan = float("nan")
    real = counters((0, 1, "c0-0c0s1a0", "2_4", "", nan, 40, nan), (0, 1, "c0-0c0s1a0", "2_5", "", nan, 30, nan))
    with pytest.raises(InputError, match="routers at the ends of links") as caught:
        of_counters(real, "ldms.csv", LINKS, None)
    assert "--cables" in str(caught.value.remedy)
    cables = tmp_path / "cables.csv"
    cables.write_text("router,port,source,target\nc0-0c0s1a0,2_4,router-0,router-1\nc0-0c0s1a0,2_5,router-0,router-1\n")
    found, notes = of_counters(real, "ldms.csv", LINKS, cables)
    assert found.percent_stalled.tolist() == [40, 0, 0, 0] and np.isnan(found.percent_bandwidth).all() and not notes
    cables.write_text("router,port,source,target\nc0-0c0s1a0,2_4,router-0,router-7\n")
    with pytest.raises(InputError, match="a link that the machine does not have"):
        of_counters(real, "ldms.csv", LINKS, cables)
    cables.write_text("router,source,target\n")
    with pytest.raises(InputError, match="lacks a column"):
        of_counters(real, "ldms.csv", LINKS, cables)


def test_the_cost_is_bytes_times_weight() -> None:
    weights = machine_graph("hops", routes())
    found = cost(pairs(), weights, [0, 2, 1, 2])
    assert (found.total, found.largest) == (10 * 2 + 20 * 2 + 1 * 2, 40)
    assert cost(pairs(), weights, [0, 0, 2, 2]).total == 2


def test_a_mapping_that_costs_no_less_gives_way_to_the_default() -> None:
    network = {"topology": {"kind": "torus", "shape": [3], "hosts_per_switch": 4}, "host": {"rails": 1}}
    question = Question(pairs(), routes(), snapshot(), 2, network, 1, grid=[4, 1, 1])
    plan = question.answer("geometric")
    assert plan.kept_default and list(plan.nodes) == default_mapping(4, 2).tolist()
    assert plan.cost_total == plan.default_cost_total
    assert not question.answer("geometric", guarded=False).kept_default


def test_of_mappings_by_counters_the_one_with_the_least_busy_link_is_taken() -> None:
    # A link between each two of three nodes. The link of 0 and 1 is stalled and used. That of 1 and 2 is filled by
    # others, but has credits.
    ways = {(0, 1): 0, (1, 0): 0, (0, 2): 1, (2, 0): 1, (1, 2): 2, (2, 1): 2}
    ends = np.array(list(ways))
    triangle = Routes([0, 1, 2], ends[:, 0], ends[:, 1], np.arange(7), np.array(list(ways.values())), LINKS)
    counters = Snapshot(np.array([60.0, 30.0, 0.0, 0.0]), np.array([60.0, 0.0, 85.0, 0.0]))
    tasks = task_graph([0, 0], [1, 2], [20, 10], 3)
    question = Question(tasks, triangle, counters, 1, {"topology": {"kind": "torus", "shape": [3]}}, 1, per_hop=0.0)
    filled, between, around = np.array([1, 2, 0]), np.array([2, 0, 1]), np.array([0, 2, 1])
    # Their costs: 600, 600 and 1200 of the default's 1500.
    accepted = question.accepted("stalls", [filled, between, around])
    assert [nodes.tolist() for nodes in accepted] == [around.tolist(), between.tolist()]
    idle = Question(tasks, triangle, snapshot(), 1, question.network, 1, per_hop=0.0)
    assert idle.accepted("stalls", [around]) == []


def test_a_node_with_too_many_ranks_gives_away_the_one_that_costs_least() -> None:
    weights = machine_graph("hops", routes())
    assert within_capacity(pairs(), weights, np.array([2, 2, 2, 0]), 2).tolist() in ([2, 2, 0, 0], [2, 2, 1, 0])


def test_ranks_of_a_node_have_its_slots_in_their_order() -> None:
    assert slots([1, 0, 1, 0], 2) == [2, 0, 3, 1]
    assert slots([2, 2, 0], 4) == [8, 9, 0]


def matrix(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "matrix.csv"
    path.write_text(text)
    return path


def test_a_measured_matrix_may_have_a_header_and_repeat_pairs(tmp_path: Path) -> None:
    graph = read_matrix(matrix(tmp_path, "sender,receiver,bytes\n0,1,5\n1,0,5\n0,1,2.5\n3,3,9\n"))
    assert graph.ranks == 4
    assert [list(part) for part in graph.edges()] == [[0], [1], [12.5]]
    assert read_matrix(matrix(tmp_path, "0,1,5\n"), 8).ranks == 8


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("0,1,5\n1,2,-3\n", 2, "bytes of 0 and more"),
        ("0,1,5\n1,-2,3\n", 2, "ranks 0, 1, 2"),
        ("0,1,5\n1,2.5,3\n", 2, "ranks 0, 1, 2"),
        ("sender,receiver,bytes\n0,1,5\n1,two,3\n", 3, "three numbers"),
        ("0,1,5\n1,2,inf\n", 2, "three numbers"),
        ("0,1,5\n0,9,3\n", 2, "ranks below 4"),
        ("0,1\n", 1, "three: sender, receiver, bytes"),
        ("sender,receiver,bytes\n", 1, "a line for each pair"),
    ],
)
def test_a_measured_matrix_with_a_mistake_names_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(InputError, match="communication matrix") as caught:
        read_matrix(matrix(tmp_path, text), 4)
    assert f"line {line}" in str(caught.value.where)
    assert message in str(caught.value.allowed)
