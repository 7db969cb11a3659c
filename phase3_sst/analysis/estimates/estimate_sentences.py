"""The estimate of an experiment's points as text: a line for each node count, a line for the total."""

from __future__ import annotations

from collections.abc import Sequence

from manynode.units import render
from phase3_sst.analysis.estimates.points import PointCost


def lines(costs: Sequence[PointCost], ranks_per_node: int, cores: int) -> list[str]:
    """Return the lines of the points by node count, then of all points together on ``cores`` cores."""
    found = []
    for nodes in sorted({cost.nodes for cost in costs}):
        chosen = [cost for cost in costs if cost.nodes == nodes]
        text = f"{nodes} node{'' if nodes == 1 else 's'}, {nodes * ranks_per_node} ranks: {_number(len(chosen))}"
        found.append(f"{text}, {_each(chosen)}")
    known = [cost for cost in costs if cost.processor_s is not None]
    if not known:
        return found
    least, most = (sum(_value(getattr(cost, name)) for cost in known) for name in ("least_s", "processor_s"))
    rest = f" ({len(costs) - len(known)} more are not known)" if len(known) < len(costs) else ""
    shared = f" on {cores} cores" if cores > 1 else ""
    found.append(f"in all {_number(len(known))}, {_span(least / cores, most / cores)}{shared}{rest}")
    return found


def _each(costs: Sequence[PointCost]) -> str:
    known = [cost for cost in costs if cost.processor_s is not None]
    if not known:
        return "not known"
    least = min(_value(cost.least_s) for cost in known)
    most = max(_value(cost.processor_s) for cost in known)
    memory = max(_value(cost.memory_bytes) for cost in known)
    return f"each {_span(least, most)} of processor time, at most {render(memory, 'size', 3)} a replica"


def _span(least: float, most: float) -> str:
    return f"about {duration(most)}" if most < 1.2 * least else f"{duration(least)} to {duration(most)}"


def duration(seconds: float) -> str:
    """Return a rounded time: "40 s", "3 min", "5 h"."""
    value, unit = seconds / 3600, "h"
    for limit, divisor, name in ((100, 1, "s"), (100 * 60, 60, "min")):
        if seconds < limit:
            value, unit = seconds / divisor, name
            break
    return f"{value:.{0 if value >= 10 else 1}f} {unit}"


def _number(count: int) -> str:
    return f"{count} point{'' if count == 1 else 's'}"


def _value(value: float | None) -> float:
    return 0.0 if value is None else value
