"""Writes a comparison as Markdown, for readers and for validation documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from manynode import units
from phase3_sst.studies.compare.comparison_summary import PairSummary, of_pair
from phase3_sst.studies.compare.tables_of_pairs import Tables


def text(document: Mapping[str, Any], found: Tables, summaries: Sequence[PairSummary]) -> str:
    """Return the comparison as one Markdown page."""
    lines = [f"# {document['title']}: engines compared", ""]
    lines += [f"- {engine['name']} {engine['version']}".rstrip() for engine in document["engines"]]
    lines += [f"- {skipped['name']}: skipped, not installed ({skipped['remedy']})" for skipped in document["skipped"]]
    lines += ["", f"Experiment {document['experiment']}, digest {document['digest']}, seed {document['seed']}.", ""]
    if document["oversubscribed"]:
        lines += [f"**{document['oversubscribed']}**", ""]
    for summary in summaries:
        lines += _pair(document, found, summary)
    if len(found.cost):
        lines += ["## Cost of the simulations", "", *_cost(found.cost), ""]
    return "\n".join(lines)


def _pair(document: Mapping[str, Any], found: Tables, summary: PairSummary) -> list[str]:
    names = (summary.engine, summary.reference)
    lines = [f"## {summary.engine} against {summary.reference}", ""]
    lines += [f"- {sentence}" for sentence in summary.sentences()]
    lines += ["", f"Makespan: ({names[0]} - {names[1]}) / {names[1]}, {document['confidence']:.0%} interval.", ""]
    lines += _makespans(of_pair(found.makespans, *names), names)
    technique, nodes = document["largest"]
    for title, rows in (
        ("Mean seconds per rank", _breakdown(_at(of_pair(found.breakdown, *names), technique, nodes), names)),
        ("Bytes of the links", _links(_at(of_pair(found.links, *names), technique, nodes), names)),
    ):
        lines += ["", f"{title}, {technique} on {nodes} nodes:", "", *rows]
    return [*lines, ""]


def _at(frame: pd.DataFrame, technique: str, nodes: int) -> pd.DataFrame:
    return frame[(frame["technique"] == technique) & (frame["nodes"] == nodes)]


def _makespans(frame: pd.DataFrame, names: tuple[str, str]) -> list[str]:
    rows = [
        (row.technique, row.nodes, f"{row.time_s:.6g}", f"{row.reference_s:.6g}", f"{row.difference:+.2%}",
         _interval(row.low, row.high))
        for row in frame.itertuples()
    ]  # fmt: skip
    return table(["technique", "nodes", f"{names[0]} [s]", f"{names[1]} [s]", "difference", "interval"], rows)


def _interval(low: float, high: float) -> str:
    return "one replica" if math.isnan(low) else f"{low:+.2%} to {high:+.2%}"


def _breakdown(frame: pd.DataFrame, names: tuple[str, str]) -> list[str]:
    rows = [
        (
            row.operation,
            f"{row.seconds:.4g}",
            f"{row.reference_seconds:.4g}",
            f"{row.difference_s:+.3g}",
            f"{row.share:+.2%}",
        )
        for row in frame.itertuples()
    ]
    return table(["operation", f"{names[0]} [s]", f"{names[1]} [s]", "difference [s]", "of the makespan"], rows)


def _links(frame: pd.DataFrame, names: tuple[str, str]) -> list[str]:
    rows = [
        (row.level, row.kind, row.links, _size(row.bytes), _size(row.reference_bytes),
         row.remark or f"{row.pearson:.4f}", "" if row.remark else f"{row.spearman:.4f}")
        for row in frame.rename(columns={"class": "kind"}).itertuples()
    ]  # fmt: skip
    head = ["", "class", "links", *names, "Pearson", "Spearman"]
    return table(head, rows)


def _size(value: float) -> str:
    return units.render(value, "size")


def _cost(cost: pd.DataFrame) -> list[str]:
    rows = []
    for engine, own in cost.groupby("engine", sort=False):
        most = own["memory_bytes"].max() / 2**20
        rows.append((engine, len(own), f"{own['wall_s'].sum():.4g}", f"{own['processor_s'].sum():.4g}", f"{most:.0f}"))
    return table(["engine", "points", "wall time [s]", "processor time [s]", "largest process [MiB]"], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]
