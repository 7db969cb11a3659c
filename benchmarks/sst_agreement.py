"""Compare the makespans of the engines fast and sst: five patterns, three topologies, three link rates, 64 nodes.

Each pattern runs with short (eager) and long (rendezvous) messages, one rank per node. The machines have 64 nodes (the
dragonfly 72) and contention: a fat-tree tapered two to one, a 4x4x2 torus with two nodes per switch, and a balanced
dragonfly. Routing is deterministic, so both engines use the same links. The fast engine has flow control with credits,
as SST always has, with buffers of the same size. Links and NICs have 20, 100 and 400 Gbit/s.

A second figure answers the question of a sweep. It takes two configurations (topology and rate) whose makespans for a
pattern differ in SST by more than 3 %, and asks whether fast prefers the same one. Every case over 10 % is printed by
name.

Usage on its own: ``python benchmarks/sst_agreement.py [--verbose] [--only TEXT]``.
"""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from _agreement import PATTERNS, TO_EXPLAIN, Case, main, makespan, need, of_differences
from _figure import figure

REFERENCE = "sst"
RATES_GBIT = (20, 100, 400)
# Two configurations whose makespans differ by less are a draw.
DRAW = 0.03

TOPOLOGIES: dict[str, dict[str, Any]] = {
    "fat-tree": {"kind": "fat-tree", "children": [8, 8], "parents": [1, 4], "parallel_links": [1, 1]},
    "torus": {
        "kind": "torus",
        "shape": [4, 4, 2],
        "hosts_per_switch": 2,
        "links_per_direction": 1,
        "routing": "dimension-order-plus",  # merlin's
    },
    "dragonfly": {
        "kind": "dragonfly",
        "groups": 9,
        "routers_per_group": 4,
        "hosts_per_router": 2,
        "local_links": 1,
        "global_links": 2,
        "routing": "minimal",
    },
}


def cases() -> list[Case]:
    """Return all cases."""
    return [
        Case(pattern, PATTERNS[pattern][length], topology, TOPOLOGIES[topology], rate_Gbit=rate)
        for pattern, length, topology, rate in itertools.product(PATTERNS, (0, 1), TOPOLOGIES, RATES_GBIT)
    ]


def orders(makespans: Mapping[Case, tuple[float, float]]) -> tuple[int, list[tuple[Case, Case]]]:
    """Return how many pairs of configurations the reference orders, and those that the engine orders otherwise.

    ``makespans`` are (engine, reference) of each case; a pair has the same pattern and the same length of messages.
    """
    groups: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for case in makespans:
        groups[case.pattern, case.size].append(case)
    told, wrong = 0, []
    for group in groups.values():
        for a, b in itertools.combinations(group, 2):
            (engine_a, reference_a), (engine_b, reference_b) = makespans[a], makespans[b]
            if abs(reference_a - reference_b) <= DRAW * min(reference_a, reference_b):
                continue
            told += 1
            if (engine_a < engine_b) != (reference_a < reference_b):
                wrong.append((a, b))
    return told, wrong


def compare(chosen: Sequence[Case], verbose: bool) -> dict[Case, tuple[float, float]]:
    """Return each case's makespans in fast and in the reference; print cases that differ much, or all on request."""
    found = {}
    for case in chosen:
        run = case.run_file(flow_control="credits")
        fast, _ = makespan("fast", run)
        reference, seconds = makespan(REFERENCE, run)
        found[case] = (fast, reference)
        far = abs(fast / reference - 1) > TO_EXPLAIN
        if verbose or far:
            print(
                f"{case.name:<60} fast {fast * 1e6:>10.2f} us  {REFERENCE} {reference * 1e6:>10.2f} us  "
                f"{fast / reference - 1:>+7.2%}  ({seconds:.1f} s){'  over 10 %' if far else ''}",
                flush=True,
            )
    return found


def figures(chosen: Sequence[Case] | None = None, verbose: bool = False) -> list[dict[str, Any]]:
    """Return the median and the worst difference and the share of pairs in another order; without SST, skip."""
    need(REFERENCE)
    makespans = compare(cases() if chosen is None else chosen, verbose)
    sizes = [abs(fast / reference - 1) for fast, reference in makespans.values()]
    told, wrong = orders(makespans)
    for a, b in wrong:
        print(f"in another order: {a.name} and {b.name}", flush=True)
    label = f"fast against {REFERENCE}, {len(sizes)} cases"
    return [
        *of_differences(label, sizes),
        figure(f"{label}: pairs in another order, of {told}", len(wrong) / max(1, told), "", 0.0, "<="),
    ]


if __name__ == "__main__":
    sys.exit(main(__doc__, cases(), figures))
