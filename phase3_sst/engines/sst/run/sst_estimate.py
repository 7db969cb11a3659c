"""Estimates an SST simulation from measured costs: memory by ranks and ports, time by packets and ports.

In: a run file. Out: an :class:`Estimate` of one replica. The engine fast counts the packets at the ports; it simulates
the first iterations in a hundredth of the time. docs/limits.md states the accuracy. The time is that of one thread.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from manynode.config.application import read_application
from manynode.units import render
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.engines.sst.machine.hosts import LEAST_ALTERNATING, alternating_messages
from phase3_sst.engines.sst.machine.wiring import wiring_of
from phase3_sst.point.contract import ReplicaCost

# Memory: SST with Python and the code of its elements, in each process, plus the simulated machine.
_BASE_BYTES = 110e6
_RANK_BYTES = 1.3e6
_PORT_BYTES = 8e3
# Of a message that may alternate with others on a NIC, beyond those of every NIC (machine/hosts.py).
_ALTERNATING_BYTES = 2e3
# Time: building the machine, each message at its ranks, and each packet at each port on its path. The cost grows with
# the number of ranks.
_BASE_S = 0.7
_PORT_S = 8e-5
_RANK_S = 2e-3
_MESSAGE_S = 30e-6
_HOP_S = 4.5e-6
_HOP_S_PER_DOUBLING = 1.5e-6
_DOUBLING_FROM_RANKS = 64

_ITERATIONS = 2


@dataclass(frozen=True)
class Estimate(ReplicaCost):
    """The cost of one simulation, with its words."""

    def words(self) -> str:
        """Return the estimate as text."""
        return f"about {render(self.memory_bytes, 'size', 3)} and {self.seconds:.2g} s of processor time a replica"


def estimate_of(run: Mapping[str, Any], processes: int = 1) -> Estimate:
    """Return the estimate of a run file."""
    ranks = sum(job["nodes"] * job["ranks_per_node"] for job in run["jobs"])
    wiring = wiring_of(run["network"]["topology"])
    ports = 2 * len(wiring.cables) + len(wiring.hosts)
    messages, hops = traffic(run)
    estimated = estimate(ranks=ranks, ports=ports, messages=messages, hops=hops, processes=processes)
    return replace(estimated, memory_bytes=estimated.memory_bytes + alternating(run) * _ALTERNATING_BYTES)


def alternating(run: Mapping[str, Any]) -> int:
    """Return how many messages may alternate on all NICs of a run, beyond those of every NIC."""
    most = int(run["network"]["host"].get("rails", 1))
    rails = [min(most, job["ranks_per_node"]) for job in run["jobs"]]
    nics = [job["nodes"] * used for job, used in zip(run["jobs"], rails, strict=True)]
    return sum(
        count * (alternating_messages(job["nodes"], job["ranks_per_node"], used, sum(nics)) - LEAST_ALTERNATING)
        for job, used, count in zip(run["jobs"], rails, nics, strict=True)
    )


def estimate(*, ranks: int, ports: int, messages: float, hops: float, processes: int = 1) -> Estimate:
    """Return the estimate for ``ranks`` and ``ports`` of all routers; the messages' packets pass ``hops`` ports."""
    memory = processes * _BASE_BYTES + ranks * _RANK_BYTES + ports * _PORT_BYTES
    doublings = max(0.0, math.log2(max(1, ranks) / _DOUBLING_FROM_RANKS))
    building = _BASE_S + ports * _PORT_S + ranks * _RANK_S
    running = messages * _MESSAGE_S + hops * (_HOP_S + doublings * _HOP_S_PER_DOUBLING)
    return Estimate(memory, building + running)


def traffic(run: Mapping[str, Any]) -> tuple[float, float]:
    """Return a run's messages and packets (counted at every port on their path), from its first iterations.

    Computing takes no time there. An application that has no number of iterations is counted whole: the steps of its
    ranks need not be iterations that end together.
    """
    application = run["jobs"][0]["application"]
    counter = _counter(application)
    total = float(application["parameters"].get(counter, _ITERATIONS))
    jobs = [_limited(job) for job in run["jobs"]]
    if counter in application["parameters"]:
        # An iteration may have several skeleton steps; the limit counts steps.
        few = {**application["parameters"], counter: min(_ITERATIONS, int(total))}
        jobs[0] = {**_bare(run["jobs"][0]), "application": {**application, "parameters": few}}
    plain = {key: value for key, value in run.items() if key != "counters"}
    measured = FastEngine().measure({**plain, "jobs": jobs})
    times = max(1.0, total / _ITERATIONS)
    return measured.messages * times, measured.packet_hops * times


def _limited(job: Mapping[str, Any]) -> dict[str, Any]:
    application = job["application"]
    has_iterations = _counter(application) in application["parameters"]
    return {**_bare(job), "iterations_limit": _ITERATIONS} if has_iterations else _bare(job)


def _bare(job: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in job.items() if key not in ("timing_profile", "start_s", "background")}


def _counter(application: Mapping[str, Any]) -> str:
    """Return the parameter that sets the iterations of an application or a traffic pattern."""
    return read_application(application["name"]).iterations or "iterations"
