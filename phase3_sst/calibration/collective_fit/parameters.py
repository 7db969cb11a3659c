"""What a fit to collectives may change: times of the host, in order, as a vector of non-negative numbers.

In: a network file's content in SI units. Out: a :class:`Parameter` for each number, with its value in the base network
and the spread that the fit starts from, and the network with other values. Every parameter is a time (per message, or
per byte), because the time of a collective is then close to a linear function of each.

The overheads of both ends are fitted apart for the shortest messages. What longer ones cost beyond them is one curve,
of which each end has half: fixed costs that begin at a size (:func:`jumps_of`), and a cost per byte between two sizes
(``SLOPES``). Beside it is a latency that begins at a size, which keeps no processor busy (``LATENCY``): steps of a ring
show both, many messages at once only the former. The time per byte of combining or copying is told at a size that lies
in each level of memory (``RATE_SIZES``); it goes from one to the next by the logarithm of the size, because a working
set leaves a cache little by little. Neighbouring levels are alike a priori (:func:`smoothness`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

KIB, MIB = 1024, 2**20
# Where a message may begin to cost more, unless the base network knows better: closer where protocols change (messages
# of one packet, eager ones) than where memory decides. The first: a message that is part of its command. That is one of
# 192 bytes on Slingshot (libfabric, prov/cxi, C_MAX_IDC_PAYLOAD_UNR), and about as many on InfiniBand, where command,
# headers and data fill a BlueFlame register of 256 bytes (mlx5).
JUMPS = (193, KIB, 8 * KIB, 64 * KIB, 512 * KIB, 4 * MIB)
SLOPES = (0, 8 * KIB, 512 * KIB)
# A buffer in the first-level cache, the second level, the last level, memory.
RATE_SIZES = (8 * KIB, 256 * KIB, 4 * MIB, 64 * MIB)
# Fresh memory comes in small pages, or in huge ones.
FRESH_SIZES = (MIB, 64 * MIB)
OVERHEADS = ("overhead_send", "overhead_recv")
JUMP, SLOPE, LATENCY = "overhead from", "overhead per byte from", "message_latency from"
# The latest size from which a message may have a longer latency: beyond it, its bytes decide.
MOST_LATENCY = 64 * KIB
TIMES = ("collective_step", "collective_call", "nic_latency", "gap")
RATES = ("reduce_bandwidth", "copy_bandwidth", "fresh_bandwidth")
# Of two neighbouring levels of memory, in spreads of a rate.
_STEP_BETWEEN = 1 / 3
# Clearing and registering a page of 4 KiB in 2 us.
_FRESH_SPREAD_S_PER_B = 5e-10
# A byte's overhead beside its time on the wire, a priori.
_WIRE_SHARE = 0.5
_SPREAD = 1.5
# A size where the overheads of the base change replaces those of JUMPS within this factor.
_NEAR = 4
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
    jumps = jumps_of(host)
    curve = [sum(_overhead_at(host, key, size) - _overhead_at(host, key, 0) for key in OVERHEADS) for size in jumps]
    for size, before, after in zip(jumps, [0.0, *curve], curve, strict=False):
        rise = max(0.0, after - before)
        found.append(Parameter(JUMP, size, rise, max(_SPREAD * rise, _LEAST_SPREAD_S, _WIRE_SHARE * size * wire)))
    latencies = [_overhead_at({**host, "overhead_per_byte": 0.0}, "message_latency", size) for size in (0, *jumps)]
    found += [
        Parameter(LATENCY, size, max(0.0, at - before), max(_SPREAD * (at - before), _LEAST_SPREAD_S))
        for size, before, at in zip(jumps, latencies, latencies[1:], strict=False)
        if size <= MOST_LATENCY
    ]
    found += [Parameter(SLOPE, size, 0.0, _WIRE_SHARE * wire) for size in SLOPES]
    spreads = {"collective_step": _STEP_SPREAD_S, "collective_call": 2 * _STEP_SPREAD_S, "gap": _LEAST_SPREAD_S}
    found += [
        Parameter(key, None, host[key], max(host[key], spreads.get(key, _STEP_SPREAD_S)))
        for key in TIMES
        if key in host
    ]
    found.append(Parameter("nic_bandwidth", None, 1 / host["nic_bandwidth"], _WIRE_SHARE / host["nic_bandwidth"]))
    for key in RATES:
        spread = _FRESH_SPREAD_S_PER_B if key == "fresh_bandwidth" else 0.0
        found += [
            Parameter(key, size, rate, max(spread, _SPREAD * max(rate, wire)))
            for size, rate in zip(sizes_of(key), _rates(host.get(key), sizes_of(key)), strict=True)
        ]
    return tuple(found)


def jumps_of(host: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the sizes from which a message may cost more: where the overheads of the base change, else ``JUMPS``."""
    values = [host[key] for key in OVERHEADS if isinstance(host[key], Sequence)]
    known = {round(part["from"]) for segments in values for part in segments if part["from"] > 0}
    others = {size for size in JUMPS if all(max(size, own) >= _NEAR * min(size, own) for own in known)}
    return tuple(sorted(known | others))


