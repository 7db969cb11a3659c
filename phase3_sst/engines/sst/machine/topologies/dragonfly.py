"""The dragonfly of the fast engine, wired for merlin's ``dragonfly``.

Router ports are merlin's: hosts, then local cables by router, then global ports. Global ports visit the other groups in
turn, nearest first (merlin's "relative" map), as in ``phase3_sst/machine/topologies/global_cables.hpp``. merlin wants
the same number of cables between any two groups: if a group's ports do not divide evenly, the fast engine gives some
groups one more cable. Here the remaining ports stay free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manynode.errors import UsageError
from phase3_sst.engines.sst.machine.wiring import Cable, HostPort, Link, Switch, Wiring, host_name, topology


@topology("dragonfly")
def dragonfly(description: Mapping[str, Any]) -> Wiring:
    """Return the wiring of a dragonfly."""
    machine = _Dragonfly(description)
    return Wiring(
        merlin="merlin.dragonfly",
        switches=[
            Switch(machine.name(index), index, machine.ports, machine.link_map if index == 0 else {})
            for index in range(machine.switches)
        ],
        cables=[*machine.local_cables(), *machine.global_cables()],
        hosts=machine.host_ports(),
        parameters={
            "hosts_per_router": machine.local_hosts,
            "routers_per_group": machine.routers,
            "intergroup_per_router": machine.global_links,
            "intergroup_links": max(machine.rounds, 1),
            "intragroup_links": machine.local_links,
            "num_groups": machine.groups,
            "global_route_mode": "relative",
            "algorithm": machine.algorithm(description.get("routing", "minimal")),
        },
        reorders=not description.get("routing", "minimal").startswith("minimal"),
        classes=["host-up", "host-down", "local", "global"],
        # With parallel cables within a group, merlin treats all local ports but the first as global.
        groups={} if machine.local_links > 1 else {"host-up": "host", "local": "group", "global": "global"},
    )


class _Dragonfly:
    def __init__(self, description: Mapping[str, Any]) -> None:
        self.groups: int = description["groups"]
        self.routers: int = description["routers_per_group"]
        self.local_hosts: int = description["hosts_per_router"]
        self.local_links: int = description.get("local_links", 1)
        self.global_links: int = description["global_links"]
        self.switches = self.groups * self.routers
        self.hosts = self.switches * self.local_hosts
        self.first_global_port = self.local_hosts + (self.routers - 1) * self.local_links
        self.ports = self.first_global_port + self.global_links
        group_ports = self.routers * self.global_links
        others = self.groups - 1
        self.rounds = group_ports // others if others else 0
        further = group_ports % others if others else 0
        if further % 2 == 1 and self.groups % 2 == 1:
            further -= 1
        # The numbers of the fast engine include its extra cables.
        self.numbered_ports = self.rounds * others + further
        self.first_local = 2 * self.hosts
        self.first_global = self.first_local + self.switches * (self.routers - 1) * self.local_links

    @property
    def link_map(self) -> Mapping[str, Any]:
        """Return merlin's table of a group's global ports: distance - 1 + cable * (groups - 1), -1 where free."""
        used = self.rounds * (self.groups - 1)
        return {"global_link_map": [port if port < used else -1 for port in range(self.routers * self.global_links)]}

    def algorithm(self, routing: str) -> str:
        """Return merlin's name of our routing algorithm."""
        if routing.startswith("minimal"):
            return "minimal"
        if routing != "ugal":
            return routing
        if self.local_links > 1:
            raise UsageError(
                "the sst engine cannot choose by load among parallel local cables",
                where="network.topology.routing",
                found=f"ugal with local_links {self.local_links}",
                allowed="ugal with one local cable; minimal or valiant otherwise",
                remedy="choose another routing, or the engine fast",
            )
        # merlin searches for a third group or router for ever if there is none.
        if self.groups == 2:
            return "min-a"
        return "minimal" if self.groups == 1 and self.routers == 1 else "ugal"

    def name(self, index: int) -> str:
        group, router = divmod(index, self.routers)
        return f"router-{group}-{router}"

    def _local(self, index: int, other: int, cable: int) -> tuple[int, Link]:
        """Return the port and the link from a router to another one of its group."""
        router, to = index % self.routers, other % self.routers
        place = (to if to < router else to - 1) * self.local_links + cable
        number = self.first_local + index * (self.routers - 1) * self.local_links + place
        return self.local_hosts + place, Link(number, "local", self.name(index), self.name(other))

    def local_cables(self) -> list[Cable]:
        cables = []
        for index in range(self.switches):
            for other in range(index + 1, (index // self.routers + 1) * self.routers):
                for cable in range(self.local_links):
                    a_port, forward = self._local(index, other, cable)
                    b_port, backward = self._local(other, index, cable)
                    cables.append(Cable(index, a_port, other, b_port, forward, backward))
        return cables

    def _global(self, group: int, port: int, peer: int) -> tuple[int, int, Link]:
        """Return the router, its port and the link over a global port of a group."""
        router, place = divmod(port, self.global_links)
        index = group * self.routers + router
        end = peer * self.routers + self._far_port(port) // self.global_links
        link = Link(self.first_global + group * self.numbered_ports + port, "global", self.name(index), self.name(end))
        return index, self.first_global_port + place, link

    def _far_port(self, port: int) -> int:
        others = self.groups - 1
        cable, distance = divmod(port, others)
        return cable * others + others - 1 - distance

    def global_cables(self) -> list[Cable]:
        cables = []
        for group in range(self.groups):
            for port in range(self.rounds * (self.groups - 1)):
                peer = (group + port % (self.groups - 1) + 1) % self.groups
                if peer < group:
                    continue
                a, a_port, forward = self._global(group, port, peer)
                b, b_port, backward = self._global(peer, self._far_port(port), group)
                cables.append(Cable(a, a_port, b, b_port, forward, backward))
        return cables

    def host_ports(self) -> list[HostPort]:
        found = []
        for host in range(self.hosts):
            index, port = divmod(host, self.local_hosts)
            names = host_name(host), self.name(index)
            found.append(
                HostPort(
                    host=host,
                    switch=index,
                    port=port,
                    up=Link(host, "host-up", *names),
                    down=Link(self.hosts + host, "host-down", *reversed(names)),
                )
            )
        return found
