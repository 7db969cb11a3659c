"""Mappings of ranks to nodes: their cost, and the slots of their ranks.

A mapping is the node of each rank, as an index into the job's nodes; each node has ``capacity`` slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phase3_sst.studies.congestion.mapping.task_graph import TaskGraph

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cost:
    """Bytes times weight of the machine graph: the sum over all pairs of ranks, and the largest of a pair."""

    total: float
    largest: float


def default_mapping(ranks: int, capacity: int) -> Ints:
    """Return the mapping of a launcher that fills one node after the other."""
    return np.arange(ranks, dtype=np.int64) // capacity


def cost(tasks: TaskGraph, weights: Floats, node_of_rank: npt.ArrayLike) -> Cost:
    """Return the estimated cost of communication (Brandt et al., section V)."""
    nodes = np.asarray(node_of_rank, dtype=np.int64)
    a, b, amount = tasks.edges()
    of_pair = amount * weights[nodes[a], nodes[b]]
    return Cost(float(of_pair.sum()), float(of_pair.max(initial=0.0)))


def slots(node_of_rank: Sequence[int] | Ints, capacity: int) -> list[int]:
    """Return the slot of each rank; ranks of a node have its slots in their order."""
    next_slot: dict[int, int] = {}
    chosen = []
    for node in map(int, node_of_rank):
        slot = next_slot.get(node, node * capacity)
        next_slot[node] = slot + 1
        chosen.append(slot)
    return chosen


def within_capacity(tasks: TaskGraph, weights: Floats, node_of_rank: Ints, capacity: int) -> Ints:
    """Return the mapping after moving ranks from overfull nodes, the cheapest move first."""
    nodes = node_of_rank.copy()
    load = np.bincount(nodes, minlength=len(weights))
    while (load > capacity).any():
        free = np.flatnonzero(load < capacity)
        best: tuple[float, int, int] | None = None
        for rank in np.flatnonzero(load[nodes] > capacity):
            by_node = _cost_on_nodes(tasks, weights, nodes, int(rank))
            more = by_node[free] - by_node[nodes[rank]]
            least = int(np.argmin(more))
            move = (float(more[least]), int(rank), int(free[least]))
            best = move if best is None else min(best, move)
        assert best is not None, "tasks fit the slots"
        _, moved, target = best
        load[nodes[moved]] -= 1
        load[target] += 1
        nodes[moved] = target
    return nodes


def _cost_on_nodes(tasks: TaskGraph, weights: Floats, nodes: Ints, rank: int) -> Floats:
    """Return the cost of the rank's messages with the rank on each node, and the others in place."""
    begin, end = tasks.amount.indptr[rank], tasks.amount.indptr[rank + 1]
    partners, amount = tasks.amount.indices[begin:end], tasks.amount.data[begin:end]
    return np.asarray(weights[:, nodes[partners]] @ amount, dtype=float)
