"""The skeleton of a request: derived from runs of its program, or as it was derived before from the same runs.

Out: the content of the skeleton's file, and verdicts by node count. A refusal keeps its message, and offers the replay
of a recorded run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from manynode import input_file
from manynode.errors import InputError, UsageError
from manynode.provenance import code_digest
from manynode.report.wording import count
from phase2_nodesim.derive.accepted import Accepted, record_all
from phase2_nodesim.derive.campaign import Campaign, Run
from phase2_nodesim.derive.derivation import Derivation
from phase2_nodesim.derive.derive_command import approximated, lift, write
from phase2_nodesim.derive.judging.judged import read_content
from phase2_nodesim.derive.judging.level import Verdict
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.recorded.recordings import NotDerivedError
from phase2_nodesim.derive.settled import settled
from phase2_nodesim.derive.written import checksum, unedited
from phase2_nodesim.project.kept import Kept
from phase2_nodesim.project.replay import with_replay
from phase2_nodesim.project.request import Request
from phase2_nodesim.project.strong import divides_the_problem

_MOST_REASONS = 8
_UNDECIDED = "the recordings do not say what the program does at any of these numbers of ranks"


def campaign_of(request: Request, say: Callable[[str], None]) -> Campaign:
    """Return the campaign that records the request's runs."""
    program = request.program
    return Campaign(
        program.command, program.flavour, request.recordings, program.threads, request.timeout_s, say, program.grid,
        request.ranks_per_node, program.inputs,
    )  # fmt: skip


def skeleton_of(
    request: Request, kept: Kept, say: Callable[[str], None]
) -> tuple[Request, Accepted, dict[str, Any], Kept]:
    """Record missing runs and derive the skeleton.

    Returns the request with the runs that the program accepts, which these are, the content of the skeleton's file, and
    what to keep of it. The skeleton is derived unless it is there, derived from the same runs by the same code. A
    program that cannot be derived is an :class:`InputError`.
    """
    campaign = campaign_of(request, say)
    try:
        learned, held_out, accepted, refused = record_all(campaign, request.learned, request.held_out)
    except NotDerivedError as error:
        raise with_replay(error, request, campaign) from None
    request = replace(request, learned=learned, held_out=held_out)
    made = [checksum((campaign.recorded(run) / "run.json").read_text()) for run in _runs(request)]
    path = request.skeleton
    before = read_content(path) if input_file.is_file(path) else {}
    made_from = [code_digest("manynode", "phase2_nodesim"), request.program.command, made]
    # The report beside the skeleton judges these.
    targets = [_ranks(request), dict(request.projected)]
    inputs = checksum([made_from, [run.name for run in _runs(request)], targets, before.get("assumptions", [])])
    if before and kept.derived_from == inputs and kept.skeleton == before["program"]["checksum"] and unedited(before):
        say(f"skeleton: {path}, as derived before")
        return request, accepted, before, kept
    try:
        found, verdicts = _found(campaign, request, refused)
    except InputError as error:
        raise with_replay(error, request, campaign) from None
    content = dict(found.skeleton)
    write(path, request.output.stem, found, verdicts)
    say(f"skeleton: {path}; what it is worth: {path.with_suffix('.md')}")
    return request, accepted, content, replace(kept, derived_from=inputs, skeleton=content["program"]["checksum"])


def _found(
    campaign: Campaign, request: Request, refused: NotDerivedError | None
) -> tuple[Derivation, dict[int, Verdict]]:
    """Return the exact skeleton, or an approximate one where there is none, or none for any of the node counts.

    The verdicts are by the numbers of ranks of the request.
    """
    program, path = request.program, request.skeleton
    exact: tuple[Derivation, dict[int, Verdict]] | None = None
    if refused is None:
        try:
            found = settled(campaign, request.learned, request.held_out, program, path, _ranks(request))
        except NotDerivedError as error:
            refused = error
        else:
            verdicts = _verdicts(request, found.skeleton, _ranks(request))
            open_ones = [one.reasons[0] for one in verdicts.values() if not one.usable]
            if len(open_ones) < len(verdicts):
                if not request.projected:
                    verdicts |= lift(found, verdicts, campaign, _runs(request), program, path)
                return found, verdicts
            exact, refused = (found, verdicts), NotDerivedError(_UNDECIDED, found=open_ones[-1])
    try:
        found = approximated(campaign, _runs(request), program, path, refused)
    except NotDerivedError:
        if exact is None:
            raise
        return exact  # the runs that would decide are named with its refusals
    return found, _verdicts(request, found.skeleton, _ranks(request))


