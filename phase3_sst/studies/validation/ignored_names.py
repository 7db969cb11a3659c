"""Finds named algorithms that a library seems to have ignored: equal measured times under different names.

Two names of a collective are suspect where their times agree within 1 % at three neighbouring sizes or more, in the
same campaign on the same ranks. Two algorithms that cross agree at one size, rarely at two. They are also suspect if,
at each of three common sizes or more, the times of each lie in the other's spread (10th to 90th percentile). Names
that stand for one algorithm of the toolkit (``algorithm_names``) may agree.

In: ``validation-collectives/2``. Out: ``validation-equal-names/1``, a row per pair of names and their common ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

SAME = 0.01
LEAST_SIZES = 3
_RANKS = ["campaign", "collective", "nodes", "ranks_per_node", "shape", "placement"]
COLUMNS = [*_RANKS, "first", "second", "bytes", "sizes", "common_sizes", "largest_difference"]


def equal_names(points: pd.DataFrame) -> pd.DataFrame:
    """Return ``validation-equal-names/1`` of ``validation-collectives/2``."""
    rows: list[dict[str, Any]] = []
    for ranks, own in points.groupby(_RANKS, sort=True):
        by_name = {name: one.set_index("bytes").sort_index() for name, one in own.groupby("algorithm", sort=True)}
        for first, second in combinations(by_name, 2):
            a, b = by_name[first], by_name[second]
            if a["simulated_algorithm"].iloc[0] == b["simulated_algorithm"].iloc[0]:
                continue
            common = a.index.intersection(b.index)
            agreed = _agreed(a.loc[common], b.loc[common])
            if agreed:
                times = a.loc[agreed, "measured_s"] / b.loc[agreed, "measured_s"] - 1
                found = (first, second, " ".join(map(str, agreed)), len(agreed), len(common), float(times.abs().max()))
                rows.append(dict(zip(COLUMNS, (*ranks, *found), strict=True)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _agreed(a: pd.DataFrame, b: pd.DataFrame) -> list[int]:
    """Return the sizes [bytes] at which two names have equal times, none if they are too few."""
    sizes = [int(size) for size in a.index]
    apart = (a["measured_s"] / b["measured_s"] - 1).abs()
    runs = [run for run in _runs([bool(value <= SAME) for value in apart]) if len(run) >= LEAST_SIZES]
    if runs:
        return [sizes[place] for run in runs for place in run]
    known = a["measured_p10_s"].notna().all() and b["measured_p10_s"].notna().all()
    if not known or len(sizes) < LEAST_SIZES:
        return []
    inside = [
        first["measured_s"].between(second["measured_p10_s"], second["measured_p90_s"]).all()
        for first, second in ((a, b), (b, a))
    ]
    return sizes if all(inside) else []


def _runs(flags: Sequence[bool]) -> Iterator[range]:
    """Yield the ranges of consecutive true flags."""
    start = None
    for place, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = place
        elif not flag and start is not None:
            yield range(start, place)
            start = None


def sentence(row: Any) -> str:
    """Return a row of ``validation-equal-names/1`` as a warning."""
    where = f"{row.campaign}: " if row.campaign else ""
    sizes = ", ".join(f"{int(size):,} B" for size in row.bytes.split())
    return (
        f"{where}{row.collective} on {row.nodes} nodes: {row.first!r} and {row.second!r} have equal times at "
        f"{row.sizes} of {row.common_sizes} sizes ({sizes}; at most {100 * row.largest_difference:.2g} % apart). The "
        "library may have ignored a name: check the measurement, or leave out one of them"
    )
