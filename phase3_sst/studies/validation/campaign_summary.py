"""Summarises the errors of measured collectives: how far off, by collective and algorithm, size and node count.

In: ``validation-collectives/2``. Out: ``validation-collectives-summary/1``, a row per group of points. ``by`` says how
the points are grouped (all, algorithm, size, nodes), ``group`` names the group. Errors are simulated / measured - 1;
shares and percentiles are of their absolute values. Percentiles interpolate linearly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

LIMITS = (0.05, 0.10, 0.20, 0.35)
# Algorithms with a larger median of the absolute error are listed.
MOST_MEDIAN = 0.20
# First size of each class [bytes].
SIZE_CLASSES = ((0, "below 1 KiB"), (1 << 10, "1 to 32 KiB"), (1 << 15, "32 KiB to 1 MiB"), (1 << 20, "from 1 MiB"))


def summarise(points: pd.DataFrame) -> pd.DataFrame:
    """Return ``validation-collectives-summary/1`` of ``validation-collectives/2``."""
    return pd.DataFrame([_row(by, group, own) for by, group, own in _groups(points)])


def size_class(bytes_: int) -> str:
    """Return the name of the class of a size [bytes]."""
    return next(name for first, name in reversed(SIZE_CLASSES) if bytes_ >= first)


def algorithm_name(collective: str, algorithm: str, simulated: str) -> str:
    """Return the name of an algorithm as the table has it, and the simulated one where it differs."""
    named = algorithm or "auto"
    return f"{collective} {named}" + ("" if named == simulated else f" (as {simulated})")


def _groups(points: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    yield "all", "", points
    names = [
        algorithm_name(*row)
        for row in zip(points["collective"], points["algorithm"], points["simulated_algorithm"], strict=True)
    ]
    for name, own in points.groupby(pd.Series(names, index=points.index), sort=True):
        yield "algorithm", str(name), own
    classes = points["bytes"].map(size_class)
    for _, name in SIZE_CLASSES:
        if (chosen := classes == name).any():
            yield "size", name, points[chosen]
    for nodes, own in points.groupby("nodes", sort=True):
        yield "nodes", str(nodes), own


def _row(by: str, group: str, own: pd.DataFrame) -> dict[str, Any]:
    absolute = own["error"].abs()
    worst = own.loc[absolute.idxmax()]
    spread = own["within_spread"].dropna()
    return {
        "by": by,
        "group": group,
        "points": len(own),
        "median_error": float(own["error"].median()),
        "median_absolute": float(absolute.median()),
        "p90_absolute": float(absolute.quantile(0.9)),
        **{f"within_{round(100 * limit)}": float((absolute <= limit).mean()) for limit in LIMITS},
        "within_spread": float(spread.astype(bool).mean()) if len(spread) else math.nan,
        "worst_error": float(worst["error"]),
        "worst_bytes": int(worst["bytes"]),
        "worst_nodes": int(worst["nodes"]),
    }
