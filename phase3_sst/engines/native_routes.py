"""Routes between nodes, as the engines' topologies compute them (``manynode-routes`` of the native build).

In: the network of a run file and pairs of nodes of the machine. Out: the links of the machine, and the numbers of the
links of each route. With fixed routes, a pair has one route per rail. If routes depend on load or chance, they are
drawn as an idle network would choose them, or all possible routes are given.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode import process
from manynode.paths import native_program
from phase3_sst.engines.native_engine import engine_error
from phase3_sst.point.run_file import RUN_SCHEMA, run_text

_PROGRAM = "manynode-routes"

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MachineRoutes:
    """Routes on a machine.

    ``source`` and ``destination`` are nodes, one entry per route. ``links`` has the concatenated links of all routes,
    ``lengths`` how many each route has. ``machine_links`` are all links of the machine, by number: class, source,
    target, bandwidth_Bps.
    """

    source: Ints
    destination: Ints
    lengths: Ints
    links: Ints
    machine_links: pd.DataFrame


def routes_on(network: Mapping[str, Any], pairs: Iterable[tuple[int, int]], *, possible: bool = False) -> MachineRoutes:
    """Return routes between ``pairs`` of different nodes; ``network`` is that of a run file.

    ``possible``: all routes that the routing may choose, whatever load and chance; of parallel links between the same
    switches, one stands for all. A node that is not on the machine is a :class:`UsageError`.
    """
    job = {"application": {"name": "patterns"}, "nodes": 1, "ranks_per_node": 1}
    run = {"schema": RUN_SCHEMA, "network": network, "jobs": [job]}
    with tempfile.TemporaryDirectory(prefix="routes.") as name:
        folder = Path(name)
        (folder / "run.json").write_text(run_text(run), encoding="utf-8")
        (folder / "pairs").write_text("".join(f"{a} {b}\n" for a, b in pairs), encoding="utf-8")
        command: list[str | Path] = [native_program(_PROGRAM), folder / "run.json", "--output", folder]
        command += ["--pairs", folder / "pairs", *(["--possible"] if possible else [])]
        done = process.run(command, what=_PROGRAM, check=False)
        if done.returncode != 0:
            raise engine_error(done, "the routes between nodes")
        links = pd.read_csv(folder / "links.csv", index_col="link")
        ways = pd.read_csv(folder / "routes.csv", dtype={"links": str})
    words = [text.split() for text in ways["links"]]
    return MachineRoutes(
        source=ways["source"].to_numpy(np.int64),
        destination=ways["destination"].to_numpy(np.int64),
        lengths=np.array([len(entry) for entry in words], dtype=np.int64),
        links=np.array([int(word) for entry in words for word in entry], dtype=np.int64),
        machine_links=links,
    )
