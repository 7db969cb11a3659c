"""Probe runs: small jobs on the experiment's own network that show what it can carry and what it reacts to.

In: a resolved experiment and an engine. Out: times [s] and rates [B/s]. Computing takes no time in a probe.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manynode.config.resolved import resolve_json
from manynode.errors import EngineFailedError, UsageError
from phase3_sst.checks.line_rate import line_rate
from phase3_sst.point.contract import Measurement, NetworkEngine
from phase3_sst.point.run_file import run_of

# A large message is one that takes so long at the line rate: what does not depend on its size is then small beside it.
LARGE_S = 5e-3
SMALL_BYTES = 8
# Hosts spread over the machine, of which the one that is farthest from host 0 is taken.
CANDIDATES = 8
# Of a larger machine only so many nodes exchange: each then has more of the bisection than in the whole machine.
MOST_NODES = 16_384
# Where an engine cannot afford LARGE_S for all: the latency is still small beside it.
SHORT_S = 200e-6
# The experiment's own application, as a probe.
OWN_RANKS = 1024
OWN_ITERATIONS = 3


@dataclass(frozen=True)
class Exchange:
    """What the exchange of the halves was: ranks of each half, bytes of each message, and how long it took [s].

    ``nodes`` are those of the low half, ``apart`` is how far their partners are, ``ranks_per_node`` how many exchange
    on each.
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

    experiment: dict[str, Any]
    engine: NetworkEngine

    @property
    def network(self) -> dict[str, Any]:
        """The network as the run file has it."""
        network: dict[str, Any] = self._run([])["network"]
        return network

    @property
    def room(self) -> int:
        """The number of nodes of the machine."""
        model = resolve_json(self.experiment, "the experiment").model
        return model.network.room()

    def farthest(self) -> int:
        """Return the node, among some that are spread over the machine, that a small message takes longest to."""
        last = self.room - 1
        nodes = sorted({last - index * last // CANDIDATES for index in range(CANDIDATES)} - {0})
        return max(nodes, key=lambda node: (self.ping_pong(node, SMALL_BYTES).makespan_s, node))

    def ping_pong(self, node: int, size_bytes: int) -> Measurement:
        """Send a message from node 0 to ``node`` and back."""
        return self.engine.measure(self._run([ping_pong([0, node], size_bytes)]))

    def timed_ping_pong(self, node: int, size_bytes: int) -> Measurement:
        """Send a message that is large, so that it takes time, from node 0 to ``node`` and back."""
        return _timed(self.ping_pong(node, size_bytes), "ping-pong", size_bytes)

    def exchange(self) -> Exchange:
        """Let the ranks of the low half and those on the nodes half the machine away send each other a message.

        One rank on each node, or on each NIC where a rank has one.
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
        return int(host["rails"]) if host["rail_choice"] == "by-rank" else 1

    def own(self) -> Measurement:
        """Run the first iterations of the experiment's application on as many of its nodes as make a small job."""
        per_node = int(self.experiment["ranks_per_node"])
        nodes = min(max(self.experiment["nodes"]), max(2, OWN_RANKS // per_node))
        application = self.experiment["application"]
        if application["name"] is None:
            raise UsageError(
                "the experiment has no skeleton to probe with",
                where="application: name",
                found="a command only",
                remedy="phase 3 needs a skeleton: docs/tutorial.md shows how to write one",
            )
        job = {
            "name": "main",
            "application": {"name": application["name"], "parameters": application["parameters"]},
            "nodes": nodes,
            "ranks_per_node": per_node,
            "iterations_limit": OWN_ITERATIONS,
        }
        return self.engine.measure(self._run([job]))

    def _run(self, jobs: list[dict[str, Any]]) -> dict[str, Any]:
        return run_of(self.experiment, jobs, seed=int(self.experiment["seed"]), replicas=[0])


def halves(nodes: int) -> tuple[range, int]:
    """Return the low half of so many nodes, and how far their partners in the high half are.

    Of an odd number the node in the middle is in neither: each half is on its own side of the middle of the hosts,
    whatever the number of NICs of a node, and the cut of the topology parts them.
    """
    half = nodes // 2
    return range(half), nodes - half


def large_message(network: Mapping[str, Any]) -> int:
    """Return the size [B] of a message that takes LARGE_S at the line rate of the ``network`` of a run file."""
    return _bytes_of(LARGE_S, line_rate(network, ()).rate_Bps)


def _bytes_of(seconds: float, rate_Bps: float) -> int:
    """Return how much goes through in this time: at least a byte, without which no rate could be told."""
    return max(1, round(seconds * rate_Bps))


def _timed(measured: Measurement, what: str, size_bytes: int) -> Measurement:
    """Return the measurement of a probe that must take time; none is a defect of the engine or of its times."""
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
    """Return the job in which the first and the last of ``hosts`` send one message back and forth."""
    return {
        "name": "ping-pong",
        "application": pattern("ping-pong", size_bytes),
        "nodes": len(hosts),
        "ranks_per_node": 1,
        "hosts": hosts,
    }


def bisection(low: Sequence[int], apart: int, ranks_per_node: int, size_bytes: int) -> dict[str, Any]:
    """Return the job in which the ranks of the nodes ``low`` exchange with those so many nodes ``apart``."""
    return {
        "name": "bisection",
        "application": pattern("bisection", size_bytes),
        "nodes": 2 * len(low),
        "ranks_per_node": ranks_per_node,
        "hosts": [*low, *(node + apart for node in low)],
    }
