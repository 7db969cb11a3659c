"""The machine graph: what sending between two of the allocated nodes costs, by a metric (Brandt et al., section III).

In: the routes between the nodes and a snapshot of the counters. Out: a symmetric matrix of weights [nodes, nodes]; its
diagonal is what sending within a node costs. The graph is complete over the slots of the nodes; slots of a node have
the same weights, so that the nodes' matrix is all of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manynode.errors import UsageError
from phase3_sst.studies.congestion.mapping.link_paths import Routes
from phase3_sst.studies.congestion.mapping.snapshot import Snapshot

NONE, HOPS, BW, STALLS = "none", "hops", "bw", "stalls"
METRICS = (NONE, HOPS, BW, STALLS)
OF_COUNTERS = (BW, STALLS)
# Percent for which a link on the route counts in the metrics of counters, beside what it is stalled or used.
PER_HOP = 5.0

Floats = npt.NDArray[np.float64]


def machine_graph(metric: str, routes: Routes, snapshot: Snapshot | None = None, per_hop: float = 0.0) -> Floats:
    """Return the weights of ``metric`` between the nodes of ``routes``.

    ``none``: 1 between any two slots. ``hops``: links between switches on the route. ``bw`` and ``stalls``: the largest
    percentage of bandwidth used, or of time stalled, of the links between switches on the route. The larger of both
    directions, the mean over several ways; within a node and between nodes of a switch 0, but for ``none``.
    ``per_hop`` is added to the latter two for each link: without it, as with Brandt et al., routes that are not stalled
    are all the same, and the job's own messages may crowd on long ones.
    """
    if metric == NONE:
        return np.ones((len(routes.hosts), len(routes.hosts)))
    if metric == HOPS:
        return routes.between(routes.hops)
    if metric not in METRICS:
        raise UsageError("unknown metric", found=metric, allowed=", ".join(METRICS))
    if snapshot is None:
        raise UsageError(
            f"the metric {metric} needs counters",
            where="--snapshot",
            found="none given",
            remedy="give a snapshot, or choose hops or none",
        )
    of_link = snapshot.percent_bandwidth if metric == BW else snapshot.percent_stalled
    return routes.between(routes.largest(of_link) + per_hop * routes.hops)
