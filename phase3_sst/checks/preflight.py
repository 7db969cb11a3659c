"""The pre-flight check: does the simulated network reach its closed formulas?

In: a resolved experiment and an engine. Out: a list of :class:`Check`, each compares a probe with the closed formula
(:mod:`phase3_sst.checks.line_rate`). There are two checks here and a third in :mod:`phase3_sst.checks.sweep_reaction`:

- line rate: what a large message between the farthest hosts takes longer than half of it has the rate of the slowest
  link on its route, its NICs and its processors; what it takes besides, its latency, is small;
- bisection: the low and the high half of the nodes exchange at the rate of the topology's formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from manynode import units
from manynode.config.network import topology_of
from manynode.config.resolved import Resolved
from manynode.errors import CheckFailedError
from phase3_sst.checks.line_rate import bisection_rate, fastest_link, message_rate, slowest_link
from phase3_sst.checks.probes import Exchange, Prober, large_message
from phase3_sst.checks.routing_load import busiest_link
from phase3_sst.point.contract import NetworkEngine

PREFLIGHT_SCHEMA = "preflight/1"

# Share of the formula that a large message must reach without its latency.
LINE_RATE_SHARE = 0.98
# Most latency of a large message, as a share of its time: 250 us of 5 ms. Networks of all kinds stay below a quarter.
MOST_LATENCY = 0.05
# No routing carries more than the cut; the margin covers the probe's rounding.
MOST_SHARE = 1.01
# ... and a chunk that has left a slow link when it reaches a fast one.
ONE_CHUNK = 1 / 64
# Share of the formula that the exchange must reach where routing can use every link of the cut.
BISECTION_SHARE = 0.95


@dataclass(frozen=True)
class Check:
    """One check of the network: its result in a sentence, whether it passed, and the remedy if not.

    With ``warning``, the result is suspicious, but the formula is only an upper bound: the run continues.
    """

    name: str
    passed: bool
    answer: str
    limited_by: str
    remedy: str
    warning: bool = False

    def line(self) -> str:
        """Return the check as a line of a table."""
        if self.warning:
            return f"WARNING {self.name}: {self.answer}; {self.remedy}"
        return f"{'passed' if self.passed else 'FAILED'}  {self.name}: {self.answer}"


def check_network(experiment: Resolved, engine: NetworkEngine) -> list[Check]:
    """Return the checks of the network itself: line rate and bisection; none for a machine of one node.

    Slow links are left out, since they miss the line rate on purpose.
    """
    network = experiment.network.model_copy(update={"slow_links": []})
    prober = Prober(experiment.model_copy(update={"network": network}), engine)
    if prober.room < 2:
        return []
    return [check_line_rate(prober), check_bisection(prober)]


def check_line_rate(prober: Prober) -> Check:
    """Send a large message from the first host to the farthest one and back."""
    network = prober.network
    far = prober.farthest()
    size = large_message(network)
    half = size - size // 2
    measured, shorter = prober.timed_ping_pong(far, size), prober.timed_ping_pong(far, half)
    expected = message_rate(network, measured.link_classes, size)
    expected_s, half_s = (n / message_rate(network, measured.link_classes, n).rate_Bps for n in (size, half))
    share = 2 * (expected_s - half_s) / max(measured.makespan_s - shorter.makespan_s, 1e-12)
    latency_s = max(0.0, measured.makespan_s / 2 - expected_s / share)
    late = latency_s > MOST_LATENCY * expected_s
    remedy = (
        "latencies (network.link.latency, network.switch_latency, network.host.nic_latency) are out of proportion to "
        "the bandwidths: correct the one with the wrong unit"
        if late
        else "what each chunk or packet costs (network.chunk, network.host.gap, buffers) leaves links idle"
    )
    return Check(
        f"line rate, node 0 to node {far}",
        share >= LINE_RATE_SHARE and not late,
        f"{_rate(share * expected.rate_Bps)} with {units.render(size, 'size')}, {share:.1%} of "
        f"{_rate(expected.rate_Bps)}, and {units.render(latency_s, 'time')} of latency; {expected.key} limits",
        expected.key,
        remedy,
    )


def check_bisection(prober: Prober) -> Check:
    """Check the exchange between the two halves of the machine.

    A rate above the cut between the halves fails, since no routing can reach it. A lower rate fails where the formula
    is exact (:func:`is_exact`), and is a warning where it is only an upper bound.
    """
    network = prober.network
    links = prober.experiment.network.bisection_links()
    measured = prober.exchange()
    pairs, size = measured.pairs, measured.size_bytes
    rate = pairs * size / measured.makespan_s
    cut = bisection_rate(network, links, pairs, size)
    expected = bisection_rate(network, links, pairs, size, messages_on_a_link(network, measured))
    least = least_share(network, prober.room)
    most = MOST_SHARE + (ONE_CHUNK if network["link_classes"] else 0.0)
    share = rate / expected.rate_Bps
    more, less = rate > most * cut.rate_Bps, share < least
    answer = (
        f"{_rate(rate)} in each direction, {share:.1%} of {_rate(expected.rate_Bps)} "
        f"(allowed: {least:.0%} to {most:.0%}); {expected.key} limits"
    )
    name = f"bisection, {pairs} ranks with {pairs} others"
    if more:
        remedy = "the topology carries more than its formula: report this as a defect of manynode"
        return Check(name, False, answer, expected.key, remedy)
    if not less or is_exact(network, prober.room):
        remedy = (
            "the routing does not use the links of the bisection: choose another network.topology.routing, or "
            "correct the numbers of links"
        )
        return Check(name, not less, answer, expected.key, remedy)
    remedy = "the formula is an upper bound for this machine and routing: see docs/how-to/set-up-a-network.md"
    return Check(name, True, answer, expected.key, remedy, warning=True)


def is_exact(network: Mapping[str, Any], nodes: int) -> bool:
    """Return whether a machine of ``nodes`` nodes reaches the bisection formula exactly.

    That requires a topology and routing of which the load of every link is known, and a single class of links.
    """
    flow_control = network.get("flow_control", "none") != "none"
    stride = int(network["host"].get("rail_stride", 1))
    # Else the halves do not exchange over the same distance on every rail.
    aligned = stride == nodes or nodes // 2 % stride == 0
    return (
        aligned
        and not network["link_classes"]
        and topology_of(network["topology"]).exchange_is_exact(nodes, flow_control)
    )


def least_share(network: Mapping[str, Any], nodes: int) -> float:
    """Return the share of the formula below which the exchange between the halves is suspicious.

    Where the formula is a bound, a sound machine usually reaches this share. With several classes of links the formula
    counts the fastest.
    """
    if is_exact(network, nodes):
        return BISECTION_SHARE
    bound = topology_of(network["topology"]).exchange_share()
    return bound * slowest_link(network).rate_Bps / fastest_link(network).rate_Bps


def messages_on_a_link(network: Mapping[str, Any], exchange: Exchange) -> float:
    """Return how many messages of the exchange share the busiest link; 1 if unknown.

    A message striped over the rails counts as a fraction on each rail.
    """
    rails, topology = int(network["host"]["rails"]), topology_of(network["topology"])
    if not topology.exchange_is_fixed(topology.hosts() // rails):
        return 1.0
    # With striping, the chunks of a message rotate over all NICs; otherwise each rank of the node has one NIC.
    there = [(node, node + exchange.apart) for node in exchange.nodes]
    load = busiest_link(network, [*there, *(pair[::-1] for pair in there)])
    return load * exchange.ranks_per_node / rails


def verdict(checks: Sequence[Check], where: str) -> dict[str, Any]:
    """Return the checks as a document; raise a :class:`CheckFailedError` that names all failed checks."""
    failed = [check for check in checks if not check.passed]
    if failed:
        first = failed[0]
        raise CheckFailedError(
            f"the network failed its pre-flight check: {first.name}",
            where=where,
            found=first.answer,
            remedy=f"{first.remedy}; 'simulate: preflight: enabled: false' skips the check",
            details="\n".join(check.line() for check in checks),
        )
    return {"checks": [asdict(check) for check in checks]}


def _rate(rate_Bps: float) -> str:
    return units.render(rate_Bps, "bandwidth")
