"""Which measured collectives a fit may see, and how far it is off on the others.

In: rows of measurements (``validation: collectives``), and their comparison with a simulation
(``validation-collectives/2``). Out: a mark per row, and tables of errors by collective and algorithm, and by size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from manynode.config.measured_collective import MeasuredCollective
from manynode.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

HoldOut = Literal["sizes", "nodes", "none"]
# Algorithms whose median error is larger are named in the file.
LARGE = 0.20
_EDGES = [0, 1024, 16384, 2**18, 2**22, 2**62]
_NAMES = ["below 1 KiB", "1 to 16 KiB", "16 to 256 KiB", "256 KiB to 4 MiB", "from 4 MiB"]


def held_out(rows: Sequence[MeasuredCollective], by: HoldOut) -> list[bool]:
    """Return whether each row is kept from the fit.

    ``sizes``: every second size of each collective, algorithm and scale, from the second on. ``nodes``: all but the
    smallest number of ranks.
    """
    if by == "none":
        return [False] * len(rows)
    if by == "nodes":
        ranks = [row.nodes * row.ranks_per_node for row in rows]
        if len(set(ranks)) == 1:
            raise InputError(
                "nothing is left to hold out",
                where="--hold-out nodes",
                found=f"measurements of {ranks[0]} ranks only",
                remedy="use --hold-out sizes, or add measurements of more ranks",
            )
        return [count > min(ranks) for count in ranks]
    sizes: dict[tuple[str | int, ...], set[int]] = defaultdict(set)
    for row in rows:
        sizes[_series(row)].add(row.bytes)
    second = {series: set(sorted(found)[1::2]) for series, found in sizes.items()}
    return [row.bytes in second[_series(row)] for row in rows]


def _series(row: MeasuredCollective) -> tuple[str | int, ...]:
    return (row.collective, row.algorithm, row.nodes, row.ranks_per_node)


def by_algorithm(frame: pd.DataFrame) -> pd.DataFrame:
    """Return points, median and 90 % quantile of the absolute error of each collective, algorithm and scale."""
    return _summary(frame, ["collective", "simulated_algorithm", "nodes", "ranks_per_node"])


def by_size(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same by range of sizes (of one rank's contribution)."""
    index = np.searchsorted(_EDGES, frame["bytes"], side="right") - 1
    found = _summary(frame.assign(order=index), ["order"])
    found.insert(0, "sizes", [_NAMES[order] for order in found.pop("order")])
    return found


def _summary(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    grouped = frame.assign(size=frame["error"].abs()).groupby(keys, sort=True)
    found: pd.DataFrame = grouped["size"].agg(points="size", median="median", high=lambda size: size.quantile(0.9))
    found["bias"] = grouped["error"].median()
    return found.reset_index()


def large(frame: pd.DataFrame) -> list[str]:
    """Return the algorithms whose median error is above ``LARGE``, each with error and bias."""
    return [
        f"{row['collective']} {row['simulated_algorithm']} on {row['nodes']} x {row['ranks_per_node']} ranks: "
        f"{row['median']:.0%} (median of simulated / measured - 1: {row['bias']:+.0%})"
        for row in by_algorithm(frame).to_dict("records")
        if row["median"] > LARGE
    ]


def as_text(frame: pd.DataFrame) -> str:
    """Return both tables as text."""
    lines = [f"{'collective, algorithm, nodes x ranks':<52}{'points':>7}{'median':>9}{'90 %':>8}{'bias':>8}"]
    for row in by_algorithm(frame).to_dict("records"):
        name = f"{row['collective']}  {row['simulated_algorithm']}  {row['nodes']} x {row['ranks_per_node']}"
        lines.append(_line(name, row))
    lines += [_line(row["sizes"], row) for row in by_size(frame).to_dict("records")]
    size = frame["error"].abs()
    all_ = {"points": len(size), "median": size.median(), "high": size.quantile(0.9), "bias": frame["error"].median()}
    return "\n".join([*lines, _line("all", all_)])


def _line(name: str, row: Mapping[str, Any]) -> str:
    return f"{name:<52}{row['points']:>7}{row['median']:>9.1%}{row['high']:>8.1%}{row['bias']:>+8.1%}"
