"""What a derivation found, for people: the report beside a derived skeleton, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from manynode.derived.skeleton_model import Approximate
from phase2_nodesim.derive.written import REPORT_TITLE

if TYPE_CHECKING:
    from phase2_nodesim.derive.derivation import Derivation, Report
    from phase2_nodesim.derive.judging.level import Verdict


def summary(name: str, found: Derivation, verdicts: Mapping[int, Verdict]) -> str:
    """Return the report: what was found, how it compares with the runs held out, and what it is worth elsewhere."""
    lines = [f"# {name}{REPORT_TITLE}", ""]
    if "body" in found.skeleton:
        lines += _exact(found.report)
    if section := found.skeleton.get("approximate"):
        lines += _approximate(Approximate.model_validate(section))
    if verdicts:
        lines += ["", "| ranks | verdict | why |", "|---|---|---|"]
        lines += [f"| {ranks} | {one.level} | {_cell(_why(one))} |" for ranks, one in verdicts.items()]
    return "\n".join(lines) + "\n"


def _exact(report: Report) -> list[str]:
    lines = [
        f"- grid of ranks: {report.grid}",
        f"- calls in the common sequence: {report.slots}, distinct rules: {report.rules}",
        f"- hypotheses that the recordings leave open: {report.doubts}",
        *(
            f"- receives from any source at {site}: from those whose messages they got; the order is not kept"
            for site in report.any_source
        ),
        *(
            f"- {site}: requests in the order in which they were made; which of them came first is not kept"
            for site in report.waits_for_any
        ),
        *(
            f"- {site}: always in vain, as it may be; the program then waits later, which is compared"
            for site in report.tests_in_vain
        ),
        *(f"- parameter {parameter} stays as recorded: {why}" for parameter, why in report.fixed.items()),
    ]
    if report.held_out:
        lines += ["", "| run held out | compared, call by call |", "|---|---|"]
        lines += [f"| {run} | {_cell(found)} |" for run, found in report.held_out.items()]
    if report.drawn:
        lines += ["", "| run | sizes that depend on load |", "|---|---|"]
        lines += [f"| {run} | {_cell(str(found))} |" for run, found in report.drawn.items()]
    return lines


def _approximate(section: Approximate) -> list[str]:
    runs = ", ".join(str(run.ranks) for run in section.runs)
    jobs = "larger jobs" if section.only is None else f"jobs of {', '.join(map(str, section.only))} ranks"
    return [
        f"- recorded runs of {runs} ranks stand for {jobs}: {section.why}",
        "",
        "| job held out | run that stood for it | volume | messages | peers of a rank | time without computation |",
        "|---|---|---|---|---|---|",
        *(
            f"| {one.ranks} ranks | {one.lifted} ranks | {one.volume:+.1%} | {one.messages:+.1%} | {one.peers:+.1%} | "
            f"{one.makespan:+.1%} |"
            for one in section.held_out
        ),
    ]


def _why(one: Verdict) -> str:
    """Return the reasons; what an approximation has beside the first is the same for all, and stands above."""
    return "; ".join(one.reasons[:1] if one.level == "approximate" else one.reasons)


def _cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")
