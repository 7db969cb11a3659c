"""Fits the host parameters of a network (LogGPS) to measured messages between two nodes.

The model is that of the fast engine, for one message at a time over idle links::

    half round trip(n) = o_s(n) + c * (2 * nic latency + path latency) + n / bandwidth + o_r(n)

with ``c`` = 1 up to the eager limit and 3 beyond (request, answer, data). Latencies come from the base network. The
bandwidth is the slope of the last piece of the measured curve, and the eager limit is one of its breaks. The remainder
is processor time: o_s is the duration of the calls of send and isend, o_r the rest. Without durations of calls, the
remainder is halved.

In: the table of ``measurements.py`` and the values of the base network. Out: a :class:`Fit`, which also marks each
parameter as fitted or assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from manynode.errors import CheckFailedError, InputError
from manynode.units import render
from phase3_sst.calibration.pieces import Array, Piece, evaluate, fit_pieces

if TYPE_CHECKING:
    import pandas as pd

CROSSINGS_OF_RENDEZVOUS = 3
MOST_PIECES = 6
# A rate can be fitted if the bytes take at least this share of the largest message's time.
_BANDWIDTH_SHARE = 0.5
# An isend of the rendezvous protocol copies nothing: its time per byte falls at least to this share, from at least the
# other share of the wire's time.
_ISEND_FALL = 0.05
_ISEND_COPIES = 0.02
_USED = {"pingpong", "send", "isend", "recv", "bandwidth", "message-rate"}
# Differences of a call below this share of the ping-pong change no result: they are noise.
_SHARE_THAT_COUNTS = 0.2


@dataclass(frozen=True)
class Base:
    """Values of the base network: latencies of the path between the two nodes, and defaults."""

    path_latency_s: float
    nic_latency_s: float
    link_bandwidth_Bps: float
    nic_bandwidth_Bps: float
    gap_s: float
    eager_limit_bytes: int

    @property
    def crossing_s(self) -> float:
        """The time of an empty message from one NIC's host side to the other's."""
        return self.path_latency_s + 2 * self.nic_latency_s


@dataclass(frozen=True)
class Fit:
    """Fitted parameters; ``origin`` has the source of each: "fitted: ..." or "assumed: ..."."""

    base: Base
    overhead_send: tuple[Piece, ...]
    overhead_recv: tuple[Piece, ...]
    eager_limit_bytes: int
    nic_bandwidth_Bps: float
    gap_s: float
    origin: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def half_round_trip(self, sizes: Array) -> Array:
        """Return the model's time [s] of a message of each size."""
        return (
            evaluate(self.overhead_send, sizes)
            + _on_the_wire(sizes, self.base, self.eager_limit_bytes, self.nic_bandwidth_Bps)
            + evaluate(self.overhead_recv, sizes)
        )


def _on_the_wire(sizes: Array, base: Base, eager_limit: int, bandwidth: float) -> Array:
    crossings = np.where(sizes > eager_limit, CROSSINGS_OF_RENDEZVOUS, 1)
    return np.asarray(crossings * base.crossing_s + sizes / min(bandwidth, base.link_bandwidth_Bps))


def medians(table: pd.DataFrame, measure: str) -> tuple[Array, Array]:
    """Return the sizes of ``measure`` in rising order and the median time of each."""
    times = table[table["measure"] == measure].groupby("size_bytes")["time_s"].median()
    return times.index.to_numpy(dtype=np.float64), times.to_numpy(dtype=np.float64)


