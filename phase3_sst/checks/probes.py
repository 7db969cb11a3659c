"""Probe runs: small jobs on the experiment's own network that measure its rates and its reaction to parameters.

In: a resolved experiment and an engine. Out: times [s] and rates [B/s]. Probes have no compute time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manynode.config.resolved import Resolved
from manynode.errors import EngineFailedError, UsageError
from phase3_sst.checks.line_rate import line_rate
from phase3_sst.point.contract import Measurement, NetworkEngine
from phase3_sst.point.run_file import run_of

# A large message takes this long at the line rate, which makes size-independent costs negligible.
LARGE_S = 5e-3
SMALL_BYTES = 8
# Number of hosts, spread over the machine, among which the farthest from host 0 is chosen.
CANDIDATES = 8
# At most this many nodes exchange. On a larger machine, each then has a larger share of the bisection.
MOST_NODES = 16_384
# Used when LARGE_S for all is too expensive for an engine; the latency is still small beside it.
SHORT_S = 200e-6
# The experiment's own application, as a probe.
OWN_RANKS = 1024
OWN_ITERATIONS = 3


@dataclass(frozen=True)
class Exchange:
    """The exchange between the halves: ranks in each half, bytes of each message, and its time [s].

    ``nodes`` are those of the low half. ``apart`` is the distance to their partners. ``ranks_per_node`` exchange on
    each.
    """

    pairs: int
    size_bytes: int
    makespan_s: float
    nodes: Sequence[int]
    apart: int
    ranks_per_node: int


@dataclass(frozen=True)
class Prober:
    """Runs probes of one experiment on one engine."""

    experiment: Resolved
    engine: NetworkEngine

    @property
    def network(self) -> dict[str, Any]:
        """The network of the run file."""
        network: dict[str, Any] = self._run([])["network"]
        return network

    @property
    def room(self) -> int:
        """The number of nodes of the machine."""
        return self.experiment.network.room()

    def farthest(self) -> int:
        """Return the node that a small message takes longest to reach, among some spread over the machine."""
        last = self.room - 1
        nodes = sorted({last - index * last // CANDIDATES for index in range(CANDIDATES)} - {0})
        return max(nodes, key=lambda node: (self.ping_pong(node, SMALL_BYTES).makespan_s, node))

    def ping_pong(self, node: int, size_bytes: int) -> Measurement:
        """Send a message from node 0 to ``node`` and back."""
        return self.engine.measure(self._run([ping_pong([0, node], size_bytes)]))

    def timed_ping_pong(self, node: int, size_bytes: int) -> Measurement:
        """Send a large message, which must take time, from node 0 to ``node`` and back."""
        return _timed(self.ping_pong(node, size_bytes), "ping-pong", size_bytes)

    def exchange(self) -> Exchange:
        """Let each rank of the low half exchange a message with the rank on the node half the machine away.

        There is one rank per node, or per NIC if each rank has its own.
        """
        whole, apart = halves(self.room)
        half, per_node, network = len(whole), self._ranks_per_node(), self.network
        rate_Bps = line_rate(network, ()).rate_Bps
        count, seconds = min(self.room, MOST_NODES) // 2, LARGE_S
        most_bytes = self.engine.probe_bytes(network)
        if 2 * count * per_node * seconds * rate_Bps > most_bytes:
            seconds = SHORT_S
            count = max(1, min(count, int(most_bytes / (2 * per_node * seconds * rate_Bps))))
        low = [index * half // count for index in range(count)]
        size = _bytes_of(seconds, rate_Bps)
        measured = self.engine.measure(self._run([bisection(low, apart, per_node, size)]))
        makespan_s = _timed(measured, "exchange of the halves", size).makespan_s
        return Exchange(count * per_node, size, makespan_s, low, apart, per_node)

    def _ranks_per_node(self) -> int:
        host = self.network["host"]
        # By message, the first message of each rank goes over the NIC that it has by rank.
        return int(host["rails"]) if host["rail_choice"] in ("by-rank", "by-message") else 1

    def own(self) -> Measurement:
        """Run the first iterations of the experiment's application, on few enough nodes for a small job."""
        per_node = self.experiment.ranks_per_node
        nodes = min(max(self.experiment.nodes), max(2, OWN_RANKS // per_node))
        application = self.experiment.application
        if application.name is None:
            raise UsageError(
                "the experiment has no skeleton to probe with",
                where="application: name",
                found="a command only",
                remedy="phase 3 needs a skeleton: docs/tutorial.md shows how to write one",
            )
        job = {
            "name": "main",
            "application": {"name": application.name, "parameters": application.parameters},
            "nodes": nodes,
            "ranks_per_node": per_node,
            "iterations_limit": OWN_ITERATIONS,
        }
        return self.engine.measure(self._run([job]))

    def _run(self, jobs: list[dict[str, Any]]) -> dict[str, Any]:
        return run_of(
            self.experiment.network, self.experiment.simulate.collectives, jobs, seed=self.experiment.seed, replicas=[0]
        )


def halves(nodes: int) -> tuple[range, int]:
    """Return the low half of ``nodes`` nodes and the distance to their partners in the high half.

    With an odd number, the middle node is in neither half. Each half is then on its own side of the middle of the
    hosts, for any number of NICs per node, and the topology's cut separates them.
    """
    half = nodes // 2
    return range(half), nodes - half


def large_message(network: Mapping[str, Any]) -> int:
    """Return the size [B] of a message that takes LARGE_S at the line rate of the ``network`` of a run file."""
    return _bytes_of(LARGE_S, line_rate(network, ()).rate_Bps)


def _bytes_of(seconds: float, rate_Bps: float) -> int:
    """Return the bytes transferred in this time; at least one byte, since zero bytes have no rate."""
    return max(1, round(seconds * rate_Bps))


def _timed(measured: Measurement, what: str, size_bytes: int) -> Measurement:
    """Return the measurement of a probe; a time of zero is a defect of the engine or of its times."""
    if measured.makespan_s > 0 and math.isfinite(measured.makespan_s):
        return measured
    raise EngineFailedError(
        f"the engine reports no time for a probe of the pre-flight check ({what})",
        found=f"{measured.makespan_s} s for {size_bytes} bytes",
        allowed="more than 0 s",
        remedy="correct the bandwidths and latencies of the section 'network', or report this as a defect of manynode",
    )


def pattern(name: str, size_bytes: int) -> dict[str, Any]:
    """Return one iteration of a pattern of skeletons/patterns as an application."""
    return {"name": "patterns", "parameters": {"pattern": name, "bytes": size_bytes, "iterations": 1}}


def ping_pong(hosts: list[int], size_bytes: int) -> dict[str, Any]:
    """Return the job in which the first and the last of ``hosts`` exchange one message, there and back."""
    return {
        "name": "ping-pong",
        "application": pattern("ping-pong", size_bytes),
        "nodes": len(hosts),
        "ranks_per_node": 1,
        "hosts": hosts,
    }


def bisection(low: Sequence[int], apart: int, ranks_per_node: int, size_bytes: int) -> dict[str, Any]:
    """Return the job in which the ranks of the nodes ``low`` exchange with those ``apart`` nodes away."""
    return {
        "name": "bisection",
        "application": pattern("bisection", size_bytes),
        "nodes": 2 * len(low),
        "ranks_per_node": ranks_per_node,
        "hosts": [*low, *(node + apart for node in low)],
    }
