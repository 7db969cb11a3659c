"""merlin's routers: rates, delays and buffers.

A merlin router takes packets out of its input buffers with a crossbar of its own clock, and starts on a link with the
next flit of that link. Both take time, which is taken off the switch latency of the run file, so that an idle switch
costs what it says. A link moves its packets at its rate whatever its length only if the buffer behind it holds what is
on the way until the credit for it has come back; buffers hold that twice, and some packets for the moments in which
several inputs want one output.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phase3_sst.engines.sst.machine.rates import Rates
from phase3_sst.engines.sst.machine.sst_run_file import Run
from phase3_sst.engines.sst.machine.wiring import Wiring

# Of the crossbar over the links. Inputs are queues, so that at their own rate they could use 59 to 75 % of the links
# (Karol, Hluchyj and Morgan 1987); at several times the rate, all.
CROSSBAR_SPEEDUP = 4
_SPARE_PACKETS = 128


@dataclass(frozen=True)
class Buffers:
    """In bytes, per virtual channel of a port."""

    input: int
    output: int
    nic_input: int
    nic_output: int


def buffers_of(run: Run, rates: Rates) -> Buffers:
    """Return the sizes of all buffers."""
    packet = run.network["chunk_bytes"]
    rate = max(rates.routers)
    # There and back, with the switch's latency on both ways. The engine fast has the same buffers
    # (NetworkConfig::buffers in phase3_sst/machine/run_config.cpp).
    round_trip = 2 * (max(rates.latencies.values()) + run.network["switch_latency_s"])
    flying = math.ceil(2 * rate * round_trip / packet) * packet
    size = flying + _SPARE_PACKETS * packet
    return Buffers(
        input=run.input_buffer_bytes or size,
        output=run.output_buffer_bytes or size,
        nic_input=size,
        # Enough for the next packet to be ready; more would only be a queue in which messages cannot take turns.
        nic_output=4 * packet,
    )


def router_parameters(run: Run, wiring: Wiring, rates: Rates, buffers: Buffers, switch: int) -> dict[str, Any]:
    """Return the parameters of one router."""
    rate = _rate(rates, switch)
    before, behind = _latencies(run, rate)
    parameters: dict[str, Any] = {
        "id": wiring.switches[switch].number,
        "num_ports": wiring.switches[switch].ports,
        "num_vns": 1,
        "flit_size": f"{run.options.flit_bytes}B",
        "link_bw": bandwidth(rate),
        "xbar_bw": bandwidth(CROSSBAR_SPEEDUP * rate),
        "input_latency": f"{before}ps",
        "output_latency": f"{behind}ps",
        "input_buf_size": f"{buffers.input}B",
        "output_buf_size": f"{buffers.output}B",
    }
    parameters.update({f"link_bw:{group}": bandwidth(of_group) for group, of_group in rates.groups.items()})
    parameters.update(run.options.extra_parameters.get("merlin.hr_router", {}))
    return parameters


def crossbar_period_s(run: Run, rates: Rates, switch: int) -> float | None:
    """Return the cycle of a router's crossbar, one flit [s]; None where an experiment sets merlin's own parameters."""
    if {"flit_size", "xbar_bw"} & set(run.options.extra_parameters.get("merlin.hr_router", {})):
        return None
    return run.options.flit_bytes / (CROSSBAR_SPEEDUP * _rate(rates, switch))


def _rate(rates: Rates, switch: int) -> float:
    return max(rates.routers[switch], *rates.groups.values(), 0.0)


def bandwidth(bytes_per_second: float) -> str:
    """Return a rate as merlin reads it."""
    return f"{bytes_per_second * 8 / 1e9:.9g}Gb/s"


def _latencies(run: Run, rate: float) -> tuple[int, int]:
    """Return merlin's delays before and behind the crossbar, in picoseconds."""
    flit_ps = run.options.flit_bytes / rate * 1e12
    # One flit of the link before a packet starts; the next edge of the crossbar's clock, half a period on average.
    own = flit_ps * (1 + 0.5 / CROSSBAR_SPEEDUP)
    left = max(2, round(run.network["switch_latency_s"] * 1e12 - own))
    return left - left // 2, left // 2


def topology_parameters(wiring: Wiring, switch: int, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a router's topology subcomponent."""
    return {**wiring.parameters, **wiring.switches[switch].parameters, **extra}
