"""Rates, buffers and overheads of the sst engine's machine. No SST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import sst_machine_runs as runs
from test_sst_machine import TOPOLOGIES

from manynode.errors import UsageError
from phase3_sst.engines.sst.machine.build import machine_of
from phase3_sst.engines.sst.machine.host_model import host_model
from phase3_sst.engines.sst.machine.latency_ranges import TOLERANCE, latency_parameters, segments_of, time_of
from phase3_sst.engines.sst.machine.rates import rates_of
from phase3_sst.engines.sst.machine.sst_run_file import run_of
from phase3_sst.engines.sst.machine.switches import buffers_of
from phase3_sst.engines.sst.machine.wiring import wiring_of


def described(**changes: Any) -> tuple[Any, Any]:
    run = run_of(runs.run_content(runs.network(**changes), runs.job([0])))
    return run, rates_of(run.network, wiring_of(run.network["topology"]))


def rate(bandwidth: str) -> float:
    return float(bandwidth.removesuffix("Gb/s"))


@pytest.mark.parametrize("key", ["link_bw", "xbar_bw", "input_buf_size"])
def test_routers_grow_with_the_rate_of_their_links(key: str) -> None:
    values = []
    for gigabits in (20, 40, 100, 200, 400, 1000):
        run = run_of(runs.run_content(runs.at_rate(gigabits / 8 * 1e9), runs.job([0])))
        values.append(rate(machine_of(run).routers[0].parameters[key].removesuffix("B") + "Gb/s"
                           if key.endswith("size") else machine_of(run).routers[0].parameters[key]))  # fmt: skip
    assert values == sorted(set(values))


def test_a_buffer_holds_what_is_on_the_way_twice() -> None:
    for latency in (40e-9, 1000e-9):
        run, rates = described(link={"bandwidth_Bps": 125e9, "latency_s": latency})
        assert buffers_of(run, rates).input >= 2 * 125e9 * 2 * (latency + 110e-9)


def test_an_experiment_may_choose_the_buffers() -> None:
    def found(net: dict[str, Any], **options: Any) -> tuple[str, str]:
        parameters = machine_of(run_of(runs.run_content(net, runs.job([0]), **options))).routers[0].parameters
        return parameters["input_buf_size"], parameters["output_buf_size"]

    assert found(runs.network(), input_buffer_bytes=16384, output_buffer_bytes=8192) == ("16384B", "8192B")
    of_network = runs.network(input_buffer_bytes=32768, output_buffer_bytes=65536)
    assert found(of_network) == ("32768B", "65536B")
    assert found(of_network, output_buffer_bytes=8192) == ("32768B", "8192B")


@pytest.mark.parametrize(("gigabits", "flying"), [(100, 5), (400, 19)])
def test_buffers_are_those_of_the_engine_fast(gigabits: float, flying: int) -> None:
    """tests/cpp/fast/run_config_test.cpp has the same figures: 90 ns per link, 100 ns per switch, 2 KiB."""
    rate_Bps = gigabits * 1.25e8
    run, rates = described(
        link={"bandwidth_Bps": rate_Bps, "latency_s": 90e-9},
        nic_bandwidth_Bps=rate_Bps,
        switch_latency_s=100e-9,
        chunk_bytes=2048,
    )
    assert buffers_of(run, rates).input == (flying + 128) * 2048


@pytest.mark.parametrize(
    ("topology", "classes"),
    [
        ("full tree", {"host-up": 10e9, "host-down": 10e9}),
        ("like omni-path-100", {"level2-up": 5e9, "level2-down": 5e9}),
        ("dragonfly", {"global": 5e9}),
        ("dragonfly", {"local": 25e9}),
        ("torus", {"host-up": 3e9, "host-down": 3e9}),
    ],
)
def test_classes_of_links_get_rates_of_their_own(topology: str, classes: dict[str, float]) -> None:
    own = {name: {"bandwidth_Bps": value, "latency_s": 90e-9} for name, value in classes.items()}
    _, rates = described(topology=TOPOLOGIES[topology], link_classes=own)
    for name, value in classes.items():
        assert rates.classes[name] == min(value, 12.5e9 if name.startswith("host") else value)


def test_directions_of_a_cable_that_differ_are_refused() -> None:
    own = {"leaf-up": {"bandwidth_Bps": 12.5e9, "latency_s": 50e-9}}
    with pytest.raises(UsageError, match="two directions"):
        described(link_classes=own)


def test_a_slower_nic_sets_the_rate_of_the_links_of_hosts() -> None:
    _, rates = described(nic_bandwidth_Bps=5e9)
    assert rates.hosts == 5e9
    assert rates.classes["leaf-up"] == 12.5e9


OVERHEADS: list[list[tuple[int, float, float]]] = [
    [(0, 350e-9, 0.02e-9)],
    [(0, 300e-9, 0.0)],
    [(0, 170e-9, 4.3e-9), (36, 254e-9, 0.083e-9), (4097, 64e-9, 0.124e-9), (16385, 3.05e-6, 0.031e-9)],
    [(0, 546e-9, 10.4e-9), (35, 778e-9, 0.12e-9), (8087, 1.9e-6, 0.0), (16385, 0.0, 0.0187e-9)],
]


@pytest.mark.parametrize("segments", OVERHEADS)
def test_firefly_computes_the_overheads_of_all_sizes(segments: list[tuple[int, float, float]]) -> None:
    parameters = latency_parameters("txSetupMod", segments)
    for size in [*range(0, 200), *(2**power + step for power in range(8, 24) for step in (-1, 0, 1))]:
        wanted = max(time_of(segments, size), segments[0][1])  # never less than for no bytes
        assert abs(firefly(parameters, size) - wanted) <= max(1e-9, 1.02 * TOLERANCE * wanted), size
    assert len(parameters) < 700


def firefly(parameters: Mapping[str, Any], size: int, module: str = "txSetupMod") -> float:
    """What firefly's LatencyMod does with its parameters, in seconds."""
    seconds = float(parameters[f"{module}Params.base"].removesuffix("ns")) * 1e-9
    for key, value in parameters.items():
        if not key.startswith(f"{module}Params.range."):
            continue
        ends, factor = value.split(":")
        first, last = ends.split("-")
        if int(first) <= size and (not last or size <= int(last)):
            return seconds + size * float(factor.removesuffix("ns")) * 1e-9
    return seconds


