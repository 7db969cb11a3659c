"""Simulated links as counters of routers, and the metrics of two papers on numbers that a reader can check."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from manynode.errors import InputError
from phase3_sst.studies.congestion.counters import metrics
from phase3_sst.studies.congestion.counters.counter_features import NAMES, features, statistics
from phase3_sst.studies.congestion.counters.counter_table import COLUMNS, Counters, check, read, window, write
from phase3_sst.studies.congestion.counters.simulated import all_links, router_of_host, simulated, simulated_series

DRAGONFLY = {
    "kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 2, "local_links": 1,
    "global_links": 2, "routing": "ugal", "ugal_bias": 2e-7,
}  # fmt: skip
TORUS = {
    "kind": "torus", "shape": [2, 2], "hosts_per_switch": 1, "links_per_direction": 1, "routing": "dimension-order",
}  # fmt: skip
TREE = {
    "kind": "fat-tree", "children": [2, 2], "parents": [1, 2], "parallel_links": [1, 1], "routing": "adaptive",
}  # fmt: skip


def links(rows: list[tuple[object, ...]], **more: list[float]) -> pd.DataFrame:
    """links.parquet: replica, link, class, source, target, bytes, chunks, busy_s, stall_s, queue_max_bytes."""
    names = ["link", "class", "source", "target", "bytes", "busy_s", "stall_s"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(replica=0, chunks=1.0, queue_max_bytes=0.0, **more)


# 8-byte flits at 8 GB/s: a flit time of 1 ns.
ONE = links(
    [
        (0, "host-up", "host-0", "router-0-0", 8000, 1e-6, 0.0),
        (12, "host-down", "router-0-0", "host-0", 4000, 0.5e-6, 2e-6),
        (25, "local", "router-0-1", "router-0-0", 16000, 2e-6, 4e-6),
    ]
)


def by_port(table: pd.DataFrame, port: str) -> pd.Series:
    own = table[table["port"] == port]
    assert len(own) == 1
    return own.iloc[0]


def test_the_counters_of_a_link_belong_to_the_router_that_it_leads_to() -> None:
    table = simulated(ONE, 1e-5)
    local = by_port(table, "link-25")
    assert (local["router"], local["peer"], local["port_class"], local["direction"]) == (
        "router-0-0", "router-0-1", "network", "in",
    )  # fmt: skip
    assert (by_port(table, "link-0")["router"], by_port(table, "link-0")["direction"]) == ("router-0-0", "in")


def test_a_link_to_a_host_is_an_output_of_its_router() -> None:
    down = by_port(simulated(ONE, 1e-5), "link-12")
    assert (down["router"], down["peer"], down["port_class"], down["direction"]) == (
        "router-0-0", "host-0", "host", "out",
    )  # fmt: skip


def test_flits_are_bytes_over_the_flit_size_and_stalls_are_in_flit_times() -> None:
    local = by_port(simulated(ONE, 1e-5, flit_bytes=8), "link-25")
    assert local["flits"] == 2000
    assert local["stalls"] == pytest.approx(4000)  # 4 us in flit times of 1 ns
    assert local["stalled_pct"] == pytest.approx(40) and local["used_pct"] == pytest.approx(20)


def test_the_ratio_of_stalls_to_flits_does_not_depend_on_the_flit_size() -> None:
    small, large = (by_port(simulated(ONE, 1e-5, flit_bytes=size), "link-25") for size in (8, 48))
    assert small["stalls"] / small["flits"] == pytest.approx(large["stalls"] / large["flits"])


def test_chunks_that_wait_together_stall_no_longer_than_the_run() -> None:
    table = simulated(ONE, 3e-6)
    assert by_port(table, "link-25")["stalled_pct"] == 100
    assert by_port(table, "link-25")["stalls"] == pytest.approx(3000)


def test_an_engine_that_counts_stalls_as_routers_do_is_believed() -> None:
    told = ONE.assign(credit_stall_s=[1e-6, 3e-6, 2e-6], inq_stall_s=[0.0, 0.0, 1e-6])
    table = simulated(told, 1e-5)
    assert by_port(table, "link-25")["stalls"] == pytest.approx(1000)  # the input queue behind the link
    assert by_port(table, "link-25")["credit_stalled_pct"] == pytest.approx(20)
    assert by_port(table, "link-12")["stalls"] == pytest.approx(3000)  # the host had no room


@pytest.mark.parametrize(("topology", "count"), [(DRAGONFLY, 2 * 12 + 6 + 12), (TORUS, 8 + 16), (TREE, 8 + 8)])
def test_every_link_of_a_topology_is_a_port_once(topology: dict[str, object], count: int) -> None:
    every = all_links(topology)
    assert len(every) == count and every["link"].is_unique


def test_ports_without_traffic_count_as_ports() -> None:
    table = simulated(ONE, 1e-5, topology=DRAGONFLY)
    network = table[(table["router"] == "router-0-0") & (table["port_class"] == "network")]
    assert len(network) == 3  # one local cable, two global ones
    assert sorted(network["flits"]) == [0, 0, 2000]
    assert network["stalls"].notna().all()


def test_links_of_another_topology_are_refused() -> None:
    with pytest.raises(InputError, match="not those of the topology"):
        simulated(ONE, 1e-5, topology=TORUS)


def test_hosts_are_attached_to_the_routers_of_the_topology() -> None:
    assert router_of_host(DRAGONFLY)[5] == "router-1-0"
    assert router_of_host(TREE)[3] == "leaf-1"


def test_counters_over_time_have_a_row_per_interval() -> None:
    rows = [(0, 0.0, 1e-5, "local", 25, 8000, 1e-6, 2e-6, 0.0), (0, 1e-5, 2e-5, "local", 25, 8000, 1e-6, 0.0, 0.0)]
    names = ["replica", "start_s", "end_s", "class", "link", "bytes", "busy_s", "stall_s", "queue_bytes"]
    series = pd.DataFrame(rows, columns=names).astype({"link": "Int64"})
    table = simulated_series(series, ONE, topology=DRAGONFLY)
    local = table[table["port"] == "link-25"]
    assert local["stalled_pct"].tolist() == pytest.approx([20, 0])
    assert len(table) == 2 * len(all_links(DRAGONFLY))


def test_counters_per_class_of_links_are_refused() -> None:
    series = pd.DataFrame({"replica": [0], "start_s": [0.0], "end_s": [1.0], "link": pd.array([pd.NA], dtype="Int64")})
    with pytest.raises(InputError, match="per: link"):
        simulated_series(series, ONE)


def test_two_replicas_are_not_one_run() -> None:
    with pytest.raises(InputError, match="one replica"):
        simulated(pd.concat([ONE, ONE.assign(replica=1)]), 1.0)


def table_of(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    """router, port, class, direction, link class, flits, stalls; one second."""
    names = ["router", "port", "port_class", "direction", "link_class", "flits", "stalls"]
    frame = pd.DataFrame(rows, columns=names)
    return check(frame.assign(start_s=0.0, end_s=1.0, peer="", stalled_pct=0.0).reindex(columns=list(COLUMNS)), "test")


ROUTERS = table_of(
    [
        ("a", "0", "network", "in", "local", 100, 10),
        ("a", "1", "network", "in", "local", 10, 9),
        ("a", "2", "network", "in", "global", 50, 5),
        ("a", "h", "host", "in", "host-up", 20, 0),
        ("a", "h", "host", "out", "host-down", 30, 3),
        ("b", "0", "network", "in", "local", 100, 100),
        ("b", "h", "host", "in", "host-up", 60, 0),
    ]
)


def test_the_stall_flit_ratio_is_a_mean_over_a_routers_ports_then_over_routers() -> None:
    assert metrics.stall_flit_ratio(ROUTERS, ["a"], threshold=0) == pytest.approx((0.1 + 0.9 + 0.1) / 3)
    assert metrics.stall_flit_ratio(ROUTERS, threshold=0) == pytest.approx((1.1 / 3 + 1.0) / 2)


def test_samples_that_stall_less_than_the_threshold_are_ignored() -> None:
    """The mean stays one over all ports: of the local ports only those with at least 10 stalls per second count."""
    assert metrics.stall_thresholds(ROUTERS) == {"global": 5.0, "local": 10.0}
    assert metrics.stall_flit_ratio(ROUTERS, ["a"]) == pytest.approx((0.1 + 0.0 + 0.1) / 3)
    assert metrics.stall_flit_ratio(ROUTERS, ["a"], threshold={"local": 50.0}) == pytest.approx(0.1 / 3)


def test_host_ports_are_told_apart_by_direction() -> None:
    assert metrics.host_flits_per_s(ROUTERS, ["a"]) == 30
    assert metrics.host_flits_per_s(ROUTERS, ["a"], direction="in") == 20
    assert metrics.host_stalls_per_s(ROUTERS, ["a"]) == 3


def test_the_network_to_host_flit_ratio_is_that_of_the_means() -> None:
    assert metrics.network_host_flit_ratio(ROUTERS) == pytest.approx((260 / 4) / (80 / 2))


def test_what_the_table_does_not_know_is_no_number() -> None:
    unknown = ROUTERS.assign(stalls=float("nan"))
    assert pd.isna(metrics.stall_flit_ratio(unknown, threshold=0))
    assert pd.isna(metrics.stall_flit_ratio(ROUTERS, ["elsewhere"], threshold=0))


def test_the_five_statistics_are_those_of_the_ports() -> None:
    found = statistics(pd.Series([0.0, 1.0, 2.0, 3.0, 4.0]).to_numpy())
    assert found == pytest.approx({"mean": 2.0, "var": 2.0, "p75": 3.0, "p95": 3.8, "p99": 3.96})


def test_a_run_has_25_statistics_of_the_routers_that_its_nodes_are_attached_to() -> None:
    found = features(ROUTERS, ["a"])
    assert tuple(found) == NAMES and len(NAMES) == 25
    assert found["network_flits_mean"] == pytest.approx(160 / 3)
    assert found["host_flits_per_s_mean"] == 20
    assert found["network_host_flit_ratio_mean"] == pytest.approx(160 / 3 / 20)
    assert found["network_stall_flit_ratio_p75"] == pytest.approx(0.5)


def test_the_ratio_feature_is_the_ratio_of_the_averages() -> None:
    assert features(ROUTERS, ["a", "b"])["network_host_flit_ratio_mean"] == pytest.approx((260 / 4) / (80 / 2))


def test_routers_without_counters_are_an_error_that_names_them() -> None:
    with pytest.raises(InputError, match="0 of 1 routers"):
        features(ROUTERS, ["elsewhere"])


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(tmp_path / "counters.parquet", Counters(ROUTERS, ["a note"], {"n1": "a"}))
    again = read(tmp_path / "counters.parquet")
    pd.testing.assert_frame_equal(again.table, ROUTERS, check_dtype=False)
    assert (again.notes, again.router_of_node) == (["a note"], {"n1": "a"})


def test_a_table_with_a_port_twice_is_refused() -> None:
    with pytest.raises(InputError, match="two rows"):
        check(pd.concat([ROUTERS, ROUTERS.iloc[:1]]), "test")


def test_a_window_keeps_whole_intervals_only() -> None:
    assert len(window(Counters(ROUTERS), 0.0, 1.0).table) == len(ROUTERS)
    with pytest.raises(InputError, match="time window"):
        window(Counters(ROUTERS), 0.5, None)
