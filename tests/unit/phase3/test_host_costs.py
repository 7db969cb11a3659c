"""Costs of the run file's host: overheads by size, with the copies of eager messages."""

from __future__ import annotations

from typing import Any

import pytest
from phase3_cases import ROOT
from pydantic import ValidationError

from manynode.config.network import Host
from manynode.config.written_form import quantity_of
from phase3_sst.calibration.collective_fit import parameters as fit
from phase3_sst.checks.sweep_reaction import _large, _own, _probe_for
from phase3_sst.point.host_costs import host_description, overhead_segments

RATES = [{"from": "0 B", "bandwidth": "20 GB/s"}, {"from": "4 KiB", "bandwidth": "10 GB/s"}]
OVERHEADS = [{"from": "0 B", "time": "300 ns", "per_byte": "0.01 ns/B"}, {"from": "1 KiB", "time": "400 ns"}]


def host(**keys: Any) -> Host:
    return Host.model_validate({"eager_limit": "8 KiB", "overhead_recv": OVERHEADS, **keys})


def rows(host: Host, key: Any) -> list[tuple[float, float, float]]:
    """Return the segments: first size [B], time [ns], time per byte [ns]."""
    return [
        (part["from_bytes"], round(part["seconds"] * 1e9, 6), round(part["seconds_per_byte"] * 1e9, 6))
        for part in overhead_segments(host, key)
    ]


def test_the_receiver_copies_eager_messages_at_the_rate_of_their_size() -> None:
    copying = host(eager_copy="receiver", copy_bandwidth=RATES)
    assert rows(copying, "overhead_recv") == [
        (0, 300, 0.06),
        (1024, 400, 0.05),
        (4096, 400, 0.1),
        (8193, 400, 0),
    ]
    assert rows(copying, "overhead_send") == [(0, 300, 0)]


def test_both_ends_may_copy() -> None:
    copying = host(eager_copy="both", copy_bandwidth="10 GB/s", overhead_per_byte="0.5 ns/B")
    assert rows(copying, "overhead_send") == [(0, 300, 0.6), (8193, 300, 0.5)]
    assert rows(copying, "overhead_recv") == [(0, 300, 0.11), (1024, 400, 0.1), (8193, 400, 0)]


def test_rates_beyond_the_eager_limit_are_not_asked() -> None:
    rates = [*RATES, {"from": "1 MiB", "bandwidth": "1 GB/s"}]
    assert [row[0] for row in rows(host(eager_copy="receiver", copy_bandwidth=rates), "overhead_recv")][-1] == 8193


def test_without_copies_overheads_are_as_written() -> None:
    for rate in (None, "10 GB/s"):
        assert rows(host(copy_bandwidth=rate), "overhead_recv") == [(0, 300, 0.01), (1024, 400, 0)]


def test_the_run_file_has_the_copies_as_overhead() -> None:
    described = host_description(host(eager_copy="receiver", copy_bandwidth="10 GB/s"))
    assert "eager_copy" not in described
    last = {"from_bytes": 8193, "seconds": 400e-9, "seconds_per_byte": 0.0}
    assert described["overhead_recv"][-1] == pytest.approx(last)


def test_copies_without_a_rate_are_refused() -> None:
    with pytest.raises(ValidationError, match="eager_copy: receiver: copies have no rate; give copy_bandwidth"):
        host(eager_copy="receiver")


# Another value of each key of a host: a new key needs one here, and a place in the lists that the tests below name.
OTHER = {
    **dict.fromkeys(("overhead_send", "overhead_recv", "gap", "nic_latency", "message_latency"), "7 us"),
    **dict.fromkeys(("collective_call", "collective_step"), "7 us"),
    **dict.fromkeys(("nic_bandwidth", "reduce_bandwidth", "copy_bandwidth", "fresh_bandwidth"), "7 GB/s"),
    **{"overhead_per_byte": "7 ns/B", "eager_limit": "7 KiB", "eager_copy": "both"},
    **{"rails": 2, "rail_stride": 2, "rail_choice": "striped", "receive": "on-arrival"},
}


def test_every_key_of_a_host_is_in_the_run_file() -> None:
    assert OTHER.keys() == Host.model_fields.keys()
    before = {"copy_bandwidth": "10 GB/s"}
    for key, value in OTHER.items():
        assert host_description(host(**before | {key: value})) != host_description(host(**before)), key


def test_lists_of_the_costs_of_hosts_have_all_of_them() -> None:
    costs = {key for key, field in Host.model_fields.items() if quantity_of(field) and key != "eager_limit"}
    # The fit has it in its curve of overheads, and the run file in both of them.
    costs.remove("overhead_per_byte")
    longest = (ROOT / "phase3_sst/machine/end_of_time.cpp").read_text()
    assert {key for key in costs if f'"network.host.{key}"' in longest} == costs
    assert {*fit.OVERHEADS, *fit.TIMES, *fit.RATES, "message_latency", "nic_bandwidth"} == costs


def test_a_network_varies_by_a_probe_that_depends_on_the_key() -> None:
    """A rate of the processor's own work shows in no ping-pong."""
    keys = (*fit.RATES, "nic_bandwidth", "copy_bandwidth.0.bandwidth")
    found = {key: _probe_for(f"network.host.{key}")[1] for key in keys}
    assert found.pop("nic_bandwidth") is _large and set(found.values()) == {_own}
    assert _probe_for("network.link_classes.leaf-up.bandwidth")[1] is _probe_for("network.link.bandwidth")[1] is _large
    assert _probe_for("network.intranode.bandwidth")[1] is _own
