"""Maps the sending and receiving ports of SST's components to our links."""

from __future__ import annotations

from phase3_sst.engines.sst.machine.sst_run_file import Run
from phase3_sst.engines.sst.machine.wiring import Link, component_name, wiring_of

# Stands for the link control of a NIC, whose statistics have no port.
NIC_PORT = ""


def link_of_port(run: Run) -> dict[tuple[str, str], Link]:
    """Return the link that begins at (component, port), for routers ("port3") and for NICs (:data:`NIC_PORT`)."""
    wiring = wiring_of(run.network["topology"])
    found = {}
    for cable in wiring.cables:
        found[component_name(wiring.switches[cable.a].name), f"port{cable.a_port}"] = cable.forward
        found[component_name(wiring.switches[cable.b].name), f"port{cable.b_port}"] = cable.backward
    for port in wiring.hosts:
        found[component_name(wiring.switches[port.switch].name), f"port{port.port}"] = port.down
        found[component_name(port.up.source), NIC_PORT] = port.up
    return found


def switch_behind_port(run: Run) -> dict[tuple[str, str], tuple[Link, int]]:
    """Return the link that ends at (router, port), with the number of that router's switch."""
    wiring = wiring_of(run.network["topology"])
    found = {}
    for cable in wiring.cables:
        found[component_name(wiring.switches[cable.a].name), f"port{cable.a_port}"] = cable.backward, cable.a
        found[component_name(wiring.switches[cable.b].name), f"port{cable.b_port}"] = cable.forward, cable.b
    for port in wiring.hosts:
        found[component_name(wiring.switches[port.switch].name), f"port{port.port}"] = port.up, port.switch
    return found