def sizes_of(key: str) -> tuple[int, ...]:
    """Return the sizes at which the rate ``key`` is fitted."""
    return FRESH_SIZES if key == "fresh_bandwidth" else RATE_SIZES


def smoothness(parameters: Sequence[Parameter]) -> NDArray[np.float64]:
    """Return rows of the prior beside each parameter's own: (value - base) / spread times a row is about 0 +- 1.

    A row per two neighbouring sizes of a rate.
    """
    pairs = [
        index
        for index in range(len(parameters) - 1)
        if parameters[index].key in RATES and parameters[index].key == parameters[index + 1].key
    ]
    rows = np.zeros((len(pairs), len(parameters)))
    for row, index in enumerate(pairs):
        width = _STEP_BETWEEN * (parameters[index].spread + parameters[index + 1].spread) / 2
        rows[row, index] = parameters[index].spread / width
        rows[row, index + 1] = -parameters[index + 1].spread / width
    return rows


def _overhead_at(host: Mapping[str, Any], key: str, size: int) -> float:
    value = host[key]
    if not isinstance(value, Sequence):
        return float(value + host["overhead_per_byte"] * size)
    segment = [part for part in value if part["from"] <= size][-1]
    return float(segment["time"] + segment["per_byte"] * size)


def _rates(value: Any, sizes: Sequence[int]) -> list[float]:
    """Return the time per byte at each of ``sizes``; 0 where it costs nothing."""
    if value is None:
        return [0.0] * len(sizes)
    if not isinstance(value, Sequence):
        return [1 / value] * len(sizes)
    return [1 / [part["bandwidth"] for part in value if part["from"] <= size][-1] for size in sizes]


def with_values(network: Mapping[str, Any], parameters: Sequence[Parameter], values: Sequence[float]) -> dict[str, Any]:
    """Return ``network`` with ``values`` of ``parameters`` (SI units), to be read as a network file's content."""
    host = dict(network["host"])
    of: dict[str, list[float]] = {}
    for parameter, value in zip(parameters, values, strict=True):
        of.setdefault(parameter.key, []).append(float(value))
    jumps, latencies = (
        {
            parameter.size: float(value)
            for parameter, value in zip(parameters, values, strict=True)
            if parameter.key == key and parameter.size is not None
        }
        for key in (JUMP, LATENCY)
    )
    for key in OVERHEADS:
        host[key] = _segments(of[key][0], jumps, of[SLOPE])
    host["overhead_per_byte"] = 0.0
    shortest = _overhead_at({**host, "overhead_per_byte": 0.0}, "message_latency", 0)
    host["message_latency"] = _latency_segments(shortest, latencies)
    for key in TIMES:
        if key in of:
            host[key] = of[key][0]
    host["nic_bandwidth"] = 1 / of["nic_bandwidth"][0]
    for key in RATES:
        # A base without a rate for copies or fresh memory keeps none while they cost nothing.
        if host.get(key) is not None or max(of[key]) > 10 * _FREE_S_PER_B:
            host[key] = _rate_segments(sizes_of(key), of[key])
    return {**network, "host": host}


def _latency_segments(shortest: float, jumps: Mapping[int, float]) -> list[dict[str, float]] | float:
    """Return the latency by size, where messages of some size have one."""
    sums = np.cumsum(list(jumps.values()))
    rising = {
        float(size): shortest + float(total)
        for size, total, jump in zip(jumps, sums, jumps.values(), strict=True)
        if jump > 0
    }
    return (
        [{"from": size, "time": time, "per_byte": 0.0} for size, time in {0.0: shortest, **rising}.items()]
        if rising
        else shortest
    )


def _rate_segments(sizes: Sequence[int], rates: Sequence[float]) -> list[dict[str, float]]:
    """Return a segment for each doubling of the size, with the time per byte in its middle."""
    exponents = np.log2(sizes)
    begins = np.arange(exponents[0], exponents[-1])
    middles = np.interp(begins + 0.5, exponents, rates)
    segments = {0.0: rates[0], **dict(zip(2**begins, middles, strict=True)), float(sizes[-1]): rates[-1]}
    return [{"from": float(size), "bandwidth": 1 / max(float(rate), _FREE_S_PER_B)} for size, rate in segments.items()]


def _segments(shortest: float, jumps: Mapping[int, float], slopes: Sequence[float]) -> list[dict[str, float]]:
    """Return the segments of one end, which has half of what ``jumps`` and ``slopes`` say."""
    found = []
    for begin in sorted({0, *jumps, *SLOPES}):
        fixed = shortest + sum(jump for size, jump in jumps.items() if size <= begin) / 2
        slope = [value for size, value in zip(SLOPES, slopes, strict=True) if size <= begin][-1] / 2
        found.append({"from": float(begin), "time": fixed, "per_byte": slope})
    return found
