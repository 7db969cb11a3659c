"""Costs of the run file's host: overheads by size, with the copies of eager messages."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from manynode.config.network import Host
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
