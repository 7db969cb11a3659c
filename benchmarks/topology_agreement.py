"""Compare fast with simgrid and sst on the topologies with rows, two-dimensional and two-level groups, and HyperX.

Five patterns with short (eager) and long (rendezvous) messages on 64 nodes, one rank per node. Routing is fixed: all
engines use the same links. simgrid, which has no packets, is compared without flow control and with small chunks
(:mod:`simgrid_agreement`); sst with credits, on the machines that merlin can express.

Usage on its own: ``python benchmarks/topology_agreement.py [--verbose] [--only TEXT]``.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

from _agreement import PATTERNS, Case, main, makespan, missing, need, of_differences
from simgrid_agreement import SMALL_CHUNK_BYTES

TOPOLOGIES: dict[str, dict[str, Any]] = {
    "tofu-like": {
        **{"kind": "torus", "shape": [2, 3, 2, 3, 2], "mesh": [0, 2, 4], "hosts_per_switch": 1},
        **{"links_per_direction": 1, "routing": "dimension-order-plus"},
    },
    "mesh": {
        **{"kind": "torus", "shape": [4, 4, 2], "mesh": [0, 1, 2], "hosts_per_switch": 2},
        **{"links_per_direction": 1, "routing": "dimension-order-plus"},
    },
    "hyperx": {"kind": "hyperx", "shape": [4, 4], "hosts_per_switch": 4, "routing": "dimension-order"},
    "dragonfly-2d": {
        **{"kind": "dragonfly-2d", "groups": 4, "rows": 2, "columns": 4, "hosts_per_router": 2},
        **{"row_links": 1, "column_links": 1, "global_links": 2, "routing": "minimal"},
    },
    "dragonfly-plus": {
        **{"kind": "dragonfly-plus", "groups": 4, "leaves_per_group": 4, "spines_per_group": 4, "hosts_per_leaf": 4},
        **{"leaf_links": 1, "global_links": 3, "routing": "minimal"},
    },
}
# merlin has neither of the grouped ones.
IN_SST = ("tofu-like", "hyperx")


def cases() -> list[Case]:
    """Return all cases."""
    return [
        Case(pattern, PATTERNS[pattern][length], name, TOPOLOGIES[name])
        for pattern, name, length in itertools.product(PATTERNS, TOPOLOGIES, (0, 1))
    ]


def compare(chosen: Sequence[Case], engine: str, verbose: bool) -> list[float]:
    """Return the difference of each case between fast and another engine; print the cases on request."""
    differences = []
    for case in chosen:
        plain = case.run_file(SMALL_CHUNK_BYTES)
        fast, _ = makespan("fast", plain if engine == "simgrid" else case.run_file(flow_control="credits"))
        other, _ = makespan(engine, case.run_file() if engine == "simgrid" else case.run_file(flow_control="credits"))
        differences.append(abs(fast - other) / other)
        if verbose:
            times = f"fast {fast * 1e6:>10.2f} us  {engine} {other * 1e6:>10.2f} us"
            print(f"{case.name:<52} {times}  {fast / other - 1:>+7.2%}", flush=True)
    return differences


def figures(chosen: Sequence[Case] | None = None, verbose: bool = False) -> list[dict[str, Any]]:
    """Return the median and the worst difference from each engine that is installed."""
    chosen = cases() if chosen is None else chosen
    if missing("sst"):
        need("simgrid")
    found: list[dict[str, Any]] = []
    if not missing("simgrid"):
        sizes = compare(chosen, "simgrid", verbose)
        found += of_differences(f"fast against simgrid, new topologies, {len(sizes)} cases", sizes)
    in_sst = [case for case in chosen if case.machine in IN_SST]
    if in_sst and not missing("sst"):
        sizes = compare(in_sst, "sst", verbose)
        found += of_differences(f"fast against sst, new topologies, {len(sizes)} cases", sizes)
    return found


if __name__ == "__main__":
    sys.exit(main(__doc__, cases(), figures))
