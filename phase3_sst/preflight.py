"""The check before the first simulation: can the network do what it claims?

In: a resolved experiment and an engine. Out: a list of :class:`Check`, each a probe's figure beside the closed formula
(:mod:`phase3_sst.line_rate`). Two questions, and a third in :mod:`phase3_sst.sensitivity`:

- line rate: a large message between the hosts that are farthest apart reaches the rate of the slowest link on its
  route, its NICs and its processors;
- bisection: all nodes of the low half and of the high half exchange at the rate of the topology's formula.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from manynode import units
from manynode.config.loader import resolve_json
from manynode.errors import CheckFailedError
from phase3_sst.engines.interface import NetworkEngine
from phase3_sst.line_rate import bisection_rate, fastest_link, line_rate, message_rate, slowest_link
from phase3_sst.probes import LARGE_S, Prober

PREFLIGHT_SCHEMA = "preflight/1"

# Share of the formula that a large message reaches: the latency of one that takes LARGE_S is small beside 2 %.
LINE_RATE_SHARE = 0.98
# No routing carries more than the cut, but for what the probe's rounding adds.
MOST_SHARE = 1.01
# ... and for a chunk of a message that has left a slow link when it meets a fast one.
ONE_CHUNK = 1 / 64
# Share of the formula that the exchange of the halves reaches where routing can use every link of the cut.
BISECTION_SHARE = 0.95
# ... and where the formula is an upper bound only: routing picks links without regard for the other messages.
BOUND_SHARE = 0.2


@dataclass(frozen=True)
class Check:
    """One question to the network: its answer in a sentence, whether it is good enough, else what to do."""

    name: str
    passed: bool
    answer: str
    limited_by: str
    remedy: str

    def line(self) -> str:
        """Return the check as a line of a table."""
        return f"{'passed' if self.passed else 'FAILED'}  {self.name}: {self.answer}"


def check_network(experiment: dict[str, Any], engine: NetworkEngine) -> list[Check]:
    """Return the checks of the network itself: line rate and bisection; none for a machine of one node.

    Slow links are left out: they are meant to miss the line rate.
    """
    network = {**experiment["network"], "slow_links": []}
    prober = Prober({**experiment, "network": network}, engine)
    if prober.room < 2:
        return []
    return [check_line_rate(prober), check_bisection(prober)]


def check_line_rate(prober: Prober) -> Check:
    """Send a large message from the first host to the farthest one and back."""
    network = prober.network
    far = prober.farthest()
    size = round(LARGE_S * line_rate(network, ()).rate_Bps)
    measured = prober.ping_pong(far, size)
    rate = 2 * size / measured.makespan_s
    expected = message_rate(network, measured.link_classes, size)
    share = rate / expected.rate_Bps
    return Check(
        f"line rate, node 0 to node {far}",
        share >= LINE_RATE_SHARE,
        f"{_rate(rate)} with {units.render(size, 'size')}, {share:.1%} of {_rate(expected.rate_Bps)}; "
        f"{expected.key} limits",
        expected.key,
        "latencies (network.link.latency, network.switch_latency, network.host.nic_latency) or network.host.gap are "
        "out of proportion to the bandwidths: correct the one with the wrong unit",
    )


def check_bisection(prober: Prober) -> Check:
    """Let the two halves of the machine exchange."""
    network = prober.network
    topology = resolve_json(prober.experiment, "the experiment").model.network.topology
    measured = prober.exchange()
    pairs, size = measured.pairs, measured.size_bytes
    rate = pairs * size / measured.makespan_s
    expected = bisection_rate(network, topology.bisection_links(), pairs, size)
    least = least_share(network, prober.room)
    most = MOST_SHARE + (ONE_CHUNK if network["link_classes"] else 0.0)
    share = rate / expected.rate_Bps
    return Check(
        f"bisection, {pairs} ranks with {pairs} others",
        least <= share <= most,
        f"{_rate(rate)} in each direction, {share:.1%} of {_rate(expected.rate_Bps)} "
        f"(allowed: {least:.0%} to {most:.0%}); {expected.key} limits",
        expected.key,
        "the routing does not use the links of the bisection: choose another network.topology.routing, or "
        "correct the numbers of links"
        if share < least
        else "the topology carries more than its formula: report this as a defect of manynode",
    )


def least_share(network: Mapping[str, Any], nodes: int) -> float:
    """Return the share of the formula that the exchange of the halves must reach on a machine of ``nodes`` nodes.

    D-mod-k routing of a fat-tree spreads a shift permutation, which the exchange is for an even number of nodes, evenly
    over the links (Zahavi 2010), in whole messages; on a torus whose last dimension is even the exchange goes along
    that dimension alone. Otherwise the formula is a bound: with adaptive routing; on a torus whose halves part within a
    plane, since messages go round other rings too, and on one with finite buffers, where the hosts of a switch together
    get more of a ring than what passes through and then holds up the ring behind it; on a dragonfly, whose minimal
    routing uses one of a group's ways only; and where classes of links differ, since it then counts the fastest of
    them.
    """
    topology, bound = network["topology"], BOUND_SHARE
    uniform = not network["link_classes"]
    if topology["kind"] == "fat-tree" and topology["routing"] == "d-mod-k" and nodes % 2 == 0 and uniform:
        return BISECTION_SHARE * whole_messages(topology)
    if topology["kind"] == "torus":
        if topology["shape"][-1] % 2 == 0 and uniform and network.get("flow_control", "none") == "none":
            return BISECTION_SHARE
        bound = min(bound, 1 / max(topology["shape"]))
    if topology["kind"] == "dragonfly" and topology["routing"] == "minimal":
        bound = min(bound, 1 / topology["groups"])
    return bound * slowest_link(network).rate_Bps / fastest_link(network).rate_Bps


def whole_messages(topology: Mapping[str, Any]) -> float:
    """Return the mean number of messages on a link of a fat-tree's busiest level by the most, each having one link."""
    share, flows = 1.0, 1.0
    for level, children in enumerate(topology["children"][:-1]):
        # Messages from below a switch of this level, and its links up.
        flows *= children / topology["parents"][level]
        ports = topology["parents"][level + 1] * topology["parallel_links"][level + 1]
        each = flows / ports
        share = min(share, each / math.ceil(each - 1e-9)) if each > 1 else share
    return share


def verdict(checks: Sequence[Check], where: str) -> dict[str, Any]:
    """Return the checks as a document; a check that failed is a :class:`CheckFailedError` that names them all."""
    failed = [check for check in checks if not check.passed]
    if failed:
        first = failed[0]
        raise CheckFailedError(
            f"the network failed its pre-flight check: {first.name}",
            where=where,
            found=first.answer,
            remedy=f"{first.remedy}; 'simulate: preflight: enabled: false' simulates all the same",
            details="\n".join(check.line() for check in checks),
        )
    return {"checks": [asdict(check) for check in checks]}


def _rate(rate_Bps: float) -> str:
    return units.render(rate_Bps, "bandwidth")
