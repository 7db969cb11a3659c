"""Compare the makespans of the engines fast and simgrid: five patterns on three topologies, at 64 to 1,024 ranks.

Each pattern runs with short (eager) and long (rendezvous) messages, with one rank per node on 64 and on 256 nodes and
with 16 on 64 nodes. The machines have 256 nodes and contention: a fat-tree tapered two to one, a torus, and a
dragonfly. Routing is deterministic, so both engines use the same links.

SimGrid knows no packets: all messages on a link advance together, however short. The target for the worst difference
holds with chunks so small that the fast engine approaches that. The difference with the chunks of the shipped networks
(2 KiB) is reported. If packets make the engines differ by more than 10 %, SST, which has packets, is run as well if
installed (--verbose).

Usage on its own: ``python benchmarks/simgrid_agreement.py [--verbose] [--only TEXT]``, where TEXT is part of a case's
name.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

from _agreement import CHUNK_BYTES, PATTERNS, TO_EXPLAIN, Case, main, makespan, missing, need, of_differences

# A message has at most 64 chunks. This size gives short messages that many and changes nothing in long ones.
SMALL_CHUNK_BYTES = 64

TOPOLOGIES: dict[str, dict[str, Any]] = {
    "fat-tree": {"kind": "fat-tree", "children": [16, 16], "parents": [1, 8], "parallel_links": [1, 1]},
    "torus": {"kind": "torus", "shape": [4, 4, 4], "hosts_per_switch": 4, "links_per_direction": 2},
    "dragonfly": {
        "kind": "dragonfly",
        "groups": 8,
        "routers_per_group": 8,
        "hosts_per_router": 4,
        "local_links": 1,
        "global_links": 2,
        "routing": "minimal",
    },
}
SHAPES = ((64, 1), (256, 1), (64, 16))


def cases() -> list[Case]:
    """Return all cases."""
    return [
        Case(pattern, PATTERNS[pattern][length], topology, TOPOLOGIES[topology], nodes, ranks_per_node)
        for pattern, topology, (nodes, ranks_per_node), length in itertools.product(
            PATTERNS, TOPOLOGIES, SHAPES, (0, 1)
        )
    ]


def compare(chosen: Sequence[Case], verbose: bool) -> list[tuple[float, float]]:
    """Return the differences of each case, with chunks as shipped and with small ones; print the cases on request."""
    differences = []
    for case in chosen:
        fast, _ = makespan("fast", case.run_file())
        fine, _ = makespan("fast", case.run_file(SMALL_CHUNK_BYTES))
        simgrid, seconds = makespan("simgrid", case.run_file())
        differences.append((abs(fast - simgrid) / simgrid, abs(fine - simgrid) / simgrid))
        if verbose:
            remark = "  over 10 %" if differences[-1][0] > TO_EXPLAIN else ""
            print(
                f"{case.name:<52} fast {fast * 1e6:>10.2f} us  simgrid {simgrid * 1e6:>10.2f} us  "
                f"{fast / simgrid - 1:>+7.2%}  small chunks {fine / simgrid - 1:>+7.2%}  ({seconds:.1f} s){remark}",
                flush=True,
            )
            if remark and not missing("sst"):
                print(f"{case.name:<52} {ruling(case)}", flush=True)
    return differences


def ruling(case: Case) -> str:
    """Return SST's result of a case; on the torus both engines take SST's routes: figures differ from those above."""
    run = case.run_file()
    if case.machine == "torus":
        run["network"]["topology"] = {**case.topology, "routing": "dimension-order-plus"}
    fast, _ = makespan("fast", run)
    sst, _ = makespan("sst", run)
    return f"fast {fast * 1e6:>10.2f} us  sst     {sst * 1e6:>10.2f} us  {fast / sst - 1:>+7.2%}"


def figures(chosen: Sequence[Case] | None = None, verbose: bool = False) -> list[dict[str, Any]]:
    """Return the median and the worst difference, with chunks as shipped and with small ones."""
    need("simgrid")
    differences = compare(cases() if chosen is None else chosen, verbose)
    label = f"fast against simgrid, {len(differences)} cases, chunks of"
    shipped, small = zip(*differences, strict=True)
    return [
        *of_differences(f"{label} {CHUNK_BYTES} B", shipped, worst_target=None),
        *of_differences(f"{label} {SMALL_CHUNK_BYTES} B", small),
    ]


if __name__ == "__main__":
    sys.exit(main(__doc__, cases(), figures))
