"""The routes between the nodes of a job (:mod:`phase3_sst.engines.native_routes`), for mapping tasks around links.

In: a resolved network and the nodes of the machine. Out: for each ordered pair of nodes the links between switches on
its path. With fixed routes, a pair has one path per rail. If routes depend on load or chance, paths are drawn as an
idle network would choose them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode.config.network import Network
from manynode.config.quantities import RESOLVED
from phase3_sst.engines.native_routes import routes_on
from phase3_sst.point.run_file import network_description

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Routes:
    """Paths between ``hosts``.

    ``source`` and ``destination`` are indices into ``hosts``, one entry per path. ``links`` has the concatenated links
    of all paths; ``first`` has the start of each path in it, and the end. ``machine_links`` are all links of the
    machine, by number: class, source, target, bandwidth_Bps.
    """

    hosts: Sequence[int]
    source: Ints
    destination: Ints
    first: Ints
    links: Ints
    machine_links: pd.DataFrame

    @property
    def hops(self) -> Floats:
        """Links between switches on each path."""
        return np.diff(self.first).astype(float)

    def largest(self, of_link: Floats) -> Floats:
        """Return for each path the largest value of its links, 0 without links; ``of_link`` is by link number."""
        values = np.append(of_link[self.links], 0.0)
        most = np.maximum.reduceat(values, self.first[:-1]) if len(self.first) > 1 else np.zeros(0)
        return np.asarray(np.where(self.hops > 0, most, 0.0), dtype=float)

    def between(self, of_way: Floats) -> Floats:
        """Return [hosts, hosts]: the mean over the paths of each pair, then the larger of both directions."""
        size = len(self.hosts)
        sums, ways = np.zeros((size, size)), np.zeros((size, size))
        np.add.at(sums, (self.source, self.destination), of_way)
        np.add.at(ways, (self.source, self.destination), 1.0)
        mean = sums / np.maximum(ways, 1.0)
        return np.asarray(np.maximum(mean, mean.T), dtype=float)


def routes_between(network: Mapping[str, Any], hosts: Sequence[int]) -> Routes:
    """Return the routes between ``hosts`` (different nodes) on a resolved network."""
    described = network_description(Network.model_validate(dict(network), context=RESOLVED))
    found = routes_on(described, permutations(hosts, 2))
    place = {host: index for index, host in enumerate(hosts)}
    # The nodes' own links are on every route of a node, whatever the mapping.
    of_hosts = found.machine_links["class"].str.startswith("host-").to_numpy()
    kept = ~of_hosts[found.links]
    way = np.repeat(np.arange(len(found.lengths)), found.lengths)[kept]
    first = np.searchsorted(way, np.arange(len(found.lengths) + 1)).astype(np.int64)
    source, destination = (
        np.array([place[node] for node in ends.tolist()], dtype=np.int64) for ends in (found.source, found.destination)
    )
    return Routes(hosts, source, destination, first, found.links[kept], found.machine_links)
