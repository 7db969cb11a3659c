"""What a projection came to, in a few lines for the terminal.

In: the results folder of a finished experiment. Out: the time at the largest node count, the times by node count, and
whether the measured jobs show weak or strong scaling.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from manynode.report.answer import answer
from manynode.report.load import load
from manynode.report.wording import count, interval, percent

# Ranks at the edges have less to do: work per rank is "the same" within these factors.
_SAME = (0.8, 1.25)


def lines(results: Path) -> list[str]:
    """Return the lines: first what the projection rests on, then the headline."""
    inputs = load(results)
    found = answer(inputs)
    if found is None or inputs.projection is None:
        return []
    facts = ", ".join(f"{name} {value}" for name, value in found.facts[:2])
    rows = [("nodes", "ranks", "time", "interval", "efficiency")]
    for row in inputs.projection[inputs.projection["technique"] == inputs.technique].to_dict("records"):
        time, limits = interval(row["time_s"], row["low_s"], row["high_s"])
        rows.append((str(row["nodes"]), str(row["ranks"]), time, limits, percent(row["efficiency"])))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  " + "  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)) for row in rows]
    work = {} if inputs.counters is None else work_per_rank(inputs.counters)
    return [
        *scaling(work),
        f"projected: {found.figure} {found.subject} ({facts})",
        *(line.rstrip() for line in table),
    ]


def work_per_rank(counters: pd.DataFrame) -> dict[int, float]:
    """Return the mean instructions of a rank by nodes of the profiled job; seconds where none are counted."""
    whole = counters[counters["phase"] == ""]
    for column in ("instructions", "seconds"):
        if column in whole and (means := whole.groupby("nodes")[column].mean()).gt(0).all():
            return {int(str(nodes)): float(mean) for nodes, mean in means.items()}
    return {}


def scaling(work: Mapping[int, float]) -> list[str]:
    """Return whether a rank's work changed with the size of the profiled job: weak or strong scaling.

    Compute times are those of the largest profiled job at every node count. They are wrong for others where the work
    of a rank follows from the number of ranks.
    """
    if len(work) < 2:
        return ["scaling: not known: only one job size was profiled"]
    small, large = min(work), max(work)
    ratio = work[large] / work[small]
    seen = f"the work of a rank is {ratio:.2f} times that on {count(small, 'node')}"
    same = "the arguments are the same at every number of nodes"
    if _SAME[0] <= ratio <= _SAME[1]:
        return [f"scaling: weak; {same}, and on {large} nodes {seen}"]
    return [
        f"scaling: STRONG; {same}, but on {large} nodes {seen}.",
        f"  warning: every node count has the compute times measured on {large} nodes, which are wrong for all others.",
        "  Give the program arguments with which each rank keeps its work, or project one node count, measured there.",
    ]
