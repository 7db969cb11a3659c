"""The torus of the fast engine, wired for merlin's ``torus``: same numbers, same rings, merlin's cables.

Each switch has, per dimension of more than one switch, its cables to the next switch ("plus") and as many to the one
before ("minus"), then its hosts. Links have the numbers of the fast engine
(``phase3_sst/machine/topologies/torus.hpp``).

merlin's torus has rings. One kind of row is possible there: of two switches, both of which always use their ports
"plus", because at equal distance merlin's torus goes up. One bundle of cables therefore joins these ports. merlin has a
``mesh`` of rows, too, but traffic stops in it: halos of 2 KiB on 4 x 4 x 2 switches with two hosts each never ended
(merlin of July 2026).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from manynode.errors import UsageError
from phase3_sst.engines.sst.machine.wiring import Cable, HostPort, Link, Switch, Wiring, host_name, topology


@topology("torus")
def torus(description: Mapping[str, Any]) -> Wiring:
    """Return the wiring of a torus."""
    shape = list(description["shape"])
    widths = list(description.get("links_by_dimension") or [description["links_per_direction"]] * len(shape))
    local = description["hosts_per_switch"]
    count = math.prod(shape)
    rings = [dimension for dimension, size in enumerate(shape) if size > 1]
    rows = {dimension for dimension in rings if dimension in (description.get("mesh") or [])}
    long_rows = [dimension for dimension in rows if shape[dimension] > 2]
    if long_rows:
        raise UsageError(
            "the sst engine cannot have rows of more than two switches",
            where="network.topology.mesh",
            found=f"dimension {long_rows[0]} with {shape[long_rows[0]]} switches",
            allowed="rings, and rows of two switches: merlin's torus",
            remedy="use the engine fast or simgrid, or make the dimension a ring",
        )
    # merlin numbers coordinates as the fast engine does; dimensions of one switch have no ports and are left out. A
    # torus of one switch keeps one dimension with free ports.
    sizes = [shape[dimension] for dimension in rings] or [1]
    ring_widths = [widths[dimension] for dimension in rings] or [widths[0]]
    first_host_port = 2 * sum(ring_widths)
    ports = first_host_port + local
    return Wiring(
        merlin="merlin.torus",
        switches=[Switch(_name(shape, index), index, ports, {}) for index in range(count)],
        cables=_cables(shape, rings, widths, rows, first=2 * count * local),
        hosts=_hosts(shape, local, first_host_port),
        parameters={
            "shape": "x".join(str(size) for size in sizes),
            "width": "x".join(str(width) for width in ring_widths),
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


def _cables(shape: list[int], rings: list[int], widths: list[int], rows: set[int], *, first: int) -> list[Cable]:
    """Return the cables; ``first`` is the number of the first link."""
    count = math.prod(shape)
    cables: list[Cable] = []
    plus, first_port = first, 0
    for dimension in rings:
        size, width = shape[dimension], widths[dimension]
        stride = math.prod(shape[:dimension])
        is_row = dimension in rows
        minus = plus + (count // size * (size - 1) if is_row else count) * width
        for index in range(count):
            block, coordinate = divmod(index // stride, size)
            if is_row and coordinate == size - 1:
                continue
            following = index + ((coordinate + 1) % size - coordinate) * stride
            names = _name(shape, index), _name(shape, following)
            # In rows, the numbers of the switches with a link of the direction close up.
            sender, back = (index - block * stride, following - (block + 1) * stride) if is_row else (index, following)
            for cable in range(width):
                cables.append(
                    Cable(
                        a=index,
                        a_port=first_port + cable,
                        b=following,
                        b_port=first_port + cable + (0 if is_row else width),
                        forward=Link(plus + sender * width + cable, f"dim{dimension}-plus", *names),
                        backward=Link(minus + back * width + cable, f"dim{dimension}-minus", *reversed(names)),
                    )
                )
        plus = minus + (minus - plus)
        first_port += 2 * width
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
