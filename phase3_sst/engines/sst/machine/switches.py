"""merlin's routers: rates, delays and buffers.

A merlin router takes packets out of its input buffers with a crossbar of its own clock, and starts on a link with the
next flit of that link. Both delays are subtracted from the switch latency of the run file; an idle switch has exactly
that latency. A link of any length reaches its rate only if the buffer behind it holds the data in flight until its
credit returns. Buffers hold twice that, plus some packets for several inputs that want the same output.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phase3_sst.engines.sst.machine.rates import Rates
from phase3_sst.engines.sst.machine.sst_run_file import Run
from phase3_sst.engines.sst.machine.wiring import Wiring

# Speedup of the crossbar over the links. Inputs are queues: at the links' rate, they could use 59 to 75 % of the links
# (Karol, Hluchyj and Morgan 1987); at several times the rate, all.
CROSSBAR_SPEEDUP = 4
_SPARE_PACKETS = 128


@dataclass(frozen=True)
class Buffers:
    """Sizes in bytes, per virtual channel of a port."""

    input: int
    output: int
    nic_input: int
    nic_output: int


def buffers_of(run: Run, rates: Rates) -> Buffers:
    """Return the sizes of all buffers."""
    packet = run.network["chunk_bytes"]
    rate = max(rates.routers)
    # The round trip, with the switch latency in both directions. The engine fast has the same buffers
    # (NetworkConfig::buffers in phase3_sst/machine/run_config.cpp).
    round_trip = 2 * (max(rates.latencies.values()) + run.network["switch_latency_s"])
    flying = math.ceil(2 * rate * round_trip / packet) * packet
    size = flying + _SPARE_PACKETS * packet
    return Buffers(
        input=run.input_buffer_bytes or size,
        output=run.output_buffer_bytes or size,
        nic_input=size,
        # Enough for the next packet to be ready. More would only be a queue in which messages cannot alternate.
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
    """Return the cycle of a router's crossbar for one flit [s]; None if an experiment sets merlin's own parameters."""
    if {"flit_size", "xbar_bw"} & set(run.options.extra_parameters.get("merlin.hr_router", {})):
        return None
    return run.options.flit_bytes / (CROSSBAR_SPEEDUP * _rate(rates, switch))


def _rate(rates: Rates, switch: int) -> float:
    return max(rates.routers[switch], *rates.groups.values(), 0.0)


def bandwidth(bytes_per_second: float) -> str:
    """Return a rate in merlin's format."""
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
