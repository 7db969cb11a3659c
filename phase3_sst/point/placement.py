"""Computes the machine's nodes for a job once; every engine simulates the same placement.

In: a :class:`Placement`, the node counts of job and machine, the seed, the nodes of other jobs. Out: the machine's node
for each node of the job, all different.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from manynode.config.placement import Placement
from manynode.errors import UsageError
from manynode.seeds import generator


def hosts(placement: Placement, nodes: int, room: int, seed: int, taken: Collection[int] = ()) -> list[int]:
    """Return the node of the machine for each of the job's ``nodes`` nodes, none of them in ``taken``.

    A random placement of more nodes starts with the nodes of a smaller one. A job that does not fit, or whose first
    node is not on the machine, raises a :class:`UsageError`.
    """
    occupied = {node for node in taken if 0 <= node < room}
    if nodes > room - len(occupied):
        beside = f", {len(occupied)} of them taken by other jobs" if occupied else ""
        raise UsageError(
            "a job does not fit the machine",
            where="placement",
            found=f"{nodes} nodes on a machine of {room}{beside}",
            allowed=f"at most {room - len(occupied)} nodes",
            remedy="lower the job's nodes or choose a larger network",
        )
    if placement.nodes == "listed":
        return _listed(placement.hosts, nodes, room, occupied)
    if placement.offset >= room:
        raise UsageError(
            "the first node of a job is beyond the machine",
            where="placement: offset",
            found=placement.offset,
            allowed=f"0 to {room - 1}",
            remedy="lower the offset or choose a larger network",
        )
    if placement.nodes == "random":
        free = [node for node in range(room) if node not in occupied]
        drawn = generator(seed, "placement").permutation(len(free))[:nodes]
        return [free[index] for index in drawn]
    return _strided(nodes, room, placement.offset, placement.stride, occupied)


def rank_order_of(placement: Placement, nodes: int, ranks_per_node: int) -> dict[str, Any]:
    """Return the run file's rank order: ``rank_order``, and ``slots`` when they are listed.

    A list without exactly one slot per rank raises a :class:`UsageError`.
    """
    if placement.rank_order != "listed":
        return {"rank_order": placement.rank_order}
    if len(placement.slots) != nodes * ranks_per_node:
        raise UsageError(
            "the slots of a placement do not fit the job",
            where="placement: slots",
            found=f"{len(placement.slots)} for {nodes * ranks_per_node} ranks",
            allowed="one for each rank",
        )
    return {"rank_order": "listed", "slots": list(placement.slots)}


def own_node(placement: Placement, rank: int, nodes: int, ranks_per_node: int) -> int:
    """Return the index of the job's node that has ``rank``."""
    if placement.rank_order == "cyclic":
        return rank % nodes
    return (placement.slots[rank] if placement.rank_order == "listed" else rank) // ranks_per_node


def _listed(given: Sequence[int], nodes: int, room: int, occupied: set[int]) -> list[int]:
    """Return the first ``nodes`` of the given nodes; all must exist and be free."""
    if len(given) < nodes:
        raise UsageError(
            "a job has more nodes than its placement lists",
            where="placement: hosts",
            found=f"{len(given)} for {nodes} nodes",
            allowed="at least one for each node of the job",
        )
    chosen = list(given[:nodes])
    beyond = [node for node in chosen if node >= room]
    twice = [node for node in chosen if node in occupied]
    if beyond or twice:
        raise UsageError(
            "a listed node is not on the machine" if beyond else "a listed node belongs to another job",
            where="placement: hosts",
            found=(beyond or twice)[0],
            allowed=f"0 to {room - 1}" if beyond else "nodes that the previous jobs leave free",
        )
    return chosen


def _strided(nodes: int, room: int, offset: int, stride: int, occupied: set[int]) -> list[int]:
    """Return every ``stride``-th node from ``offset`` on, with wrap-around, or the next free one if it is occupied."""
    # Maps a node to a later one that may be free; paths are compressed on every walk. Otherwise each node of the job
    # would walk long runs of occupied nodes again. Holds occupied nodes only, since a machine may have millions of
    # nodes.
    onward = {node: (node + 1) % room for node in occupied}
    chosen: list[int] = []
    at = offset
    while len(chosen) < nodes:
        walked = []
        at %= room
        while at in onward:
            walked.append(at)
            at = onward[at]
        for node in walked:
            onward[node] = at
        chosen.append(at)
        onward[at] = (at + 1) % room
        at += stride
    return chosen
