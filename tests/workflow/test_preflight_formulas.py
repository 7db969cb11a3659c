"""The pre-flight check on an engine that follows closed formulas, whole or with a defect: accepted and refused ones.

The real engines are checked in tests/workflow/test_preflight_run.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from pipeline import ROOT

from manynode.config.loader import load_experiment, resolve
from manynode.config.resolved import Resolved
from manynode.config.variation import with_value
from manynode.errors import CheckFailedError, EngineFailedError, UsageError
from phase3_sst.checks.line_rate import OVERHEAD, bisection_rate, line_rate, message_rate, overhead_s, slowest_link
from phase3_sst.checks.preflight import check_bisection, check_line_rate, check_network, least_share, verdict
from phase3_sst.checks.probes import Prober
from phase3_sst.checks.routing_load import busiest_link
from phase3_sst.checks.sweep_reaction import check_vary, written_values
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.point.contract import Measurement

CUT = 1152  # the demo's machine: 2,304 nodes, full bisection


@dataclass
class Formulas:
    """A network whose only contention is at its cut; ``slower`` multiplies the time of the named probes."""

    slower: Mapping[str, float] | None = None
    cut: int = CUT
    most_bytes: float = float("inf")

    def probe_bytes(self, network: Mapping[str, Any]) -> float:
        return self.most_bytes

    def probe(self) -> Any:
        raise AssertionError("the check does not ask where the engine is")

    def simulate(self, point: Any, directory: Any) -> None:
        raise AssertionError("the check simulates no points")

    def measure(self, run: Mapping[str, Any], timeout_s: float | None = None) -> Measurement:
        (job,) = run["jobs"]
        network, parameters = run["network"], job["application"]["parameters"]
        name, size = parameters.get("pattern", "own"), parameters.get("bytes", 0)
        host, link = network["host"], network["link"]
        latency = 6 * link["latency_s"] + 5 * network["switch_latency_s"] + 2 * host["nic_latency_s"]
        latency += overhead_s(host["overhead_send"], size) + overhead_s(host["overhead_recv"], size)
        rate = min(link["bandwidth_Bps"], host["nic_bandwidth_Bps"])
        if name == "ping-pong":
            seconds = 2 * (latency + size / rate)
        elif name == "bisection":
            seconds = latency + size / min(rate, self.cut * link["bandwidth_Bps"] / (job["nodes"] / 2))
        else:
            seconds = 1e-3 + 8 / network["intranode"]["bandwidth_Bps"]
        return Measurement(seconds * (self.slower or {}).get(name, 1.0), frozenset({"host-up", "host-down"}))


FLYER = {"kind": "dragonfly", "groups": 33, "routers_per_group": 8, "hosts_per_router": 4, "global_links": 4}


def tree(children: list[int], parents: list[int]) -> dict[str, Any]:
    return {"children": children, "parents": parents, "parallel_links": [1] * len(children)}


def experiment() -> Resolved:
    return load_experiment(ROOT / "configs" / "demo.yaml")


def network(key: str | None = None, value: object = None) -> dict[str, Any]:
    content = experiment()
    return Prober(content if key is None else with_value(content, key, value, "test"), Formulas()).network


def test_a_network_that_keeps_its_formulas_passes_both_probes() -> None:
    checks = check_network(experiment(), Formulas())
    assert [check.name.split(",")[0] for check in checks] == ["line rate", "bisection"]
    assert all(check.passed for check in checks)
    assert verdict(checks, "x")["checks"][0]["passed"] is True


def test_a_machine_of_one_node_has_no_network_to_check() -> None:
    content = machine(kind="fat-tree", children=[1], parents=[1], parallel_links=[1])
    assert check_network(content, Formulas()) == []


@pytest.mark.parametrize(
    ("engine", "name", "share"),
    [
        (Formulas(slower={"ping-pong": 1.1}), "line rate", "90.9%"),
        (Formulas(slower={"bisection": 1.1}), "bisection", "90.9%"),
        (Formulas(cut=CUT // 2), "bisection", "60.0%"),
        (Formulas(slower={"bisection": 0.9}), "bisection", "111."),
    ],
)
def test_a_probe_that_misses_its_formula_is_refused_by_name_with_the_figure(
    engine: Formulas, name: str, share: str
) -> None:
    with pytest.raises(CheckFailedError) as caught:
        verdict(check_network(experiment(), engine), "experiment.yaml")
    error = caught.value
    assert error.exit_code == 6
    assert f"pre-flight check: {name}" in error.what and share in str(error.found)
    assert error.remedy and "experiment.yaml" in error.render()


def test_a_latency_with_the_wrong_unit_is_refused() -> None:
    content = with_value(experiment(), "network.link.latency", "90 us", "test")
    with pytest.raises(CheckFailedError) as caught:
        verdict(check_network(content, Formulas()), "x")
    assert "network.link.latency" in str(caught.value.remedy)
    assert "540.9 us of latency" in str(caught.value.found)


@pytest.mark.parametrize(("bandwidth", "latency"), [("5 Gbit/s", "2 us"), ("1 Gbit/s", "5 us"), ("400 Gbit/s", "1 us")])
def test_slow_networks_pass(bandwidth: str, latency: str) -> None:
    content = experiment()
    for key, value in (
        ("network.link.bandwidth", bandwidth),
        ("network.host.nic_bandwidth", bandwidth),
        ("network.link.latency", latency),
    ):
        content = with_value(content, key, value, "test")
    for engine in (Formulas(), FastEngine()):
        checks = check_network(content, engine)
        assert [check.passed for check in checks] == [True, True], [check.answer for check in checks]


@pytest.mark.parametrize(
    ("key", "value", "limited_by"),
    [
        ("network.link.bandwidth", "20 Gbit/s", "network.link.bandwidth"),
        ("network.host.nic_bandwidth", "10 Gbit/s", "network.host.nic_bandwidth"),
        ("network.host.overhead_per_byte", "1 ns/B", OVERHEAD),
    ],
)
def test_what_limits_is_named_and_is_no_failure(key: str, value: str, limited_by: str) -> None:
    checks = check_network(with_value(experiment(), key, value, "test"), Formulas())
    assert checks[0].passed and checks[0].limited_by == limited_by


def test_the_line_rate_is_that_of_the_slowest_class_on_the_way() -> None:
    whole = network()
    slow = {**whole, "link_classes": {"leaf-up": {"bandwidth_Bps": 1e9, "latency_s": 0}}}
    assert slowest_link(slow, {"host-up"}).rate_Bps == pytest.approx(12.5e9)
    assert line_rate(slow, {"host-up", "leaf-up"}).key == "network.link_classes.leaf-up.bandwidth"
    striped = {**whole, "host": {**whole["host"], "rails": 2, "rail_choice": "striped"}}
    assert line_rate(striped, ()).rate_Bps == pytest.approx(25e9)


def test_the_processors_time_adds_to_that_of_the_line() -> None:
    """12.5 GB/s take 80 ps a byte; 20 ps at each end make it 120 ps."""
    size = 10**9
    assert message_rate(network(), (), size).rate_Bps == pytest.approx(1 / 120e-12, rel=1e-3)


def test_overheads_are_taken_from_the_segment_of_the_size() -> None:
    segments = [
        {"from_bytes": 0, "seconds": 1e-6, "seconds_per_byte": 0.0},
        {"from_bytes": 100, "seconds": 2e-6, "seconds_per_byte": 1e-9},
    ]
    assert overhead_s(segments, 99) == 1e-6 and overhead_s(segments, 100) == pytest.approx(2.1e-6)


def test_the_bisection_is_the_smaller_of_cut_and_nodes() -> None:
    free = {**network(), "host": {**network()["host"], "overhead_send": ZERO, "overhead_recv": ZERO}}
    assert bisection_rate(free, 1152, 1152, 1e6).rate_Bps == pytest.approx(1152 * 12.5e9)
    tapered = bisection_rate(free, 576, 1152, 1e6)
    assert tapered.rate_Bps == pytest.approx(576 * 12.5e9) and "bisection" in tapered.key


@pytest.mark.parametrize(
    ("topology", "nodes", "share"),
    [
        ({"kind": "fat-tree", "routing": "d-mod-k", **tree([8, 8], [1, 8])}, 64, 0.95),
        # Eight messages on three links: three, three and two; the formula counts three.
        ({"kind": "fat-tree", "routing": "d-mod-k", **tree([8, 4], [1, 3])}, 32, 0.95),
        ({"kind": "fat-tree", "routing": "d-mod-k", **tree([5, 3], [1, 5])}, 15, 0.2),
        ({"kind": "fat-tree", "routing": "adaptive", **tree([8, 8], [1, 8])}, 64, 0.2),
        ({"kind": "torus", "shape": [5, 5, 4], "hosts_per_switch": 1}, 100, 0.95),
        ({"kind": "torus", "shape": [16, 3], "hosts_per_switch": 1}, 48, 1 / 16),
        ({"kind": "torus", "shape": [3, 3], "hosts_per_switch": 1}, 9, 0.2),
        ({**FLYER, "routing": "minimal"}, 1056, 1 / 33),
        ({**FLYER, "routing": "ugal"}, 1056, 0.2),
    ],
)
def test_the_least_share_of_the_bisection_is_what_the_routing_can_reach(
    topology: dict[str, Any], nodes: int, share: float
) -> None:
    assert least_share({**network(), "topology": topology}, nodes) == pytest.approx(share)


ISSUED = {"kind": "fat-tree", "children": [6, 5, 3], "parents": [1, 3, 2], "parallel_links": [1, 1, 2]}


def machine(**topology: Any) -> Resolved:
    """The demo on another machine, with a job that fits any."""
    one_node = with_value(experiment(), "nodes", [1], "test")
    return with_value(one_node, "network.topology", topology, "test")


def test_where_the_halves_cut_a_subtree_the_messages_on_the_busiest_link_set_the_limit() -> None:
    """30 hosts under 3 switches with 4 links each: three messages on some links; the cut has 21 links for 45."""
    content = machine(**ISSUED, routing="d-mod-k")
    prober = Prober(content, Formulas(cut=15))
    assert busiest_link(prober.network, [(node, (node + 45) % 90) for node in range(90)]) == 3
    check = check_bisection(prober)
    assert check.passed and not check.warning and "3 messages share a link" in check.answer
    assert not check_bisection(Prober(content, Formulas(cut=13))).passed


@pytest.mark.parametrize(
    "topology",
    [
        {**ISSUED, "routing": "adaptive"},
        {"kind": "torus", "shape": [3, 3], "hosts_per_switch": 2},
        {"kind": "dragonfly", "groups": 3, "routers_per_group": 4, "hosts_per_router": 2, "global_links": 1},
    ],
)
def test_where_the_formula_is_a_bound_the_check_warns_and_goes_on(topology: dict[str, Any]) -> None:
    checks = check_network(machine(**topology), Formulas(slower={"bisection": 100}))
    assert checks[1].passed and checks[1].warning
    assert checks[1].line().startswith("WARNING bisection") and "upper bound" in checks[1].line()
    assert verdict(checks, "x")["checks"][1]["warning"] is True


def test_more_than_the_cut_is_refused_also_where_it_is_a_bound() -> None:
    topology = {"kind": "dragonfly", "groups": 2, "routers_per_group": 4, "hosts_per_router": 4, "global_links": 1}
    check = check_bisection(Prober(machine(**topology), Formulas(slower={"bisection": 0.2})))
    assert not check.passed and "defect" in check.remedy


def test_of_an_odd_number_of_nodes_the_one_in_the_middle_is_idle() -> None:
    exchange = Prober(machine(kind="fat-tree", children=[7], parents=[1], parallel_links=[1]), Formulas()).exchange()
    assert (exchange.nodes, exchange.apart) == ([0, 1, 2], 4)


def test_the_slowest_links_that_a_network_may_have_divide_nothing_by_zero() -> None:
    """1 Mbit/s, no latency, and processors that take no time."""
    content = machine(kind="torus", shape=[2], hosts_per_switch=1)
    content = with_value(content, "network.link", {"bandwidth": 125e3, "latency": 0.0}, "test")
    for key in ("overhead_send", "overhead_recv", "overhead_per_byte"):
        content = with_value(content, f"network.host.{key}", 0.0, "test")
    runs = Prober(content, Formulas())
    assert runs.exchange().size_bytes >= 1
    assert check_bisection(runs).passed and check_line_rate(runs).passed
    assert check_vary(content, Formulas(), "network.link.bandwidth", ["1 Mbit/s", "2 Mbit/s"]).passed


@pytest.mark.parametrize("name", ["ping-pong", "bisection"])
@pytest.mark.parametrize("factor", [0.0, float("inf"), float("nan")])
def test_a_probe_without_a_time_is_an_error_of_the_engine(name: str, factor: float) -> None:
    with pytest.raises(EngineFailedError, match="no time for a probe") as caught:
        check_network(experiment(), Formulas(slower={name: factor}))
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("key", ["network.link.bandwidth", "network.link.latency"])
def test_a_machine_of_one_node_has_no_network_to_vary(key: str) -> None:
    content = machine(kind="fat-tree", children=[1], parents=[1], parallel_links=[1])
    values = ["1 GB/s", "2 GB/s"] if key.endswith("bandwidth") else ["1 us", "2 us"]
    with pytest.raises(UsageError, match="one node") as caught:
        check_vary(content, Formulas(), key, values)
    assert caught.value.where == key


def test_with_flow_control_the_formula_of_a_torus_is_a_bound() -> None:
    torus = {
        **network(),
        "topology": {"kind": "torus", "shape": [5, 5, 4], "hosts_per_switch": 1},
        "flow_control": "credits",
    }
    assert least_share(torus, 100) == pytest.approx(0.2)
    assert least_share({**network(), "flow_control": "credits"}, 2304) == pytest.approx(0.95)


def test_where_classes_of_links_differ_the_formula_is_a_bound() -> None:
    classes = {"leaf-up": {"bandwidth_Bps": 12.5e8, "latency_s": 0}}
    assert least_share({**network(), "link_classes": classes}, 2304) == pytest.approx(0.02)


def test_without_contention_there_is_no_cut() -> None:
    free = {**network(), "contention": False}
    assert bisection_rate(free, 1, 1152, 1e6).key == "network.link.bandwidth"


ZERO = [{"from_bytes": 0, "seconds": 0.0, "seconds_per_byte": 0.0}]


def test_a_bandwidth_below_the_nics_moves_the_result() -> None:
    check = check_vary(experiment(), Formulas(), "network.link.bandwidth", ["20 Gbit/s", "50 Gbit/s", "100 Gbit/s"])
    assert check.passed


def test_a_sweep_beyond_the_nics_is_refused_and_the_nic_named() -> None:
    check = check_vary(experiment(), Formulas(), "network.link.bandwidth", ["20 Gbit/s", "100 Gbit/s", "1000 Gbit/s"])
    assert not check.passed and check.limited_by == "network.host.nic_bandwidth"
    assert (
        "100 Gbit/s to 1000 Gbit/s" in check.answer and "network.host.nic_bandwidth 100 Gbit/s limits" in check.answer
    )
    assert "scale network.host.nic_bandwidth" in check.remedy


def test_a_sweep_behind_the_processors_is_refused_and_they_are_named() -> None:
    content = with_value(experiment(), "network.host.overhead_per_byte", "10 ns/B", "test")
    content = with_value(content, "network.host.nic_bandwidth", "1000 Gbit/s", "test")
    check = check_vary(content, Formulas(), "network.link.bandwidth", ["100 Gbit/s", "200 Gbit/s"])
    assert not check.passed and check.limited_by == OVERHEAD


@pytest.mark.parametrize(
    ("key", "values", "moves"),
    [
        ("network.link.latency", ["90 ns", "100 ns"], True),
        ("network.host.overhead_send", ["350 ns", "400 ns"], True),
        ("network.host.overhead_per_byte", ["0.02 ns/B", "0.1 ns/B"], True),
        ("network.host.reduce_bandwidth", ["5 GB/s", "10 GB/s"], False),
        ("network.host.copy_bandwidth", ["5 GB/s", "10 GB/s"], False),
        ("network.host.collective_step", ["0 ns", "500 ns"], False),
        ("network.intranode.bandwidth", ["8 GB/s", "9 GB/s"], False),
        ("simulate.collectives.alltoall", ["pairwise", "scattered"], False),
    ],
)
def test_each_parameter_is_tried_with_a_probe_that_it_should_move(key: str, values: list[str], moves: bool) -> None:
    check = check_vary(experiment(), Formulas(), key, values)
    assert check.passed is moves
    assert moves or "0.00%" in check.answer


def test_what_phase_3_does_not_read_cannot_be_varied_here() -> None:
    with pytest.raises(UsageError, match="cannot vary"):
        check_vary(experiment(), Formulas(), "machine.core.frequency", ["1 GHz", "2 GHz"])


def test_values_of_the_command_line_keep_their_kind() -> None:
    assert written_values("20 Gbit/s, 100 Gbit/s") == ["20 Gbit/s", "100 Gbit/s"]
    assert written_values("1,2") == [1, 2]
    with pytest.raises(UsageError, match="--values"):
        written_values("20 Gbit/s")


def test_the_exchange_pairs_the_halves_of_the_machine() -> None:
    runs: list[Mapping[str, Any]] = []

    class Recorder(Formulas):
        def measure(self, run: Mapping[str, Any], timeout_s: float | None = None) -> Measurement:
            runs.append(run)
            return super().measure(run)

    whole = Prober(experiment(), Recorder()).exchange()
    (job,) = runs[0]["jobs"]
    assert job["nodes"] == 2304 and job["hosts"] == list(range(2304))
    assert (whole.pairs, whole.size_bytes) == (1152, 62_500_000)


def test_an_engine_that_cannot_afford_all_nodes_lets_some_of_them_exchange() -> None:
    """200 us at 100 Gbit/s are 2.5 MB; 640 MB are 128 of these in each direction, spread over the machine."""
    runs: list[Mapping[str, Any]] = []

    class Costly(Formulas):
        def measure(self, run: Mapping[str, Any], timeout_s: float | None = None) -> Measurement:
            runs.append(run)
            return super().measure(run)

    prober = Prober(experiment(), Costly(most_bytes=640e6))
    exchange = prober.exchange()
    (job,) = runs[0]["jobs"]
    assert (exchange.pairs, exchange.size_bytes) == (128, 2_500_000)
    assert job["hosts"][:3] == [0, 9, 18] and job["hosts"][128:130] == [1152, 1161]
    assert check_bisection(prober).passed


def test_the_fast_engine_moves_fewer_bytes_where_every_chunk_is_an_event() -> None:
    """5 ms at 37.6 Gbit/s (the slowest class) from all 1,536 nodes are 36 GB; 200 us of it are 1.4 GB."""
    runs: list[Mapping[str, Any]] = []

    class Recorder(FastEngine):
        def measure(self, run: Mapping[str, Any], timeout_s: float | None = None) -> Measurement:
            runs.append(run)
            return Measurement(1.0, frozenset())

    given = {**yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text()), "network": "xc-dragonfly-1536"}
    machine = resolve(given, where="test", base=ROOT / "configs")
    exchange = Prober(machine, Recorder()).exchange()
    assert (exchange.pairs, exchange.size_bytes) == (768, 940_000)
    assert runs[0]["jobs"][0]["nodes"] == 1536
