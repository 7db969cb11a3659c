"""Estimates a mapping's own load on the links; the machine graph's weights only include earlier traffic of others.

In: task graph, routes, snapshot, a mapping. Out: the time in which the busiest link between switches would carry the
job's bytes, at the bandwidth that others leave. It reveals a mapping that avoids stalled links but crowds its own
messages on a few others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from phase3_sst.studies.congestion.mapping.link_paths import Routes
from phase3_sst.studies.congestion.mapping.snapshot import Snapshot
from phase3_sst.studies.congestion.mapping.task_graph import TaskGraph

# Of a link that others fill, a job that comes to it gets its turn all the same. Of what was tried, 0.05 to 0.5, shares
# up to a tenth judge mappings of drawn cases as well as larger ones, and that of the paper's case better.
LEAST_SHARE = 0.1
# By how much the traffic of others must lengthen the time of the job's busiest link for a mapping to be taken: below it
# a job loses little (an eighth of its time at most in four of five drawn cases, benchmarks/mapping.py with seeds 1 to
# 12), and mapped runs were up to a quarter slower.
CONGESTED = 2.0

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def congested(tasks: TaskGraph, routes: Routes, snapshot: Snapshot | None, nodes: Ints) -> bool:
    """Return whether other traffic makes the busiest link of a mapping much slower."""
    undisturbed_s = busiest_link_s(tasks, routes, None, nodes)
    return busiest_link_s(tasks, routes, snapshot, nodes) >= CONGESTED * undisturbed_s


def busiest_link_s(tasks: TaskGraph, routes: Routes, snapshot: Snapshot | None, nodes: Ints) -> float:
    """Return the longest time [s] that any link needs to carry the job's bytes.

    ``nodes`` is the node of each rank. Half of the bytes between two ranks go in each direction; bytes of a pair of
    nodes are spread evenly over its paths.
    """
    size = len(routes.hosts)
    a, b, amount = tasks.edges()
    between = np.zeros((size, size))
    np.add.at(between, (nodes[a], nodes[b]), amount / 2)
    between = between + between.T
    ways = np.zeros((size, size))
    np.add.at(ways, (routes.source, routes.destination), 1.0)
    of_way = between[routes.source, routes.destination] / ways[routes.source, routes.destination]
    load = np.zeros(int(routes.machine_links.index.max()) + 1)
    np.add.at(load, routes.links, np.repeat(of_way, np.diff(routes.first)))
    used = np.zeros(len(load)) if snapshot is None else snapshot.percent_bandwidth / 100
    left = routes.machine_links["bandwidth_Bps"].to_numpy(float) * np.maximum(1 - used, LEAST_SHARE)
    return float((load / left).max(initial=0.0))
