"""Checks that the classes hold at every profiled job size, and how they apply to other sizes.

Classes found at different node counts are matched by their differences from each other. Then their number, their shares
and their special ranks are compared. The paper profiled 4, 8 and 16 nodes and came to the same conclusion each time
(Eyerman et al., section 3.3); this module makes that check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

# A class held by more ranks than this at some size is a share of the job, not a list of special ranks.
MOST_FIXED = 8


@dataclass(frozen=True)
class ScaleClasses:
    """Classes at one job size: class of each rank, and each class's mean logarithms in units of the noise."""

    nodes: int
    rank_class: tuple[str, ...]
    centroids: dict[str, np.ndarray]

    def ranks_of(self, name: str) -> list[int]:
        """Return the ranks of class ``name``."""
        return [rank for rank, own in enumerate(self.rank_class) if own == name]

    def share(self, name: str) -> float:
        """Return the share of the ranks that class ``name`` has."""
        return len(self.ranks_of(name)) / len(self.rank_class)


def matched(scale: ScaleClasses, reference: ScaleClasses) -> ScaleClasses:
    """Return ``scale`` with the names of ``reference``'s classes; a class without a counterpart is named "x0", "x1"...

    Absolute counts change with the job size, so the two sets of centroids are laid over each other at every pair of
    classes in turn, and the assignment with the least distance counts; equal distances are told apart by shares.
    """
    ours, theirs = sorted(scale.centroids), sorted(reference.centroids)
    shares = np.abs([[scale.share(a) - reference.share(b) for b in theirs] for a in ours])
    best: tuple[float, dict[str, str]] = (np.inf, {})
    for a in ours:
        for b in theirs:
            cost = np.array(
                [
                    [
                        np.linalg.norm(
                            (scale.centroids[p] - scale.centroids[a])
                            - (reference.centroids[q] - reference.centroids[b])
                        )
                        for q in theirs
                    ]
                    for p in ours
                ]
            )
            cost = cost + shares
            rows, columns = linear_sum_assignment(cost)
            total = round(float(cost[rows, columns].sum()), 9)
            if total < best[0]:
                best = total, {ours[r]: theirs[c] for r, c in zip(rows, columns, strict=True)}
    rename = best[1]
    for i, name in enumerate(n for n in ours if n not in rename):
        rename[name] = f"x{i}"
    return ScaleClasses(
        scale.nodes,
        tuple(rename[name] for name in scale.rank_class),
        {rename[name]: value for name, value in scale.centroids.items()},
    )


def positions(scales: Sequence[ScaleClasses], name: str) -> list[int] | None:
    """Return the rank numbers (negative: from the end) that hold class ``name`` at every size, if they alone explain
    it.

    None when the class is a share of the job. With a single size only rank 0 and the last rank can be told to be
    special.
    """
    if any(not 0 < len(scale.ranks_of(name)) <= MOST_FIXED or scale.share(name) > 0.5 for scale in scales):
        return None
    sets = [set(scale.ranks_of(name)) for scale in scales]
    from_end = [{rank - len(scale.rank_class) for rank in ranks} for scale, ranks in zip(scales, sets, strict=True)]
    starts = set.intersection(*sets)
    ends = set.intersection(*from_end)
    if len({len(scale.rank_class) for scale in scales}) == 1:
        starts, ends = starts & {0}, ends & {-1}
    for scale, ranks in zip(scales, sets, strict=True):
        if ranks - starts - {rank + len(scale.rank_class) for rank in ends}:
            return None
    # A rank that both ways of counting explain (in a job of one rank) is counted from the start.
    return sorted(starts) + sorted(ends)


def fixed_ranks(scales: Sequence[ScaleClasses]) -> dict[int, str]:
    """Return the ranks (negative: from the end) whose class is the same minority class at every size."""
    fixed: dict[int, str] = {}
    for name in sorted(scales[0].centroids):
        for rank in positions(scales, name) or []:
            fixed.setdefault(rank, name)
    if len({len(scale.rank_class) for scale in scales}) > 1:
        for rank in (0, -1):
            held = {scale.rank_class[rank] for scale in scales}
            if len(held) == 1 and all(scale.share(next(iter(held))) < 0.5 for scale in scales):
                fixed.setdefault(rank, next(iter(held)))
    return fixed


