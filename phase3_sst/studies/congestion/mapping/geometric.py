"""Geometric mapping: maps neighbouring tasks to neighbouring nodes by their coordinates.

In: coordinates of the tasks (their place in a Cartesian grid) and of the nodes (their switch's place in the machine).
Out: the node of each rank. Both sets are repeatedly bisected across their longest extent, and matching halves are
paired: recursive coordinate bisection, like the multi-jagged partitioner of Deveci et al. ("Exploiting geometric
partitioning in task mapping for parallel computers", IPDPS 2014) with two parts per cut. It uses neither routes nor
counters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manynode.config.network import nic_of, topology_of
from manynode.errors import UsageError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def geometric_mapping(task_coordinates: Floats, node_coordinates: Floats, capacity: int) -> Ints:
    """Return the node of each rank; coordinates are [ranks, dimensions] and [nodes, dimensions]."""
    node_of_rank = np.zeros(len(task_coordinates), dtype=np.int64)

    def divide(tasks: Ints, nodes: Ints) -> None:
        if len(nodes) == 1:
            node_of_rank[tasks] = nodes[0]
            return
        nodes = _along_longest(node_coordinates, nodes)
        half = (len(nodes) + 1) // 2
        # As many tasks as the half has slots; with fewer tasks than slots, a proportional share.
        share = min(half * capacity, -(-len(tasks) * half // len(nodes)))
        share = max(share, len(tasks) - (len(nodes) - half) * capacity)
        tasks = _along_longest(task_coordinates, tasks)
        divide(tasks[:share], nodes[:half])
        divide(tasks[share:], nodes[half:])

    divide(np.arange(len(task_coordinates)), np.arange(len(node_coordinates)))
    return node_of_rank


def _along_longest(coordinates: Floats, chosen: Ints) -> Ints:
    """Return ``chosen`` sorted along the dimension in which they extend farthest, then along the others in turn."""
    if len(chosen) == 0:
        return chosen
    points = coordinates[chosen]
    extents = points.max(axis=0) - points.min(axis=0)
    order = [int(dimension) for dimension in np.argsort(-extents, kind="stable")]
    return chosen[np.lexsort([points[:, dimension] for dimension in reversed(order)])]


def grid_coordinates(grid: Sequence[int], ranks: int) -> Floats:
    """Return the place of each rank in a Cartesian grid, the last dimension running fastest (as MPI's do)."""
    if np.prod(grid) != ranks:
        raise UsageError(
            "the grid of the ranks does not have one place per rank",
            where="grid",
            found=f"{'x'.join(map(str, grid))} for {ranks} ranks",
        )
    return np.stack(np.unravel_index(np.arange(ranks), tuple(grid)), axis=1).astype(float)


def even_grid(ranks: int, dimensions: int = 3) -> list[int]:
    """Return extents as equal as the prime factors of ``ranks`` allow, the largest first (as the skeletons' grids)."""
    extents = [1] * dimensions
    factors, rest, divisor = [], ranks, 2
    while rest > 1:
        while rest % divisor == 0:
            factors.append(divisor)
            rest //= divisor
        divisor += 1
    for factor in sorted(factors, reverse=True):
        extents[int(np.argmin(extents))] *= factor
    return sorted(extents, reverse=True)


def node_coordinates(network: Mapping[str, Any], hosts: Sequence[int]) -> Floats:
    """Return [hosts, dimensions]: the place of each node's switch in the machine of a resolved network."""
    nics = [nic_of(network["host"], host, 0) for host in hosts]
    return np.array(topology_of(network["topology"]).places(nics), dtype=float)