def _verdicts(request: Request, content: Mapping[str, Any], numbers: Sequence[int]) -> dict[int, Verdict]:
    return {ranks: verdict(dict(content), ranks, _learned(request, content)) for ranks in numbers}


def values(request: Request, content: Mapping[str, Any]) -> dict[str, int]:
    """Return the values of the skeleton's parameters to project with.

    Another value of a parameter that the recordings do not explain is a :class:`UsageError`.
    """
    fixed = content["program"].get("fixed", {})
    for name, value in request.projected.items():
        if fixed.get(name, value) != value:
            raise UsageError(
                "the recordings do not say how communication depends on a parameter",
                where=f"--projected {name}={value}",
                found=f"recorded as {fixed[name]} only",
                remedy=f"see {request.skeleton.with_suffix('.md')} for the reason; record more values (--vary)",
            )
    return _learned(request, content)


def _learned(request: Request, content: Mapping[str, Any]) -> dict[str, int]:
    given = {**request.program.parameters, **request.projected}
    return {name: given[name] for name in content.get("parameters", {})}


def _runs(request: Request) -> list[Run]:
    return [*request.learned, *request.held_out]


def _ranks(request: Request) -> list[int]:
    return [nodes * request.ranks_per_node for nodes in request.nodes]


def verdict_on(request: Request, content: dict[str, Any], accepted: Accepted, nodes: int) -> Verdict:
    """Return the verdict on the skeleton at a number of nodes, on which the program may not run at all."""
    ranks = nodes * request.ranks_per_node
    if why := accepted.why_not(ranks):
        return Verdict("refused", (why,))
    return verdict(content, ranks, values(request, content))


def judged(request: Request, content: dict[str, Any], accepted: Accepted) -> tuple[list[int], dict[int, list[str]]]:
    """Return the node counts to project, and why others are refused.

    If all are refused, this is an :class:`UsageError` with the reasons: each names the run to record.
    """
    usable: list[int] = []
    refused: dict[int, list[str]] = {}
    for nodes in request.nodes:
        one = verdict_on(request, content, accepted, nodes)
        if one.usable:
            usable.append(nodes)
        else:
            refused[nodes] = list(one.reasons)
    if usable:
        return usable, refused
    error = UsageError(
        _UNDECIDED,
        where=str(request.skeleton),
        remedy="record the run that a reason names: add its number of ranks to --ranks, or give it to --varied-ranks "
        "if a parameter has another value there",
        details="\n".join(refusal_lines(refused, request.ranks_per_node)),
    )
    raise with_replay(error, request, campaign_of(request, print))


def refusal_lines(refused: Mapping[int, list[str]], ranks_per_node: int) -> list[str]:
    """Return a line for each refused node count: its ranks and its first reasons."""
    lines = []
    for nodes, all_reasons in refused.items():
        reasons = [*all_reasons[:_MOST_REASONS], *(["and more"] if len(all_reasons) > _MOST_REASONS else [])]
        where = f"{count(nodes, 'node')}, {count(nodes * ranks_per_node, 'rank')}"
        lines.append(f"{where}: {'; '.join(reasons)}")
    return lines


def strong_scaling(request: Request) -> bool:
    """Say whether the program divides the whole problem: as stated, or as its recorded runs of one problem show."""
    if request.scaling != "auto":
        return request.scaling == "strong"
    usual = Run.of(1, request.program.parameters).parameters
    runs = [run for run in request.learned if run.parameters == usual and run.ranks > 1]
    return divides_the_problem({run.ranks: request.recordings / run.name for run in runs})


def recorded_before(request: Request) -> int:
    """Return how many of the request's runs are recorded already."""
    return sum(Path(request.recordings, run.name, "run.json").is_file() for run in _runs(request))
