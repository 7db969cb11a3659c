"""Builds the whole machine as plain data from a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phase3_sst.engines.sst.machine.description import End, Machine, Router, SstLink, Statistics
from phase3_sst.engines.sst.machine.host_model import host_model
from phase3_sst.engines.sst.machine.hosts import Hosts
from phase3_sst.engines.sst.machine.rates import Rates, rates_of
from phase3_sst.engines.sst.machine.sst_run_file import Run
from phase3_sst.engines.sst.machine.switches import (
    Buffers,
    bandwidth,
    buffers_of,
    router_parameters,
    topology_parameters,
)
from phase3_sst.engines.sst.machine.wiring import Wiring, component_name, wiring_of

# SST writes this file; statistics_file.py reads it.
STATISTICS_FILE = "statistics.csv"
# Of this project (phase3_sst/engines/sst/link_control).
WHOLE_PACKETS = "manynodelink.WholePackets"
ROUTER_STATISTICS = ("send_bit_count", "send_packet_count", "output_port_stalls", "xbar_stalls", "idle_time")
LINK_CONTROL_STATISTICS = ("send_bit_count", "output_port_stalls", "idle_time")


def machine_of(run: Run) -> Machine:
    """Return the machine of a run."""
    wiring = wiring_of(run.network["topology"])
    rates = rates_of(run.network, wiring)
    buffers = buffers_of(run, rates)
    model = host_model(run.network, run.options.extra_parameters, waits_pay=run.ranks_pay_for_receives)
    controls, link_parameters = _link_control(run, wiring, rates, buffers)
    hosts = Hosts(run, model, controls, link_parameters)
    present = {nic.name for nic in hosts.nics}
    # Routers and motifs write nothing but statistics, so one thread's components need not know the others'.
    return Machine(
        routers=_routers(run, wiring, rates, buffers),
        nics=hosts.nics,
        loop_backs=hosts.loop_backs,
        engines=hosts.engines,
        links=[*_cables(wiring, rates), *_host_links(wiring, rates, present, controls), *hosts.links],
        virtual_nic_parameters=model.virtual_nic,
        protocol_parameters={**model.protocol, "nicsPerNode": run.rails},
        statistics=_statistics(run),
    )


def _link_control(run: Run, wiring: Wiring, rates: Rates, buffers: Buffers) -> tuple[list[str], dict[str, Any]]:
    # The outermost belongs to the NIC.
    controls = [WHOLE_PACKETS, *(["merlin.reorderlinkcontrol"] if wiring.reorders else []), "merlin.linkcontrol"]
    parameters = {
        "link_bw": bandwidth(rates.hosts),
        "input_buf_size": f"{buffers.nic_input}B",
        "output_buf_size": f"{buffers.nic_output}B",
        **run.options.extra_parameters.get("merlin.linkcontrol", {}),
    }
    return controls, parameters


def _routers(run: Run, wiring: Wiring, rates: Rates, buffers: Buffers) -> list[Router]:
    extra = run.options.extra_parameters.get("merlin.topology", {})
    return [
        Router(
            name=component_name(switch.name),
            parameters=router_parameters(run, wiring, rates, buffers, number),
            topology=wiring.merlin,
            topology_parameters=topology_parameters(wiring, number, extra),
        )
        for number, switch in enumerate(wiring.switches)
    ]


def _picoseconds(seconds: float) -> int:
    # SST has no link without latency.
    return max(1, round(seconds * 1e12))


def _cables(wiring: Wiring, rates: Rates) -> list[SstLink]:
    return [
        SstLink(
            f"cable_{cable.forward.id}",
            End(component_name(wiring.switches[cable.a].name), f"port{cable.a_port}"),
            End(component_name(wiring.switches[cable.b].name), f"port{cable.b_port}"),
            _picoseconds(rates.latencies[cable.forward.cls]),
        )
        for cable in wiring.cables
    ]


def _host_links(wiring: Wiring, rates: Rates, present: set[str], controls: list[str]) -> list[SstLink]:
    latency = _picoseconds(rates.latencies["host-up"])
    return [
        SstLink(
            f"cable_{port.up.id}",
            End(port_of_nic(port.up.source, controls), "rtr_port"),
            End(component_name(wiring.switches[port.switch].name), f"port{port.port}"),
            latency,
        )
        for port in wiring.hosts
        if component_name(port.up.source) in present
    ]


def port_of_nic(nic: str, controls: list[str]) -> str:
    """Return the part of a NIC with the link to the network."""
    return ":".join([component_name(nic), "rtrLink", *["networkIF"] * (len(controls) - 1)])


def _statistics(run: Run) -> Statistics:
    interval = None if run.counters is None else run.counters["interval_s"]
    return Statistics(
        file=str(Path(run.parts) / STATISTICS_FILE),
        rate="0ns" if interval is None else f"{round(interval * 1e12)}ps",
        routers=ROUTER_STATISTICS,
        link_controls=LINK_CONTROL_STATISTICS,
    )
