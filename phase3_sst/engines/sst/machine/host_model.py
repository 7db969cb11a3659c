"""Converts the LogGPS parameters of a host to parameters of firefly's NIC and message protocol.

README.md has the table of the conversion and its errors. All hidden costs of firefly (copies, matching, registration,
entering and leaving functions) are set to zero. A message then costs what the run file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phase3_sst.engines.sst.machine.latency_ranges import Segments, latency_parameters, segments_of
from phase3_sst.engines.sst.machine.sst_run_file import HEADER_BYTES

# Unlimited in practice: a NIC keeps everything from the network, and N-to-1 traffic never blocks it.
_ENDLESS = 1 << 20
# A rank's receive buffers for unexpected messages. Each takes the memory of an eager message.
_OFFERED_BYTES = 1 << 20
_LEAST_OFFERED, _MOST_OFFERED = 16, 64
_NOTHING = [(0, 0.0, 0.0)]
_LONGEST = 2**63
# Additional ones for posted receives.
_POSTED_BYTES = 8 << 20


@dataclass(frozen=True)
class HostModel:
    """Parameters by component, and the latencies of the links between them in picoseconds."""

    nic: Mapping[str, Any]
    virtual_nic: Mapping[str, Any]
    functions: Mapping[str, Any]  # of the OS layer
    protocol: Mapping[str, Any]
    bus_ps: int  # between rank and NIC
    loop_ps: int  # between rank and the path within the node, each way


def host_model(
    network: Mapping[str, Any], extra: Mapping[str, Mapping[str, Any]], *, waits_pay: bool = False
) -> HostModel:
    """Return the hosts' parameters; ``extra`` overrides those of "firefly.nic" and "firefly.protocol".

    ``waits_pay``: ranks wait for all messages that they receive, and pay themselves for short ones of their own node.
    firefly then charges receives in the call that waits, else short ones when they are matched, in any call.
    """
    host, intranode = network["host"], network["intranode"]
    latency_ps = round(host["nic_latency_s"] * 1e12)
    whole_ns, bus_ps = _split(latency_ps)
    eager = int(host["eager_limit_bytes"])
    offered = max(_LEAST_OFFERED, min(_MOST_OFFERED, _OFFERED_BYTES // max(eager, 1)))
    nic = {
        "nic2host_lat": f"{whole_ns}ns",
        "packetSize": f"{network['chunk_bytes'] + HEADER_BYTES}B",
        "packetOverhead": 0,
        "txDelay_ns": 0,
        "rxMatchDelay_ns": 0,
        # In our model, a request crosses the bus of the NIC that holds the data twice; in firefly's, never.
        "hostReadDelay_ns": round(2 * host["nic_latency_s"] * 1e9),
        "dmaBW_GBs": 0,
        "dmaContentionMult": 0,
        "maxSendMachineQsize": 1,
        "maxRecvMachineQsize": _ENDLESS,
        "maxActiveRecvStreams": _ENDLESS,
        "maxPendingRecvPkts": _ENDLESS,
        "verboseLevel": 0,
    }
    receive = segments_of(host["overhead_recv"])
    short = [part for part in receive if part[0] <= eager]
    matched = [*(_NOTHING if waits_pay else short), *_within_node(_beyond(receive, eager), intranode)]
    waited = receive if waits_pay else [*_NOTHING, *_beyond(receive, eager)]
    protocol = {
        **latency_parameters("txSetupMod", segments_of(host["overhead_send"])),
        **latency_parameters("txMemcpyMod", _NOTHING),
        **latency_parameters("rxSetupMod", _NOTHING),
        **latency_parameters("rxMemcpyMod", matched),
        **latency_parameters("rxFiniMod", waited),
        "shortMsgLength": eager,
        "matchDelay_ns": 0,
        "regRegionBaseDelay_ns": 0,
        "regRegionPerPageDelay_ns": 0,
        "sendAckDelay_ns": 0,
        "pqs.maxUnexpectedMsg": _ENDLESS,
        "pqs.maxPostedShortBuffers": max(offered, _POSTED_BYTES // max(eager, 1)),
        "pqs.minPostedShortBuffers": offered,
    }
    return HostModel(
        nic={**nic, **extra.get("firefly.nic", {})},
        virtual_nic={"latPerSend_ns": 0, **extra.get("firefly.virtual_nic", {})},
        functions={"functionSM.defaultEnterLatency": 0, "functionSM.defaultReturnLatency": 0},
        protocol={**protocol, **extra.get("firefly.protocol", {})},
        bus_ps=bus_ps,
        loop_ps=max(1, round(intranode["latency_s"] * 1e12 / 2)),
    )


def _split(latency_ps: int) -> tuple[int, int]:
    """Return firefly's whole nanoseconds and the latency of its link to the NIC.

    firefly waits one nanosecond less than its parameter, because it expects one on the link. The link gets the rest.
    """
    whole_ns = max(0, latency_ps // 1000)
    return whole_ns, max(1, latency_ps - max(0, whole_ns - 1) * 1000)


def _beyond(segments: Segments, eager: int) -> list[tuple[int, float, float]]:
    """Return the segments of messages longer than ``eager``."""
    ends = [*(part[0] for part in segments[1:]), _LONGEST]
    return [
        (max(first, eager + 1), seconds, per_byte)
        for place, (first, seconds, per_byte) in enumerate(segments)
        if ends[place] > eager + 1
    ]


def _within_node(long: Segments, intranode: Mapping[str, Any]) -> list[tuple[int, float, float]]:
    """Return a rank's cost of a matched message of its own node, longer than an eager one.

    It has the two handshakes and the copy.
    """
    handshakes, per_byte = 2 * intranode["latency_s"], 1 / intranode["bandwidth_Bps"]
    return [(first, s + handshakes, b + per_byte) for first, s, b in long]
