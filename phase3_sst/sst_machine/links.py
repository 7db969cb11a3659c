"""Which port of which component of SST sends over which link of ours."""

from __future__ import annotations

from phase3_sst.sst_machine.build import port_of_nic
from phase3_sst.sst_machine.run import Run
from phase3_sst.sst_machine.wiring import Link, Wiring, component_name, wiring_of

# The port of a link control, which SST's statistics do not number.
NIC_PORT = ""


def link_of_port(run: Run) -> dict[tuple[str, str], Link]:
    """Return the link that begins at (component, port), for routers ("port3") and for NICs (:data:`NIC_PORT`)."""
    wiring = wiring_of(run.network["topology"])
    found = {}
    for cable in wiring.cables:
        found[component_name(wiring.switches[cable.a].name), f"port{cable.a_port}"] = cable.forward
        found[component_name(wiring.switches[cable.b].name), f"port{cable.b_port}"] = cable.backward
    controls = link_controls(wiring)
    for port in wiring.hosts:
        found[component_name(wiring.switches[port.switch].name), f"port{port.port}"] = port.down
        found[port_of_nic(port.up.source, controls), NIC_PORT] = port.up
    return found


def link_controls(wiring: Wiring) -> list[str]:
    """Return the link controls of NICs, the outermost first."""
    return [*(["merlin.reorderlinkcontrol"] if wiring.reorders else []), "merlin.linkcontrol"]