def fit(table: pd.DataFrame, base: Base, *, eager_limit: int | None = None, most_pieces: int = MOST_PIECES) -> Fit:
    """Return the parameters that reproduce ``table``; ``eager_limit`` fixes the protocol's change."""
    sizes, times = medians(table, "pingpong")
    _check_ping_pong(sizes, times, base)
    origin: dict[str, str] = {}
    notes: list[str] = []
    curve = fit_pieces(sizes, times, times, most_pieces + 1)
    bandwidth = _bandwidth(curve, sizes, times, base, origin, notes)
    limit = _eager_limit(eager_limit, table, curve, bandwidth, base, most_pieces, origin)
    rest = times - _on_the_wire(sizes, base, limit, bandwidth)
    send = _overhead_send(table, sizes, rest, times, most_pieces, origin)
    if send is None:
        receive = send = tuple(fit_pieces(sizes, rest / 2, times, most_pieces))
        origin["overhead_send"] = origin["overhead_recv"] = (
            "fitted: half of what the wire leaves of the ping-pong (assumed: both ends take the same time)"
        )
    else:
        receive = tuple(fit_pieces(sizes, rest - evaluate(send, sizes), times, most_pieces))
        origin["overhead_recv"] = "fitted: what the wire and the sender leave of the ping-pong"
        _compare_with_receives(table, receive, notes)
    gap = _gap(table, base, origin)
    _compare_with_streams(table, bandwidth, notes)
    unused = sorted(set(table["measure"]) - _USED)
    if unused:
        notes.append(f"not used: {', '.join(unused)}")
    origin["nic_latency"] = "assumed: of the base network; its sum with the overheads is what was measured"
    return Fit(base, send, receive, limit, bandwidth, gap, origin, tuple(notes))


def _check_ping_pong(sizes: Array, times: Array, base: Base) -> None:
    if len(sizes) == 0:
        raise InputError(
            "no ping-pong among the measurements",
            found="no osu_latency, PingPong or pingpong",
            remedy="add the half round trips: latency and bandwidth cannot be fitted without them",
        )
    if len(sizes) < 2 * MOST_PIECES:
        raise InputError(
            "too few sizes for a calibration",
            found=f"{len(sizes)} sizes in the ping-pong",
            allowed=f"at least {2 * MOST_PIECES}, from a few bytes to some MiB",
        )
    if times.min() <= 0:
        raise InputError("a ping-pong took no time", found=f"{times.min()} s at {sizes[times.argmin()]:.0f} B")
    if times[0] <= base.crossing_s:
        raise CheckFailedError(
            "the base network is slower than the measurement",
            found=f"{render(times[0], 'time')} for {sizes[0]:.0f} B; NICs and links of the base take "
            f"{render(base.crossing_s, 'time')} already",
            remedy="lower nic_latency, link latency or switch_latency in the base network, or --links",
        )


def _bandwidth(
    curve: Sequence[Piece], sizes: Array, times: Array, base: Base, origin: dict[str, str], notes: list[str]
) -> float:
    slope = curve[-1].seconds_per_byte
    if slope * sizes[-1] < _BANDWIDTH_SHARE * times[-1]:
        origin["nic_bandwidth"] = "assumed: of the base network; the messages are too short to tell"
        return base.nic_bandwidth_Bps
    bandwidth = 1 / slope
    origin["nic_bandwidth"] = f"fitted: slope of the ping-pong from {curve[-1].from_bytes} B"
    if bandwidth > base.link_bandwidth_Bps:
        notes.append(
            f"measured {render(bandwidth, 'bandwidth')}, more than a link of the base carries "
            f"({render(base.link_bandwidth_Bps, 'bandwidth')}): large messages will be too slow"
        )
    return bandwidth


def _eager_limit(
    given: int | None,
    table: pd.DataFrame,
    curve: Sequence[Piece],
    bandwidth: float,
    base: Base,
    most_pieces: int,
    origin: dict[str, str],
) -> int:
    if given is not None:
        origin["eager_limit"] = "given by --eager-limit"
        return given
    sizes, times = medians(table, "isend")
    if len(sizes) >= 2 * MOST_PIECES:
        pieces = fit_pieces(sizes, times, times, most_pieces)
        falls = [
            (b.seconds_per_byte / a.seconds_per_byte, b.from_bytes)
            for a, b in _neighbours(pieces)
            if a.seconds_per_byte * bandwidth > _ISEND_COPIES
        ]
        if falls and min(falls)[0] < _ISEND_FALL:
            origin["eager_limit"] = "fitted: from there on, the time of an isend no longer grows with its size"
            return min(falls)[1] - 1
    # Rendezvous crosses two more times: the largest jump of the curve, if it is large enough for that.
    jumps = [(b.at(b.from_bytes) - a.at(b.from_bytes), a.at(b.from_bytes), b.from_bytes) for a, b in _neighbours(curve)]
    jumps = [jump for jump in jumps if jump[0] >= 2 * base.crossing_s and jump[0] > 0.05 * jump[1]]
    if jumps:
        origin["eager_limit"] = "fitted: the largest jump of the ping-pong that can hold two more crossings"
        return max(jumps)[2] - 1
    origin["eager_limit"] = "assumed: of the base network; the ping-pong shows no change of protocol"
    return base.eager_limit_bytes