def test_one_segment_is_exact() -> None:
    assert latency_parameters("m", [(0, 350e-9, 0.02e-9)]) == {
        "m": "firefly.LatencyMod",
        "mParams.base": "350.000000ns",
        "mParams.op": "Mult",
        "mParams.range.0000": "1-:0.020000000ns",
    }


@pytest.mark.parametrize("nanoseconds", [0.0, 0.4, 1.0, 1.5, 150.0, 150.25])
def test_bus_and_nic_together_take_the_latency_of_the_nic(nanoseconds: float) -> None:
    model = host_model(runs.network(nic_latency_s=nanoseconds * 1e-9), {})
    waited = int(model.nic["nic2host_lat"].removesuffix("ns"))
    assert max(waited - 1, 0) * 1000 + model.bus_ps == max(1, round(nanoseconds * 1000))


@pytest.mark.parametrize("waits_pay", [False, True])
def test_a_receive_is_charged_once(waits_pay: bool) -> None:
    net = runs.network()
    short, long = 1000, 100_000
    model = host_model(net, {}, waits_pay=waits_pay)

    def matched(size: int) -> float:
        return firefly(model.protocol, size, "rxMemcpyMod")

    def waited(size: int) -> float:
        return firefly(model.protocol, size, "rxFiniMod")

    assert matched(short) + waited(short) == pytest.approx(350e-9 + 0.02e-9 * short)
    assert (matched(short) == 0) is waits_pay
    # Long ones: `waited` between nodes, `matched` within one, with the handshakes and the copy.
    assert waited(long) == pytest.approx(350e-9 + 0.02e-9 * long, rel=0.005)
    assert matched(long) == pytest.approx(waited(long) + 2 * 300e-9 + long / 8e9, rel=0.005)


@pytest.mark.parametrize(
    ("changes", "pays"),
    [
        ({}, True),
        ({"collectives": "sst"}, False),
        ({"extra_parameters": runs.stock(("Init", {}), ("Fini", {}))}, False),
    ],
)
def test_ranks_of_the_own_motif_pay_in_the_wait(changes: dict[str, Any], pays: bool) -> None:
    content = runs.run_content(runs.network(), runs.job([0, 1]), **changes)
    machine = machine_of(run_of(content))
    assert run_of(content).ranks_pay_for_receives is pays
    assert (firefly(machine.protocol_parameters, 8, "rxMemcpyMod") == 0) is pays


def test_segments_come_from_the_run_file() -> None:
    assert segments_of([{"from_bytes": 0, "seconds": 1e-6, "seconds_per_byte": 2e-9}]) == [(0, 1e-6, 2e-9)]
