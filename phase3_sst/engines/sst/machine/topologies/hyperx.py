"""The HyperX of the fast engine, wired for merlin's ``hyperx``: same numbers, same links.

Ports of a switch are merlin's: per dimension of more than one switch, the cables to each other switch by its
coordinate, then the hosts. Links have the numbers of the fast engine (``phase3_sst/machine/topologies/hyperx.hpp``).
Of several cables between two switches, merlin's fixed and Valiant routes use only the first: these are refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from manynode.errors import UsageError
from phase3_sst.engines.sst.machine.wiring import Cable, HostPort, Link, Switch, Wiring, host_name, topology

_ROUTING = {"dimension-order": "DOR", "minimal-adaptive": "MIN-A", "valiant": "valiant"}


@topology("hyperx")
def hyperx(description: Mapping[str, Any]) -> Wiring:
    """Return the wiring of a HyperX."""
    shape = list(description["shape"])
    widths = list(description.get("links_by_dimension") or [1] * len(shape))
    routing = description.get("routing", "dimension-order")
    local = description["hosts_per_switch"]
    used = [dimension for dimension, size in enumerate(shape) if size > 1]
    if routing != "minimal-adaptive" and any(widths[dimension] > 1 for dimension in used):
        raise UsageError(
            "the sst engine cannot spread traffic over parallel cables of a hyperx",
            where="network.topology.links_by_dimension",
            found=f"{widths} with routing {routing}",
            allowed="1 everywhere, or routing minimal-adaptive: merlin uses only the first cable otherwise",
            remedy="choose one of these, or the engine fast or simgrid",
        )
    count = math.prod(shape)
    # A network of one switch keeps one dimension of one switch, without ports.
    sizes = [shape[dimension] for dimension in used] or [1]
    first_host_port = sum((shape[dimension] - 1) * widths[dimension] for dimension in used)
    return Wiring(
        merlin="merlin.hyperx",
        switches=[Switch(_name(shape, index), index, first_host_port + local, {}) for index in range(count)],
        cables=_cables(shape, used, widths, 2 * count * local),
        hosts=_hosts(shape, local, first_host_port),
        parameters={
            "shape": "x".join(map(str, sizes)),
            "width": "x".join(str(widths[dimension]) for dimension in used) or "1",
            "local_ports": local,
            "algorithm": _ROUTING[routing],
        },
        reorders=routing != "dimension-order",
        classes=["host-up", "host-down", *(f"dim{dimension}" for dimension in used)],
        groups={},
    )


def _name(shape: list[int], index: int) -> str:
    name = "router"
    for size in shape:
        index, coordinate = divmod(index, size)
        name += f"-{coordinate}"
    return name


def _cables(shape: list[int], used: list[int], widths: list[int], first: int) -> list[Cable]:
    count = math.prod(shape)
    cables: list[Cable] = []
    first_port = 0
    for dimension in used:
        size, width, stride = shape[dimension], widths[dimension], math.prod(shape[:dimension])

        def end(at: int, other: int) -> int:
            """Return the place of the first cable from a switch to the coordinate of another one."""
            here, there = at // stride % size, other // stride % size  # noqa: B023
            return (there if there < here else there - 1) * width  # noqa: B023

        for a in range(count):
            for coordinate in range(a // stride % size + 1, size):
                b = a + (coordinate - a // stride % size) * stride
                names = _name(shape, a), _name(shape, b)
                for cable in range(width):
                    forward = first + a * (size - 1) * width + end(a, b) + cable
                    backward = first + b * (size - 1) * width + end(b, a) + cable
                    cables.append(
                        Cable(
                            a=a,
                            a_port=first_port + end(a, b) + cable,
                            b=b,
                            b_port=first_port + end(b, a) + cable,
                            forward=Link(forward, f"dim{dimension}", *names),
                            backward=Link(backward, f"dim{dimension}", *reversed(names)),
                        )
                    )
        first += count * (size - 1) * width
        first_port += (size - 1) * width
    return cables


def _hosts(shape: list[int], local: int, first_port: int) -> list[HostPort]:
    hosts = math.prod(shape) * local
    found = []
    for host in range(hosts):
        index, port = divmod(host, local)
        names = host_name(host), _name(shape, index)
        up, down = Link(host, "host-up", *names), Link(hosts + host, "host-down", *reversed(names))
        found.append(HostPort(host=host, switch=index, port=first_port + port, up=up, down=down))
    return found
