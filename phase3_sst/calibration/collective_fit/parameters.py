"""What a fit to collectives may change: times of the host, in order, as a vector of non-negative numbers.

In: a network file's content in SI units. Out: a :class:`Parameter` for each number, with its value in the base network
and the spread that the fit starts from, and the network with other values. Every parameter is a time (per message, or
per byte), because the time of a collective is then close to a linear function of each.

The overheads of both ends are fitted apart for the shortest messages. What longer ones cost beyond them is one curve,
of which each end has half: fixed costs that begin at a size (``JUMPS``), and a cost per byte between two sizes
(``SLOPES``). A rate of combining or copying is constant between two sizes (``RATE_KNOTS``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KIB, MIB = 1024, 2**20
# Closer where protocols change (messages inside a descriptor, of one packet, eager ones) than where memory decides.
JUMPS = (64, 256, KIB, 8 * KIB, 64 * KIB, 512 * KIB, 4 * MIB)
SLOPES = (0, 8 * KIB, 512 * KIB)
# First-level cache, second level, last level, memory.
RATE_KNOTS = (0, 32 * KIB, 512 * KIB, 8 * MIB)
OVERHEADS = ("overhead_send", "overhead_recv")
JUMP, SLOPE = "overhead from", "overhead per byte from"
TIMES = ("collective_step", "collective_call", "nic_latency", "gap")
RATES = ("reduce_bandwidth", "copy_bandwidth")
# A byte's overhead beside its time on the wire, a priori.
_WIRE_SHARE = 0.5
_SPREAD = 1.5
_STEP_SPREAD_S = 1e-6
_LEAST_SPREAD_S = 5e-7
# As good as free: no memory copies so fast.
_FREE_S_PER_B = 1e-14


@dataclass(frozen=True)
class Parameter:
    """One number of the fit: its key in the network file, the size that it belongs to, value and spread of the base."""

    key: str
    size: int | None
    base: float
    spread: float

    @property
    def name(self) -> str:
        """Return the key, and the size of a curve's point."""
        return (
            self.key if self.size is None else f"{self.key}{'' if 'from' in self.key else ' at'} {size_text(self.size)}"
        )


def size_text(value: int) -> str:
    """Return a size in its largest whole unit."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if value >= unit and value % unit == 0:
            return f"{value // unit} {name}"
    return f"{value} B"


def parameters_of(network: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the parameters of ``network`` (a resolved network file, SI units)."""
    host = network["host"]
    wire = 1 / min(host["nic_bandwidth"], network["link"]["bandwidth"])
    found = []
    for key in OVERHEADS:
        at = _overhead_at(host, key, 0)
        found.append(Parameter(key, None, at, max(_SPREAD * at, _LEAST_SPREAD_S)))
    # The base's curve as jumps: each is what it rises between two of them, halfway in their ratio.
    curve = [sum(_overhead_at(host, key, size) - _overhead_at(host, key, 0) for key in OVERHEADS) for size in JUMPS]
    for size, before, after in zip(JUMPS, [0.0, *curve], curve, strict=False):
        rise = max(0.0, after - before)
        found.append(Parameter(JUMP, size, rise, max(_SPREAD * rise, _LEAST_SPREAD_S, _WIRE_SHARE * size * wire)))
    found += [Parameter(SLOPE, size, 0.0, _WIRE_SHARE * wire) for size in SLOPES]
    spreads = {"collective_step": _STEP_SPREAD_S, "collective_call": 2 * _STEP_SPREAD_S, "gap": _LEAST_SPREAD_S}
    found += [
        Parameter(key, None, host[key], max(host[key], spreads.get(key, _STEP_SPREAD_S)))
        for key in TIMES
        if key in host
    ]
    found.append(Parameter("nic_bandwidth", None, 1 / host["nic_bandwidth"], _WIRE_SHARE / host["nic_bandwidth"]))
    for key in RATES:
        found += [
            Parameter(key, knot, rate, _SPREAD * max(rate, wire))
            for knot, rate in zip(RATE_KNOTS, _rates(host.get(key)), strict=True)
        ]
    return tuple(found)


def _overhead_at(host: Mapping[str, Any], key: str, size: int) -> float:
    value = host[key]
    if not isinstance(value, Sequence):
        return float(value + host["overhead_per_byte"] * size)
    segment = [part for part in value if part["from"] <= size][-1]
    return float(segment["time"] + segment["per_byte"] * size)


def _rates(value: Any) -> list[float]:
    """Return the time per byte from each of ``RATE_KNOTS`` on; 0 where it costs nothing."""
    if value is None:
        return [0.0] * len(RATE_KNOTS)
    if not isinstance(value, Sequence):
        return [1 / value] * len(RATE_KNOTS)
    return [1 / [part["bandwidth"] for part in value if part["from"] <= knot][-1] for knot in RATE_KNOTS]


def with_values(network: Mapping[str, Any], parameters: Sequence[Parameter], values: Sequence[float]) -> dict[str, Any]:
    """Return ``network`` with ``values`` of ``parameters`` (SI units), to be read as a network file's content."""
    host = dict(network["host"])
    of: dict[str, list[float]] = {}
    for parameter, value in zip(parameters, values, strict=True):
        of.setdefault(parameter.key, []).append(float(value))
    for key in OVERHEADS:
        host[key] = _segments(of[key][0], of[JUMP], of[SLOPE])
    host["overhead_per_byte"] = 0.0
    for key in TIMES:
        if key in of:
            host[key] = of[key][0]
    host["nic_bandwidth"] = 1 / of["nic_bandwidth"][0]
    for key in RATES:
        # A base without a rate for copies keeps none while they cost nothing.
        if host.get(key) is not None or max(of[key]) > _FREE_S_PER_B:
            host[key] = [
                {"from": float(knot), "bandwidth": 1 / max(rate, _FREE_S_PER_B)}
                for knot, rate in zip(RATE_KNOTS, of[key], strict=True)
            ]
    return {**network, "host": host}


def _segments(shortest: float, jumps: Sequence[float], slopes: Sequence[float]) -> list[dict[str, float]]:
    """Return the segments of one end, which has half of what ``jumps`` and ``slopes`` say."""
    found = []
    for begin in sorted({0, *JUMPS, *SLOPES}):
        fixed = shortest + sum(jump for size, jump in zip(JUMPS, jumps, strict=True) if size <= begin) / 2
        slope = [value for size, value in zip(SLOPES, slopes, strict=True) if size <= begin][-1] / 2
        found.append({"from": float(begin), "time": fixed, "per_byte": slope})
    return found
