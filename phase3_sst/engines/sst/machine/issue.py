"""Creates the machine in SST. Only this file calls the ``sst`` module, which exists only inside ``sst``.

Only sst.Component, setSubComponent and sst.Link are used: the Python classes that come with merlin and ember differ
between releases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sst

from phase3_sst.engines.sst.machine.description import Engine, Machine, Nic

_VIRTUAL_NIC, _PROTOCOL = "virtual_nic", "protocol"


def issue(machine: Machine) -> None:
    """Create every component and link of ``machine``."""
    _Issue(machine)


class _Issue:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._parts: dict[str, Any] = {}
        self._statistics()
        # Shared sets are sent to SST once, not once per rank.
        sst.addGlobalParams(_VIRTUAL_NIC, dict(machine.virtual_nic_parameters))
        sst.addGlobalParams(_PROTOCOL, dict(machine.protocol_parameters))
        for router in machine.routers:
            component = self._component(router.name, "merlin.hr_router", router.parameters)
            component.setSubComponent("topology", router.topology).addParams(dict(router.topology_parameters))
            self._count(component, machine.statistics.routers)
        for nic in machine.nics:
            self._nic(nic)
        for loop_back in machine.loop_backs:
            self._component(loop_back.name, "firefly.loopBack", loop_back.parameters)
        for engine in machine.engines:
            self._engine(engine)
        for link in machine.links:
            issued = sst.Link(link.name)
            if link.no_cut:
                issued.setNoCut()
            for end in (link.a, link.b):
                self._parts[end.component].addLink(issued, end.port, f"{link.latency_ps}ps")

    def _statistics(self) -> None:
        statistics = self._machine.statistics
        sst.setStatisticLoadLevel(1)
        sst.setStatisticOutput("sst.statOutputCSV", {"filepath": statistics.file, "separator": ","})

    def _component(self, name: str, kind: str, parameters: Mapping[str, Any]) -> Any:
        component = sst.Component(name, kind)
        component.addParams(dict(parameters))
        self._parts[name] = component
        return component

    def _count(self, component: Any, statistics: Sequence[str]) -> None:
        settings = {"type": "sst.AccumulatorStatistic", "rate": self._machine.statistics.rate}
        component.enableStatistics(list(statistics), settings)

    def _nic(self, nic: Nic) -> None:
        part = self._component(nic.name, "firefly.nic", nic.parameters)
        name, slot = nic.name, "rtrLink"
        for control in nic.link_controls:
            part = part.setSubComponent(slot, control)
            name, slot = f"{name}:{slot}", "networkIF"
            self._parts[name] = part
        part.addParams(dict(nic.link_parameters))
        self._count(part, self._machine.statistics.link_controls)

    def _engine(self, engine: Engine) -> None:
        component = self._component(engine.name, "ember.EmberEngine", engine.parameters)
        layer = component.setSubComponent("OS", "firefly.hades")
        layer.addParams(dict(engine.os_parameters))
        virtual_nic = layer.setSubComponent("virtNic", "firefly.VirtNic")
        virtual_nic.addGlobalParamSet(_VIRTUAL_NIC)
        protocol = layer.setSubComponent("proto", "firefly.CtrlMsgProto")
        protocol.addGlobalParamSet(_PROTOCOL)
        process = protocol.setSubComponent("process", "firefly.ctrlMsg")
        process.addGlobalParamSet(_PROTOCOL)
        self._parts[f"{engine.name}:virtNic"] = virtual_nic
        self._parts[f"{engine.name}:process"] = process
