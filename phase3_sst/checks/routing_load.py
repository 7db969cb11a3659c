"""The busiest link of an exchange on fixed routes: the most messages that any link carries.

In: the ``network`` of a run file with fixed routes, and pairs of nodes. Out: the load of the busiest link. A minimum
cut between the halves of a machine bounds what the best routing can carry. Fixed routes carry less where the halves cut
a subtree, or where messages do not divide evenly among links. This figure tells how much less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from phase3_sst.engines.native_routes import routes_on


def busiest_link(network: Mapping[str, Any], pairs: Iterable[tuple[int, int]]) -> int:
    """Return the most messages on a link when each NIC of a pair's first node sends one to the second node.

    NICs of the same number send to each other.
    """
    return int(np.bincount(routes_on(network, pairs).links).max())
