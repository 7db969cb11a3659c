"""Closed formulas for the most that a network can carry, and for what limits it.

In: the ``network`` of a run file (:mod:`phase3_sst.point.run_file`). Out: rates [B/s] and times [s], each with the
experiment key that limits it. The pre-flight check compares the engines with these figures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manynode import units

LINK = "network.link.bandwidth"
NIC = "network.host.nic_bandwidth"
OVERHEAD = "network.host overhead per byte (of sender and receiver)"

HOST_LINKS = ("host-up", "host-down")
# Adapters whose fitted rate is a few percent below their link's do not limit on purpose.
ALIKE = 1.1


@dataclass(frozen=True)
class Limit:
    """A rate [B/s] and the experiment key that sets it."""

    rate_Bps: float
    key: str

    def words(self) -> str:
        """Return the limit as text."""
        return f"{self.key} {units.render(self.rate_Bps, 'bandwidth')}"


def slowest_link(network: Mapping[str, Any], classes: Collection[str] = ()) -> Limit:
    """Return the slowest link of the given classes; without classes, of all in the network."""
    return min(_links(network, classes), key=lambda limit: limit.rate_Bps)


def fastest_link(network: Mapping[str, Any]) -> Limit:
    """Return the fastest link of the network."""
    return max(_links(network, ()), key=lambda limit: limit.rate_Bps)


def _links(network: Mapping[str, Any], classes: Collection[str]) -> list[Limit]:
    overrides = network["link_classes"]
    own = Limit(network["link"]["bandwidth_Bps"], LINK)
    named = {
        name: Limit(link["bandwidth_Bps"], f"network.link_classes.{name}.bandwidth") for name, link in overrides.items()
    }
    return [named.get(name, own) for name in sorted(classes)] or [own, *named.values()]


def line_rate(network: Mapping[str, Any], classes: Collection[str]) -> Limit:
    """Return the rate of one message along links of the given classes: the slowest of links and NICs.

    A message striped over the rails has the links and NICs of all rails.
    """
    host = network["host"]
    rails = host.get("rails", 1) if host.get("rail_choice") == "striped" else 1
    link, nic = slowest_link(network, classes), Limit(host["nic_bandwidth_Bps"], NIC)
    slower = nic if nic.rate_Bps < link.rate_Bps else link
    return Limit(rails * slower.rate_Bps, slower.key)


def narrow_end(network: Mapping[str, Any]) -> str:
    """Return which of a node's adapter and link limits it, where one is much slower; else an empty text."""
    link, nic = slowest_link(network, HOST_LINKS), Limit(network["host"]["nic_bandwidth_Bps"], NIC)
    if max(link.rate_Bps, nic.rate_Bps) <= ALIKE * min(link.rate_Bps, nic.rate_Bps):
        return ""
    limit = line_rate(network, HOST_LINKS)
    slow, fast = (nic, link) if limit.key == NIC else (link, nic)
    more = "helps only where nodes share a link" if fast is link else "brings nothing more"
    return f"{slow.words()} limits what each adapter sends and receives: {fast.words()} {more}"


def overhead_s(segments: Sequence[Mapping[str, float]], size_bytes: float) -> float:
    """Return the processor time [s] of a message: piecewise linear in its size, as in LogGPS."""
    segment = [entry for entry in segments if entry["from_bytes"] <= size_bytes][-1]
    return float(segment["seconds"] + segment["seconds_per_byte"] * size_bytes)


def message_time_s(network: Mapping[str, Any], line_Bps: float, size_bytes: float) -> float:
    """Return the time [s] of a large message from call to call: sender's processor, line, receiver's processor.

    LogGP (Alexandrov et al. 1995) without latency, which is small beside a large message.
    """
    host = network["host"]
    processors_s = overhead_s(host["overhead_send"], size_bytes) + overhead_s(host["overhead_recv"], size_bytes)
    return size_bytes / line_Bps + processors_s


def message_rate(network: Mapping[str, Any], classes: Collection[str], size_bytes: float) -> Limit:
    """Return the rate of one large message and the largest part of its time."""
    line = line_rate(network, classes)
    return _limited(network, line, line.rate_Bps, size_bytes, messages=1)


def bisection_rate(
    network: Mapping[str, Any], links: int, pairs: int, size_bytes: float, sharing: float = 1.0
) -> Limit:
    """Return the rate in one direction between the halves of a machine when ``pairs`` ranks send at once.

    Each pair has its own line and its share of the ``links`` that cross the cut in that direction. With fixed routes,
    ``sharing`` messages share the busiest link. If classes of links differ, those of the cut count as the fastest, and
    the formula is an upper bound. Without contention there is no cut.
    """
    line, fastest = line_rate(network, ()), fastest_link(network)
    if network["contention"]:
        limits = [line, Limit(links * fastest.rate_Bps / pairs, "network.topology (links of the bisection)")]
        if sharing > 1:
            limits.append(Limit(fastest.rate_Bps / sharing, f"network.topology ({sharing:g} messages share a link)"))
        line = min(limits, key=lambda limit: limit.rate_Bps)
    return _limited(network, line, line.rate_Bps, size_bytes, messages=pairs)


def _limited(network: Mapping[str, Any], line: Limit, line_Bps: float, size_bytes: float, *, messages: int) -> Limit:
    seconds = message_time_s(network, line_Bps, size_bytes)
    on_the_line = size_bytes / line_Bps
    return Limit(messages * size_bytes / seconds, line.key if on_the_line >= seconds / 2 else OVERHEAD)
