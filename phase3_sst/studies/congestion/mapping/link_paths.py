"""The routes between the nodes of a job, as the engines compute them (``manynode-routes`` of the native build).

In: a resolved network and the nodes of the machine. Out: for each ordered pair of nodes the links between switches on
its path. With fixed routes, a pair has one path per rail. If routes depend on load or chance, paths are drawn as an
idle network would choose them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode import process
from manynode.paths import native_program
from phase3_sst.engines.native_engine import engine_error
from phase3_sst.point.run_file import RUN_SCHEMA, network_description, run_text

_PROGRAM = "manynode-routes"

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
    job = {"application": {"name": "patterns"}, "nodes": len(hosts), "ranks_per_node": 1, "hosts": list(hosts)}
    run = {"schema": RUN_SCHEMA, "network": network_description(network), "jobs": [job]}
    with tempfile.TemporaryDirectory(prefix="routes.") as name:
        folder = Path(name)
        (folder / "run.json").write_text(run_text(run), encoding="utf-8")
        command: list[str | Path] = [native_program(_PROGRAM), folder / "run.json", "--output", folder]
        done = process.run(command, what=_PROGRAM, check=False)
        if done.returncode != 0:
            raise engine_error(done, "the routes between nodes")
        links = pd.read_csv(folder / "links.csv", index_col="link")
        ways = pd.read_csv(folder / "routes.csv", dtype={"links": str})
    return _routes(hosts, links, ways)


def _routes(hosts: Sequence[int], machine_links: pd.DataFrame, ways: pd.DataFrame) -> Routes:
    place = {host: index for index, host in enumerate(hosts)}
    words = [text.split() for text in ways["links"]]
    lengths = np.array([len(entry) for entry in words], dtype=np.int64)
    flat = np.array([int(word) for entry in words for word in entry], dtype=np.int64)
    # The nodes' own links are on every route of a node, whatever the mapping.
    of_hosts = machine_links["class"].str.startswith("host-").to_numpy()
    kept = ~of_hosts[flat] if len(flat) else np.zeros(0, dtype=bool)
    way = np.repeat(np.arange(len(words)), lengths)[kept]
    first = np.searchsorted(way, np.arange(len(words) + 1)).astype(np.int64)
    ends = [ways[key].map(place).to_numpy(np.int64) for key in ("source", "destination")]
    return Routes(hosts, ends[0], ends[1], first, flat[kept], machine_links)
