"""The board's memory: channels of DRAM, or a latency and a bandwidth."""

from __future__ import annotations

from typing import Any

from m5 import objects

from phase2_nodesim.gem5.board.ending import stop

_BLOCK_BITS = 8
"""Neighbouring blocks of 256 bytes lie in different channels."""


def controllers(wanted: dict[str, Any], whole: Any) -> list[Any]:
    """Return memory controllers for the range ``whole``, with a ``port`` each."""
    if wanted["dram"] is None:
        bandwidth = f"{wanted['bandwidth'] / 1e9:.6f}GB/s"
        return [objects.SimpleMemory(range=whole, latency=f"{wanted['latency_s']:.12f}s", bandwidth=bandwidth)]
    kind = getattr(objects, wanted["dram"], None)
    if kind is None:
        stop(f"this gem5 has no memory {wanted['dram']}; name another in the machine file (memory: dram)")
    # Row opened, column read, burst: what the device adds to an idle load. The rest of the latency is the way.
    device = sum(float(getattr(kind, name).value) for name in ("tRCD", "tCL", "tBURST"))
    way = f"{max(0.0, wanted['latency_s'] - device) / 2:.12f}s"
    return [
        objects.MemCtrl(
            dram=kind(range=_part(wanted, whole, index)), static_frontend_latency=way, static_backend_latency=way
        )
        for index in range(wanted["channels"])
    ]


def _part(wanted: dict[str, Any], whole: Any, index: int) -> Any:
    bits = wanted["channels"].bit_length() - 1
    if bits == 0:
        return whole
    return objects.AddrRange(
        0, size=f"{wanted['bytes']}B", intlvHighBit=_BLOCK_BITS + bits - 1, intlvBits=bits, intlvMatch=index
    )
