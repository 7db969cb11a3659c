"""What a derivation found, for people: the report beside a derived skeleton, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from phase2_nodesim.derive.written import REPORT_TITLE

if TYPE_CHECKING:
    from phase2_nodesim.derive.derivation import Report
    from phase2_nodesim.derive.verdict import Verdict


def summary(name: str, report: Report, verdicts: Mapping[int, Verdict]) -> str:
    """Return the report: what was found, how it compares with the runs held out, and what it is worth elsewhere."""
    lines = [
        f"# {name}{REPORT_TITLE}",
        "",
        f"- grid of ranks: {report.grid}",
        f"- calls in the common sequence: {report.slots}, distinct rules: {report.rules}",
        f"- hypotheses that the recordings leave open: {report.doubts}",
        *(
            f"- receives from any source at {site}: from those whose messages they got; the order is not kept"
            for site in report.any_source
        ),
        *(f"- parameter {parameter} stays as recorded: {why}" for parameter, why in report.fixed.items()),
    ]
    if report.held_out:
        lines += ["", "| run held out | compared, call by call |", "|---|---|"]
        lines += [f"| {run} | {_cell(found)} |" for run, found in report.held_out.items()]
    if report.drawn:
        lines += ["", "| run | sizes that depend on load |", "|---|---|"]
        lines += [f"| {run} | {_cell(str(found))} |" for run, found in report.drawn.items()]
    if verdicts:
        lines += ["", "| ranks | verdict | why |", "|---|---|---|"]
        lines += [f"| {ranks} | {one.level} | {_cell('; '.join(one.reasons))} |" for ranks, one in verdicts.items()]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")