def assignment_rule(scales: Sequence[ScaleClasses], reference: ScaleClasses) -> dict[str, dict[str, object]]:
    """Return ``fixed`` (rank -> class) and ``shares`` (class -> share of the ranks that are not fixed)."""
    fixed = fixed_ranks(scales)
    ranks = len(reference.rank_class)
    taken = {rank if rank >= 0 else ranks + rank for rank in fixed}
    rest = [name for rank, name in enumerate(reference.rank_class) if rank not in taken]
    if not rest:
        rest = list(reference.rank_class)
    names = sorted(set(rest))
    return {
        "fixed": {str(rank): name for rank, name in fixed.items()},
        "shares": {name: rest.count(name) / len(rest) for name in names},
    }


def judge(scales: Sequence[ScaleClasses], tolerance: float) -> dict[str, object]:
    """Return ``stable`` (None when there is nothing to compare), the reasons in words, and the shares by job size.

    ``scales`` carry matched class names; ``tolerance`` bounds the change of a class's share.
    """
    sizes = sorted(scales, key=lambda scale: scale.nodes)
    names = sorted({name for scale in sizes for name in scale.centroids})
    shares = {name: {str(scale.nodes): scale.share(name) for scale in sizes} for name in names}
    if len(sizes) < 2:
        reason = "only one node count was profiled; whether the classes hold at others is not known"
        return {"stable": None, "reasons": [reason], "shares": shares}
    against: list[str] = []
    support: list[str] = []
    counts = {scale.nodes: len(scale.centroids) for scale in sizes}
    if len(set(counts.values())) > 1:
        against.append("the number of classes changes: " + _listing(counts, "classes"))
    else:
        support.append(f"the same number of classes ({next(iter(counts.values()))}) at every node count")
    special = {name: held for name in names if (held := positions(sizes, name)) is not None}
    for name in names:
        held = special.get(name)
        # A root's class is a smaller share of a larger job; that alone does not change what the other ranks are.
        values = [_share_of_rest(scale, name, special) for scale in sizes]
        if held is not None:
            support.append(f"class {name} is held by {_in_words(held)} at every node count")
        elif max(values) - min(values) > tolerance:
            texts = {scale.nodes: f"{value:.1%}" for scale, value in zip(sizes, values, strict=True)}
            against.append(f"the share of class {name} changes: " + _listing(texts, "of the ranks"))
        else:
            support.append(f"class {name} keeps its share of the ranks ({min(values):.1%} to {max(values):.1%})")
    for rank, words in ((0, "rank 0"), (-1, "the last rank")):
        alone = {scale.nodes: len(scale.ranks_of(scale.rank_class[rank])) == 1 for scale in sizes}
        if any(alone.values()) and not all(alone.values()):
            has = ", ".join(str(nodes) for nodes, value in alone.items() if value)
            not_so = ", ".join(str(nodes) for nodes, value in alone.items() if not value)
            against.append(f"{words} has a class of its own at {has} nodes but not at {not_so}")
    return {"stable": not against, "reasons": against or support, "shares": shares}


def _share_of_rest(scale: ScaleClasses, name: str, special: Mapping[str, object]) -> float:
    """Return the share of class ``name`` in the ranks whose class is not ``special``."""
    rest = [own for own in scale.rank_class if own not in special]
    return rest.count(name) / len(rest) if rest else 0.0


def _listing(values: Mapping[int, object], unit: str) -> str:
    return ", ".join(f"{value} {unit} at {nodes} node{'s' if nodes != 1 else ''}" for nodes, value in values.items())


def _in_words(ranks: Sequence[int]) -> str:
    words = []
    for rank in ranks:
        if rank >= 0:
            words.append(f"rank {rank}")
        else:
            words.append("the last rank" if rank == -1 else f"the rank {-rank} before the end")
    return ", ".join(words)
