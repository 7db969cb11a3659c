"""A comparison of engines -> one HTML file, made like the report: offline, figures with their data, no remote loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from manynode import tables
from manynode.report.comparison import breakdown, link_loads, makespans
from manynode.report.comparison.load import Comparison, load
from manynode.report.figure import rows_of
from manynode.report.load import at_point
from manynode.report.page import fill


def build_comparison(directory: Path, output: Path) -> None:
    """Write the page of the comparison in ``directory`` to ``output``; the same files give the same bytes."""
    html = render(load(directory))
    with tables.replacing(output) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def render(comparison: Comparison) -> str:
    """Return the page."""
    technique, nodes = comparison.document.largest
    drawn = [
        makespans.draw_makespans(comparison),
        makespans.draw_differences(comparison),
        breakdown.draw(comparison),
        link_loads.draw(comparison),
    ]
    return fill(
        "comparison.html.j2",
        kind="manynode comparison of engines",
        title=comparison.document.title,
        subtitle=comparison.document.subtitle,
        document=comparison.document,
        figures=[figure for figure in drawn if figure is not None],
        breakdown=rows_of(at_point(comparison.breakdown, technique, nodes)),
        links=rows_of(at_point(comparison.links, technique, nodes)),
        makespans=rows_of(comparison.makespans),
        costs=_costs(comparison.cost),
    )


def _costs(cost: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what each engine's simulations cost in all."""
    if cost.empty:
        return []
    groups = cost.groupby("engine", sort=False)
    frame = groups[["wall_s", "processor_s"]].sum()
    frame["memory_bytes"], frame["points"] = groups["memory_bytes"].max(), groups.size()
    return rows_of(frame.reset_index())
