"""The torus of the fast engine, wired for merlin's ``torus``: same numbers, same rings, merlin's choice of cables.

Each switch has, per dimension of more than one switch, links_per_direction ports to the next switch ("plus") and as
many to the one before ("minus"), then its hosts. Cable k of a direction has the number switch * links_per_direction + k
in the fast engine (``phase3_sst/machine/topologies/torus.hpp``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from phase3_sst.engines.sst.machine.wiring import Cable, HostPort, Link, Switch, Wiring, host_name, topology


@topology("torus")
def torus(description: Mapping[str, Any]) -> Wiring:
    """Return the wiring of a torus."""
    shape = list(description["shape"])
    width = description["links_per_direction"]
    local = description["hosts_per_switch"]
    count = math.prod(shape)
    rings = [dimension for dimension, size in enumerate(shape) if size > 1]
    first_host_port = 2 * width * len(rings)
    # merlin numbers coordinates as the fast engine does; dimensions of one switch have no ports and are left out. A
    # torus of one switch keeps one dimension with free ports.
    sizes = [shape[dimension] for dimension in rings] or [1]
    ports = max(first_host_port, 2 * width) + local
    return Wiring(
        merlin="merlin.torus",
        switches=[Switch(_name(shape, index), index, ports, {}) for index in range(count)],
        cables=_cables(shape, rings, width, 2 * count * local),
        hosts=_hosts(shape, local, ports - local),
        parameters={
            "shape": "x".join(str(size) for size in sizes),
            "width": "x".join(str(width) for _ in sizes),
            "local_ports": local,
        },
        reorders=False,
        classes=["host-up", "host-down", *(f"dim{d}-{way}" for d in rings for way in ("plus", "minus"))],
        groups={},
    )


def _name(shape: list[int], index: int) -> str:
    name = "router"
    for size in shape:
        index, coordinate = divmod(index, size)
        name += f"-{coordinate}"
    return name


def _cables(shape: list[int], rings: list[int], width: int, first: int) -> list[Cable]:
    count = math.prod(shape)
    cables = []
    for place, dimension in enumerate(rings):
        stride = math.prod(shape[:dimension])
        plus = first + 2 * place * count * width
        minus = plus + count * width
        for index in range(count):
            coordinate = index // stride % shape[dimension]
            following = index + ((coordinate + 1) % shape[dimension] - coordinate) * stride
            names = _name(shape, index), _name(shape, following)
            for cable in range(width):
                cables.append(
                    Cable(
                        a=index,
                        a_port=2 * place * width + cable,
                        b=following,
                        b_port=(2 * place + 1) * width + cable,
                        forward=Link(plus + index * width + cable, f"dim{dimension}-plus", *names),
                        backward=Link(minus + following * width + cable, f"dim{dimension}-minus", *reversed(names)),
                    )
                )
    return cables


def _hosts(shape: list[int], local: int, first_port: int) -> list[HostPort]:
    hosts = math.prod(shape) * local
    found = []
    for host in range(hosts):
        index, port = divmod(host, local)
        names = host_name(host), _name(shape, index)
        found.append(
            HostPort(
                host=host,
                switch=index,
                port=first_port + port,
                up=Link(host, "host-up", *names),
                down=Link(hosts + host, "host-down", *reversed(names)),
            )
        )
    return found
