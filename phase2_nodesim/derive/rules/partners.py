"""Expressions for the peers of calls: displacement on the grid, one rank, tree, hypercube, ring.

In: for each rule, its peers at the points of the training runs. Out: all expressions that give these peers. Calls of
one place follow one family: a family that fails for some call of the place is no hypothesis for the others, and the
families that are left are all kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from manynode.derived.expression import NULL
from phase2_nodesim.derive.grids.patterns import TRANSPOSED, Displacement, GridRule, readings
from phase2_nodesim.derive.grids.points import Points, Truths, Values
from phase2_nodesim.derive.rules.guards import ALWAYS, Guards, step_conditions

# Beside a fixed rank: the last one, and those in the middle.
_ROOTS = ("P - 1", "P // 2", "(P - 1) // 2")
FAMILIES = ("root", "first", "tree", "grid", "transposed", "xor", "ring")


@dataclass
class Peers:
    """Peers of one rule (``number`` 1: the source of MPI_Sendrecv): values at points where it is present.

    ``firsts`` are expressions for the least rank of the communicator of a collective.
    """

    place: Hashable
    present: Truths
    values: Values
    firsts: tuple[str, ...] = ()
    by_family: dict[str, list[str]] = field(default_factory=dict)
    displacements: list[Displacement] = field(default_factory=list)

    @property
    def real(self) -> Truths:
        return self.present & (self.values >= 0)


def fit_families(found: Sequence[Peers], points: Points) -> None:
    """Fill ``by_family`` with the expressions that fit, for the families that fit all peers of a place."""
    by_place: dict[Hashable, list[Peers]] = defaultdict(list)
    for peers in found:
        if peers.real.any():
            _fit(peers, points)
            by_place[peers.place].append(peers)
    for together in by_place.values():
        common = [family for family in FAMILIES if all(family in peers.by_family for peers in together)]
        for peers in together:
            if common:
                peers.by_family = {family: peers.by_family[family] for family in common}
            if "grid" not in peers.by_family:
                peers.displacements = []


def _fit(peers: Peers, points: Points) -> None:
    real = peers.real
    values = peers.values[real]
    candidates: dict[str, list[str]] = {
        "root": [str(int(values[0])), *_ROOTS],
        "first": list(peers.firsts),
        "tree": ["(rank - 1) // 2", "2 * rank + 1", "2 * rank + 2"],
    }
    ranks = _known(points.values("rank"))[real]
    sizes = _known(points.values("P"))[real]
    if points.rule is not None:
        peers.displacements = _displacements(peers, points, points.rule)
        candidates["grid"] = [at(steps) for steps in peers.displacements]
        candidates["transposed"] = list(TRANSPOSED) if points.rule.dimensions == 2 else []
    bit = int(ranks[0] ^ values[0])
    candidates["xor"] = [f"rank ^ {bit}"]
    step = int((values[0] - ranks[0]) % sizes[0])
    candidates["ring"] = [f"(rank + {step}) % P", f"(rank + P - {int(sizes[0]) - step}) % P"]
    for family, texts in candidates.items():
        if family == "xor" and bit & (bit - 1):
            continue
        fitting = [text for text in texts if _equal(points.values(text), peers.values, real)]
        if fitting:
            peers.by_family[family] = fitting


def at(steps: Displacement) -> str:
    return f"at({', '.join(map(str, steps))})"


def _known(values: Values | None) -> Values:
    assert values is not None
    return values


def _equal(values: Values | None, wanted: Values, where: Truths) -> bool:
    return values is not None and bool((values[where] == wanted[where]).all())


def _displacements(peers: Peers, points: Points, rule: GridRule) -> list[Displacement]:
    """Return the displacements that all observed peers may be, those that never go around an edge first."""
    left: frozenset[Displacement] | None = None
    for run, (count, _) in enumerate(points.runs):
        grid = rule.grid(count)
        start = points.starts[run]
        for rank in np.flatnonzero(peers.real[start : start + count]).tolist():
            found = readings(grid, rank, int(peers.values[start + rank]))
            left = found if left is None else left & found
            if not left:
                return []
    return sorted(left or (), key=lambda steps: (sum(map(abs, steps)), [-step for step in steps]))


def expressions(peers: Peers, points: Points, guards: Guards) -> list[str]:
    """Return the expressions for the peers, MPI_PROC_NULL included, the most believable first."""
    if not peers.real.any():
        return ["null"] if (peers.values[peers.present] == NULL).all() else []
    found: list[str] = []
    for family in peers.by_family:
        for text in peers.by_family[family]:
            found += _with_nobody(text, peers, points, guards)
    return found


def _with_nobody(text: str, peers: Peers, points: Points, guards: Guards) -> list[str]:
    """Return expressions that are ``text`` where there is a peer, else ``null``."""
    if _equal(points.values(text), peers.values, peers.present):
        return [text]
    nobody = peers.present & (peers.values == NULL)
    if not (peers.real | nobody)[peers.present].all():
        return []
    own = step_conditions(peers.displacements)
    own += [f"{text} < P"] if text.startswith(("2 *", "rank ^")) else []
    own += ["rank > 0"] if text.startswith("(rank - 1)") else []
    conditions = guards.find(peers.real, nobody, own)
    return [f"{text} if {condition} else null" for condition in conditions if condition != ALWAYS]
