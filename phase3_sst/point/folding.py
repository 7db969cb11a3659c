"""Lays the logical shape of a job onto a torus, so that nodes that are neighbours in the job are neighbours there.

Each dimension of the job goes along one dimension of the torus, or walks through the plane of two: Tofu's view of six
dimensions as three (Ajima, Sumimoto, Shimizu, "Tofu: a 6D mesh/torus interconnect for exascale computers", Computer 42
(11), 2009). Along x and a, the walk goes out at the first place of a and comes back at the second; with the ring b of
three, it goes out zigzag on two places and comes back on the third. The ends of a walk are neighbours too, wherever the
plane has such a walk: then the job's dimension is a ring.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from manynode.config.network import Network
from manynode.config.topologies.torus import Torus
from manynode.errors import UsageError


def folded(network: Network, shape: Sequence[int], axes: Sequence[Sequence[int]], offset: int) -> list[int]:
    """Return the node of the torus for each node of a job of ``shape``; the first dimension runs fastest.

    ``axes``: the dimensions of the torus for each of the job's; empty: as :class:`Placement` says. ``offset``: node of
    the torus at the job's origin. A job that the torus has no room for raises a :class:`UsageError`.
    """
    torus = _torus(network)
    sizes = torus.shape
    axes = axes or _default_axes(len(shape), len(sizes))
    for axis in axes:
        for at in axis:
            if at >= len(sizes):
                raise _refusal("axes", f"dimension {at}", f"0 to {len(sizes) - 1}: the dimensions of the torus")
    origin = _coordinates(offset, sizes)
    walks = [
        _walk(torus, number, length, axis, origin)
        for number, (length, axis) in enumerate(zip(shape, axes, strict=True))
    ]
    nodes = []
    for place in itertools.product(*reversed(walks)):
        spot = list(origin)
        for axis, step in zip(reversed(axes), place, strict=True):
            for dimension, along in zip(axis, step, strict=True):
                spot[dimension] = (origin[dimension] + along) % sizes[dimension]
        nodes.append(sum(where * math.prod(sizes[:dimension]) for dimension, where in enumerate(spot)))
    return nodes


def walk(length: int, outer: int, inner: int, inner_is_ring: bool) -> list[tuple[int, int]]:
    """Return ``length`` steps through a plane of ``outer`` x ``inner`` places, each next to the one before.

    It takes as few of the outer places as possible, as a scheduler that gives whole units of ``inner`` nodes would.
    Its ends are neighbours too where this is possible; ``inner_is_ring`` says whether the first and the last of the
    inner places are neighbours. ``length`` must not exceed the plane.
    """
    rows = -(-length // inner)
    assert rows <= outer
    missing = rows * inner - length
    if rows == 1 or inner == 1:
        return [(step // inner, step % inner) for step in range(length)]
    if inner == 2:
        half = -(-length // 2)
        return [(row, 0) for row in range(half)] + [(row, 1) for row in range(half - 1, 2 * half - length - 1, -1)]
    closes = rows % 2 == 0 or inner_is_ring
    # Zigzag over all places but the first, back along the first one.
    out = _zigzag(rows, range(1, inner))
    back = [(row, 0) for row in range(rows - 1, -1, -1)]
    if missing == 0 and closes:
        return out + back
    if inner == 3 and missing == 1 and (rows % 2 == 1 or inner_is_ring):
        return out[:-1] + back
    if inner == 3 and missing == 2 and closes:
        # The turn at the last place of the first two rows is cut short.
        return [step for step in out if step not in ((0, 2), (1, 2))] + back
    # No walk with neighbouring ends.
    return _zigzag(rows, range(inner))[:length]


def _zigzag(rows: int, places: range) -> list[tuple[int, int]]:
    return [(row, place) for row in range(rows) for place in (places if row % 2 == 0 else places[::-1])]


def _torus(network: Network) -> Torus:
    topology, rails = network.topology, network.host.rails
    if not isinstance(topology, Torus):
        raise UsageError(
            "only a torus can have a folded job",
            where="placement: nodes",
            found=f"folded, on a {topology.kind}",
            allowed="linear, random, strided, fragmented, listed",
            remedy="choose another placement, or a torus",
        )
    if topology.hosts_per_switch != rails or network.host.rail_stride > 1:
        raise UsageError(
            "a folded job needs a torus with one node at each switch",
            where="placement: nodes",
            found=f"folded, with {topology.hosts_per_switch} hosts per switch, {rails} rails, "
            f"rail_stride {network.host.rail_stride}",
            allowed="as many rails as hosts per switch, rail_stride 1",
            remedy="choose another placement",
        )
    return topology


def _default_axes(dimensions: int, of_torus: int) -> list[list[int]]:
    if of_torus == dimensions:
        return [[dimension] for dimension in range(dimensions)]
    if of_torus == 2 * dimensions:
        return [[dimensions + dimension, dimension] for dimension in range(dimensions)]
    raise _refusal(
        "axes",
        f"none, for {dimensions} dimensions on {of_torus} of the torus",
        "the dimensions of the torus for each of the job's, unless there are as many or twice as many",
    )


def _walk(torus: Torus, number: int, length: int, axis: Sequence[int], origin: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the steps of one dimension of the job along its dimensions of the torus, from the job's origin."""
    sizes = [torus.shape[dimension] for dimension in axis]
    # In a row a walk cannot go past the last switch.
    rooms = [
        size - origin[dimension] if dimension in torus.mesh else size
        for dimension, size in zip(axis, sizes, strict=True)
    ]
    if length > math.prod(rooms):
        raise _refusal(
            f"shape[{number}]",
            length,
            f"at most {math.prod(rooms)}: dimensions {' and '.join(map(str, axis))} of the torus",
        )
    if len(axis) == 1:
        return [(step,) for step in range(length)]
    is_ring = axis[1] not in torus.mesh and rooms[1] == sizes[1]
    return [tuple(step) for step in walk(length, rooms[0], rooms[1], is_ring)]


def _coordinates(node: int, sizes: Sequence[int]) -> list[int]:
    found = []
    for size in sizes:
        node, at = divmod(node, size)
        found.append(at)
    return found


def _refusal(key: str, found: object, allowed: str) -> UsageError:
    return UsageError(
        "the shape of a job cannot be laid onto the torus",
        where=f"placement: {key}",
        found=found,
        allowed=allowed,
        remedy="choose a smaller shape, other axes, or a larger torus",
    )
