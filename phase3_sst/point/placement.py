"""Computes the machine's nodes for a job once; every engine simulates the same placement.

In: a :class:`Placement`, the node counts of job and machine, the seed, the nodes of other jobs, the network. Out: the
machine's node for each node of the job, all different.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from manynode.config.host_names import all_expanded, numbers_of
from manynode.config.network import Network
from manynode.config.placement import Placement
from manynode.errors import UsageError, nearest
from manynode.seeds import generator
from phase3_sst.point.folding import folded


def hosts(
    placement: Placement,
    nodes: int,
    room: int,
    seed: int,
    taken: Collection[int] = (),
    network: Network | None = None,
) -> list[int]:
    """Return the node of the machine for each of the job's ``nodes`` nodes, none of them in ``taken``.

    A random placement of more nodes starts with the nodes of a smaller one. A job that does not fit, or whose first
    node is not on the machine, raises a :class:`UsageError`. ``network`` knows the names of nodes and the torus of a
    folded job.
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
        return _listed(_numbers(placement, network), nodes, room, occupied)
    if placement.nodes == "fragmented":
        return _first_free(placement.busy, nodes, room, seed, occupied)
    if placement.offset >= room:
        raise UsageError(
            "the first node of a job is beyond the machine",
            where="placement: offset",
            found=placement.offset,
            allowed=f"0 to {room - 1}",
            remedy="lower the offset or choose a larger network",
        )
    if placement.nodes == "folded":
        return _folded(placement, nodes, room, occupied, network)
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


def _numbers(placement: Placement, network: Network | None) -> list[int]:
    """Return the listed nodes by number."""
    names = all_expanded(network.node_names) if network is not None else []
    try:
        return numbers_of(placement.hosts, names)
    except ValueError as error:
        unknown = str(error)
    if not names:
        raise UsageError(
            "a placement lists nodes by name on a machine whose nodes have none",
            where="placement: hosts",
            found=unknown,
            allowed="numbers of nodes; or names, if the network file has them in 'node_names'",
            remedy="add node_names to the network file, or list numbers",
        )
    near = nearest(unknown, names)
    raise UsageError(
        "a listed node is not on the machine",
        where="placement: hosts",
        found=unknown,
        allowed=f"the {len(names)} nodes from {names[0]} to {names[-1]} of the network's node_names",
        remedy=f"did you mean {near!r}?" if near else "correct the name, or extend node_names",
    )


def _first_free(busy: float, nodes: int, room: int, seed: int, occupied: set[int]) -> list[int]:
    """Return the first free nodes of a machine that a scheduler has filled with jobs and from which some have gone.

    The free nodes are full of jobs, each on consecutive ones; sizes are log-uniform from 1 to an eighth of the machine.
    Jobs end in drawn order until at most ``busy`` of the nodes are held and the job fits.
    """
    free = [node for node in range(room) if node not in occupied]
    draw = generator(seed, "fragmented placement")
    sizes: list[int] = []
    while sum(sizes) < len(free):
        size = int(max(1, room // 8) ** draw.random())
        sizes.append(min(size, len(free) - sum(sizes)))
    held, gone = len(free), [False] * len(sizes)
    for number in draw.permutation(len(sizes)):
        if held <= busy * len(free) and len(free) - held >= nodes:
            break
        gone[number] = True
        held -= sizes[number]
    chosen, first = [], 0
    for size, ended in zip(sizes, gone, strict=True):
        chosen += free[first : first + size] if ended else []
        first += size
    return chosen[:nodes]


def _folded(placement: Placement, nodes: int, room: int, occupied: set[int], network: Network | None) -> list[int]:
    """Return the nodes of a job's shape on a torus, moved on by the offset."""
    if network is None:
        raise UsageError(
            "a folded placement needs the network's torus", where="placement: nodes", found="folded", allowed="listed"
        )
    chosen = folded(network, placement.shape, placement.axes, placement.offset)
    if len(chosen) < nodes:
        raise UsageError(
            "the shape of a placement has too few nodes for the job",
            where="placement: shape",
            found=f"{' x '.join(map(str, placement.shape))} for {nodes} nodes",
            allowed="at least as many nodes as the job has",
            remedy="enlarge the shape or lower the job's nodes",
        )
    if twice := [node for node in chosen[:nodes] if node in occupied]:
        raise UsageError(
            "a node of the folded job belongs to another job",
            where="placement: shape",
            found=twice[0],
            allowed="nodes that the previous jobs leave free",
            remedy="choose another offset, or place the folded job first",
        )
    return chosen[:nodes]


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
