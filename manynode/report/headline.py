"""What a projection came to, for the terminal and for programs.

In: what the report is made from. Out: a document (``answer/1``) with the times by node count, and the lines that the
terminal shows of it. It stands in the report's page, where commands find it without reading the tables again.
"""

from __future__ import annotations

from typing import Any

from manynode.report.answer import answer
from manynode.report.band import band
from manynode.report.draws import other_computation
from manynode.report.load import Inputs
from manynode.report.scaling_kind import scaling_kind, work_per_rank
from manynode.report.wording import count, interval, percent

SCHEMA = "answer/1"
COLUMNS = ("technique", "nodes", "ranks", "time_s", "low_s", "high_s", "efficiency")


def document(inputs: Inputs) -> dict[str, Any] | None:
    """Return the answer as a document; None without a projection."""
    found = answer(inputs)
    if found is None or inputs.projection is None:
        return None
    around = band(inputs)
    return {
        "schema": SCHEMA,
        "technique": inputs.technique,
        "confidence": inputs.experiment.simulate.confidence,
        "known_errors": None
        if around is None or around.low_s is None
        else {"low_s": around.low_s, "high_s": around.high_s},
        "points": inputs.projection[list(COLUMNS)].to_dict("records"),
        "said": lines(inputs),
    }


def lines(inputs: Inputs) -> list[str]:
    """Return the lines: what the projection rests on, the headline, the times of the most complete technique."""
    found = answer(inputs)
    if found is None or inputs.projection is None:
        return []
    facts = ", ".join(f"{name} {value}" for name, value in found.facts[:3])
    rows = [("nodes", "ranks", "time", "interval", "efficiency")]
    own = inputs.projection[inputs.projection["technique"] == inputs.technique].to_dict("records")
    largest = max(own, key=lambda row: int(row["nodes"]))
    for row in own:
        time, limits = interval(row["time_s"], row["low_s"], row["high_s"])
        rows.append((str(row["nodes"]), str(row["ranks"]), time, limits, percent(row["efficiency"])))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  " + "  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)) for row in rows]
    wrong = other_computation(inputs.draws)
    return [
        *([f"warning: {wrong}"] if wrong else []),
        *_kind(inputs),
        f"projected: {found.figure} on {count(largest['nodes'], 'node')}, {count(largest['ranks'], 'rank')} ({facts})",
        *(line.rstrip() for line in table),
    ]


def _kind(inputs: Inputs) -> list[str]:
    """Return whether the measured jobs show weak or strong scaling; nothing where nothing was measured."""
    if inputs.counters is None or inputs.projection is None:
        return []
    measured = int(inputs.resolved["nodesim"]["nodes"])
    kind = scaling_kind(work_per_rank(inputs.counters), set(inputs.projection["nodes"]), measured)
    if set(inputs.projection["nodes"]) == {measured}:
        unknown = "The compute times were measured in a job of the projected size."
    else:
        unknown = "Weak or strong scaling: not known, because only one job size was profiled."
    words = kind.words or unknown
    return [words if kind.holds else f"warning: {words}"]
