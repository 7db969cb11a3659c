"""What a derivation found, for people: the report beside a derived skeleton, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from phase2_nodesim.derive.written import REPORT_TITLE

if TYPE_CHECKING:
    from manynode.derived.skeleton_model import Approximate
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
    return "\n".join([*lines, *_verdict_lines(verdicts)]) + "\n"


def approximate_summary(name: str, section: Approximate, verdicts: Mapping[int, Verdict]) -> str:
    """Return the report of an approximate skeleton."""
    lines = [
        f"# {name}{REPORT_TITLE}",
        "",
        f"- no exact skeleton: {section.why}",
        f"- recorded runs that stand for larger jobs: {', '.join(str(run.ranks) for run in section.runs)} ranks",
        "",
        "| job held out | run that stood for it | volume | messages | peers of a rank | time without computation |",
        "|---|---|---|---|---|---|",
        *(
            f"| {one.ranks} ranks | {one.lifted} ranks | {one.volume:+.1%} | {one.messages:+.1%} | {one.peers:+.1%} | "
            f"{one.makespan:+.1%} |"
            for one in section.held_out
        ),
    ]
    return "\n".join([*lines, *_verdict_lines(verdicts)]) + "\n"


def _verdict_lines(verdicts: Mapping[int, Verdict]) -> list[str]:
    if not verdicts:
        return []
    rows = [f"| {ranks} | {one.level} | {_cell('; '.join(one.reasons))} |" for ranks, one in verdicts.items()]
    return ["", "| ranks | verdict | why |", "|---|---|---|", *rows]


def _cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")
