"""The run file's host: what a message and the local work of a collective cost, by size (SI units).

In: a network's :class:`Host`. Out: the member ``host`` of the run file. The copy of an eager message is part of the
overhead there, so that every engine charges it.
"""

from __future__ import annotations

from typing import Any, Literal

from manynode.config.network import BandwidthSegment, Host

_COPYING = {"overhead_send": ("both",), "overhead_recv": ("both", "receiver")}


def host_description(host: Host) -> dict[str, Any]:
    """Return the run file's ``host``."""
    return {
        "overhead_send": overhead_segments(host, "overhead_send"),
        "overhead_recv": overhead_segments(host, "overhead_recv"),
        "gap_s": host.gap,
        "eager_limit_bytes": round(host.eager_limit),
        "nic_bandwidth_Bps": host.nic_bandwidth,
        "nic_latency_s": host.nic_latency,
        **_message_latency(host),
        "reduce_bandwidth_Bps": bandwidth_of_run(host.reduce_bandwidth),
        **_local_work(host),
        "rails": host.rails,
        "rail_stride": host.rail_stride,
        "rail_choice": host.rail_choice,
        "receive": host.receive,
    }


def overhead_segments(host: Host, key: Literal["overhead_send", "overhead_recv"]) -> list[dict[str, float]]:
    """Return the overhead ``key`` of a host in the form of the run file (SI units), with the copy of eager messages."""
    overhead = host.overhead_send if key == "overhead_send" else host.overhead_recv
    if isinstance(overhead, list):
        own = {round(part.from_): (part.time, part.per_byte) for part in overhead}
    else:
        own = {0: (overhead, host.overhead_per_byte)}
    copies = _eager_copies(host) if host.eager_copy in _COPYING[key] else {0: 0.0}
    found = []
    for begin in sorted(own.keys() | copies.keys()):
        seconds, per_byte = own[max(start for start in own if start <= begin)]
        copied = copies[max(start for start in copies if start <= begin)]
        found.append({"from_bytes": begin, "seconds": seconds, "seconds_per_byte": per_byte + copied})
    return found


def _eager_copies(host: Host) -> dict[int, float]:
    """Return the sizes from which the copy of a message takes another time per byte [s]; 0 for those not eager."""
    rates = host.copy_bandwidth
    assert rates is not None  # Host._segments refuses it
    parts = [(round(part.from_), part.bandwidth) for part in rates] if isinstance(rates, list) else [(0, rates)]
    longer = round(host.eager_limit) + 1
    return {**{begin: 1 / bandwidth for begin, bandwidth in parts if begin < longer}, longer: 0.0}


def bandwidth_of_run(bandwidth: float | list[BandwidthSegment]) -> float | list[dict[str, float]]:
    """Return a rate of a host in the form of the run file (SI units)."""
    if not isinstance(bandwidth, list):
        return bandwidth
    return [{"from_bytes": round(part.from_), "bandwidth_Bps": part.bandwidth} for part in bandwidth]


def _message_latency(host: Host) -> dict[str, Any]:
    """Return the latency of a message by its size; nothing where there is none."""
    latency = host.message_latency
    segments = (
        [{"from_bytes": round(part.from_), "seconds": part.time, "seconds_per_byte": part.per_byte} for part in latency]
        if isinstance(latency, list)
        else [{"from_bytes": 0, "seconds": latency, "seconds_per_byte": 0.0}]
    )
    costs = any(part["seconds"] > 0 or part["seconds_per_byte"] > 0 for part in segments)
    return {"message_latency": segments} if costs else {}


def _local_work(host: Host) -> dict[str, Any]:
    """Return the costs of collectives beside messages and reductions; none that take no time."""
    rates = {"copy_bandwidth_Bps": host.copy_bandwidth, "fresh_bandwidth_Bps": host.fresh_bandwidth}
    work = {key: bandwidth_of_run(rate) for key, rate in rates.items() if rate is not None}
    times = {"collective_call_s": host.collective_call, "collective_step_s": host.collective_step}
    return {**work, **{key: time for key, time in times.items() if time > 0}}
