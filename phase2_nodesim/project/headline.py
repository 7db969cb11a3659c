"""What a projection came to, in a few lines for the terminal.

In: the results folder of a finished experiment. Out: the time at the largest node count, the times by node count, and
whether the measured jobs show weak or strong scaling.
"""

from __future__ import annotations

from pathlib import Path

from manynode.report.answer import answer
from manynode.report.load import load
from manynode.report.scaling_kind import scaling_kind, work_per_rank
from manynode.report.wording import interval, percent


def lines(results: Path) -> list[str]:
    """Return the lines: first what the projection rests on, then the headline."""
    inputs = load(results)
    found = answer(inputs)
    if found is None or inputs.projection is None:
        return []
    facts = ", ".join(f"{name} {value}" for name, value in found.facts[:3])
    rows = [("nodes", "ranks", "time", "interval", "efficiency")]
    for row in inputs.projection[inputs.projection["technique"] == inputs.technique].to_dict("records"):
        time, limits = interval(row["time_s"], row["low_s"], row["high_s"])
        rows.append((str(row["nodes"]), str(row["ranks"]), time, limits, percent(row["efficiency"])))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  " + "  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)) for row in rows]
    work = {} if inputs.counters is None else work_per_rank(inputs.counters)
    kind = scaling_kind(work, set(inputs.projection["nodes"]), int(inputs.resolved["nodesim"]["nodes"]))
    words = kind.words or "Weak or strong scaling: not known, because only one job size was profiled."
    return [
        words if kind.holds else f"warning: {words}",
        f"projected: {found.figure} {found.subject} ({facts})",
        *(line.rstrip() for line in table),
    ]