def _neighbours(pieces: Sequence[Piece]) -> list[tuple[Piece, Piece]]:
    return list(pairwise(pieces))


def _overhead_send(
    table: pd.DataFrame, sizes: Array, rest: Array, times: Array, most_pieces: int, origin: dict[str, str]
) -> tuple[Piece, ...] | None:
    """Return the cost of starting a send; None without measured calls.

    Both calls do more: send waits until the buffer is free, isend creates a request. The faster of the two therefore
    counts at each size, limited to the time that the ping-pong leaves.
    """
    calls = table[table["measure"].isin(["send", "isend"])]
    fastest = calls.groupby(["size_bytes", "measure"])["time_s"].median().groupby("size_bytes").min()
    if len(fastest) < 2 * MOST_PIECES:
        return None
    at = fastest.index.to_numpy(dtype=np.float64)
    room = np.interp(at, sizes, rest)
    values = np.clip(fastest.to_numpy(dtype=np.float64), 0, np.maximum(room, 0))
    names = " and ".join(sorted(calls["measure"].unique()))
    origin["overhead_send"] = f"fitted: durations of {names}" + (", the faster of the two" if "and" in names else "")
    return tuple(
        fit_pieces(at, values, np.maximum(values, _SHARE_THAT_COUNTS * np.interp(at, sizes, times)), most_pieces)
    )


def _compare_with_receives(table: pd.DataFrame, receive: Sequence[Piece], notes: list[str]) -> None:
    sizes, times = medians(table, "recv")
    if len(sizes):
        ratio = float(np.median(times / np.maximum(evaluate(receive, sizes), 1e-12)))
        notes.append(
            f"the measured recv takes {ratio:.2g} times the fitted overhead_recv (median): it includes waiting for the "
            "message, so it was not fitted"
        )


def _compare_with_streams(table: pd.DataFrame, bandwidth: float, notes: list[str]) -> None:
    streams = table[table["measure"] == "bandwidth"]["bandwidth_Bps"]
    if len(streams):
        notes.append(
            f"a stream of messages reaches {render(streams.max(), 'bandwidth')}, the slope of the ping-pong is "
            f"{render(bandwidth, 'bandwidth')}: the latter was fitted"
        )


def _gap(table: pd.DataFrame, base: Base, origin: dict[str, str]) -> float:
    """Return the least time between two messages of a NIC: from the highest message rate of several pairs."""
    rates = table[(table["measure"] == "message-rate") & (table["processes"] > 2)]["messages_per_s"]
    if len(rates) and rates.max() > 0:
        origin["gap"] = "fitted: highest message rate of several pairs"
        return float(1 / rates.max())
    origin["gap"] = "assumed: of the base network; only a message rate of several pairs tells it"
    return base.gap_s


def intranode(table: pd.DataFrame, latency_s: float) -> tuple[float, float, str, str]:
    """Return latency [s], bandwidth [B/s] within a node and the origin of each.

    Ping-pongs between ranks of one node give both. Memory copies only give the rate: the median over the sizes from 4
    KiB, where the cost of a call is negligible; ``latency_s`` stays.
    """
    sizes, times = medians(table, "pingpong")
    if len(sizes):
        line = fit_pieces(sizes, times, times, 1)[0]
        if line.seconds_per_byte <= 0:
            raise InputError("the messages within a node are too short to show a bandwidth", found=f"{sizes[-1]:.0f} B")
        words = "fitted: one line through the ping-pong within a node"
        return line.seconds, 1 / line.seconds_per_byte, words, words
    sizes, times = medians(table, "copy")
    large = sizes >= 4096
    if not large.any():
        raise InputError("no copies of 4 KiB or more, and no ping-pong within a node", found=f"{len(sizes)} copies")
    rates = sizes[large] / times[large]
    low, middle, high = np.quantile(rates, [0.05, 0.5, 0.95])
    return (
        latency_s,
        float(middle),
        "assumed: of the base network; copies do not tell it",
        f"fitted: median rate of copies from 4 KiB (5 to 95 %: {low / 1e9:.3g} to {high / 1e9:.3g} GB/s)",
    )
