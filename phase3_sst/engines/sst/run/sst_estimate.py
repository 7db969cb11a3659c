"""What a simulation of SST will take, from what was measured: memory by ranks and ports, time by packets and ports.

In: a run file. Out: an :class:`Estimate` of one replica. How many packets pass how many ports is asked from the engine
fast, which simulates the first iterations in a hundredth of the time. docs/limits.md says how far to trust it; the time
is that of one thread.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manynode.config.application import read_application
from manynode.paths import application_dirs
from manynode.units import render
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.engines.sst.machine.wiring import wiring_of

# Memory: SST with Python and the code of its elements, in each process; then what is simulated.
_BASE_BYTES = 110e6
_RANK_BYTES = 1.3e6
_PORT_BYTES = 8e3
# Time: building the machine; then each message at its ranks, and each packet at each port of its way, the longer the
# more ranks there are.
_BASE_S = 0.7
_PORT_S = 8e-5
_RANK_S = 2e-3
_MESSAGE_S = 30e-6
_HOP_S = 4.5e-6
_HOP_S_PER_DOUBLING = 1.5e-6
_DOUBLING_FROM_RANKS = 64

_ITERATIONS = 2


@dataclass(frozen=True)
class Estimate:
    """Memory [B] of all processes together and processor time [s] of one simulation."""

    memory_bytes: float
    seconds: float

    def words(self) -> str:
        """Return the estimate as it is said to people."""
        return f"about {render(self.memory_bytes, 'size', 3)} and {self.seconds:.2g} s of processor time a replica"


def estimate_of(run: Mapping[str, Any], processes: int = 1) -> Estimate:
    """Return the estimate of a run file."""
    ranks = sum(job["nodes"] * job["ranks_per_node"] for job in run["jobs"])
    wiring = wiring_of(run["network"]["topology"])
    ports = 2 * len(wiring.cables) + len(wiring.hosts)
    messages, hops = traffic(run)
    return estimate(ranks=ranks, ports=ports, messages=messages, hops=hops, processes=processes)


def estimate(*, ranks: int, ports: int, messages: float, hops: float, processes: int = 1) -> Estimate:
    """Return what ``ranks`` on routers of so many ``ports`` take; the packets of the messages pass ``hops`` ports."""
    memory = processes * _BASE_BYTES + ranks * _RANK_BYTES + ports * _PORT_BYTES
    doublings = max(0.0, math.log2(max(1, ranks) / _DOUBLING_FROM_RANKS))
    building = _BASE_S + ports * _PORT_S + ranks * _RANK_S
    running = messages * _MESSAGE_S + hops * (_HOP_S + doublings * _HOP_S_PER_DOUBLING)
    return Estimate(memory, building + running)


def traffic(run: Mapping[str, Any]) -> tuple[float, float]:
    """Return messages and packets of a run, the latter counted at every port of their way, from its first iterations.

    Computing takes no time there.
    """
    application = run["jobs"][0]["application"]
    counter = _counter(application)
    total = float(application["parameters"].get(counter, _ITERATIONS))
    jobs = [{**_bare(job), "iterations_limit": _ITERATIONS} for job in run["jobs"]]
    if counter in application["parameters"]:
        # An iteration may have several steps of the skeleton, which the limit counts.
        few = {**application["parameters"], counter: min(_ITERATIONS, int(total))}
        jobs[0] = {**_bare(run["jobs"][0]), "application": {**application, "parameters": few}}
    plain = {key: value for key, value in run.items() if key != "counters"}
    measured = FastEngine().measure({**plain, "jobs": jobs})
    times = max(1.0, total / _ITERATIONS)
    return measured.messages * times, measured.packet_hops * times


def _bare(job: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in job.items() if key not in ("timing_profile", "start_s", "background")}


def _counter(application: Mapping[str, Any]) -> str:
    """Return the parameter that counts the iterations of an application, or of a traffic pattern."""
    name = application["name"]
    found = read_application(name).iterations if name in application_dirs() else None
    return found or "iterations"
