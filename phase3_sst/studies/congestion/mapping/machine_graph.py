"""The machine graph: the cost of sending between two allocated nodes, by a metric (Brandt et al., section III).

In: the routes between the nodes and a snapshot of the counters. Out: a symmetric matrix of weights [nodes, nodes]; its
diagonal is the cost of sending within a node. The graph is complete over the slots of the nodes. Slots of a node have
the same weights, so the nodes' matrix is sufficient.
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
# Percent added per link on the route in the metrics of counters, to its stalls or use.
PER_HOP = 5.0

Floats = npt.NDArray[np.float64]


def machine_graph(metric: str, routes: Routes, snapshot: Snapshot | None = None, per_hop: float = 0.0) -> Floats:
    """Return the weights of ``metric`` between the nodes of ``routes``.

    ``none``: 1 between any two slots. ``hops``: links between switches on the route. ``bw`` and ``stalls``: the largest
    percentage of bandwidth used, or of time stalled, of the links between switches on the route. The weight is the
    larger of both directions and the mean over several paths; it is 0 within a node and between nodes of a switch,
    except for ``none``. ``per_hop`` is added to the latter two metrics for each link. Without it, as in Brandt et al.,
    all routes without stalls are equal, and the job's own messages may crowd long ones.
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
