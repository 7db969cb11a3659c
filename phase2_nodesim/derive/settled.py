"""Derives an exact skeleton from recorded runs, and records the runs that decide what these leave open.

In: the runs of a campaign, and the numbers of ranks that are asked for. Out: the skeleton. Held-out runs that differ
are learned from, as long as another one stays held out, and so is the smallest where there is no skeleton without it.
Jobs of up to three ranks may follow no rule of the larger ones: they are then left to their recordings. A number of
ranks that would decide a doubt is recorded unless the job is much larger than the others, or the program does not take
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from manynode.config.command_words import DoesNotFitError
from manynode.config.input_files import digests
from manynode.launch import ProgramFailedError
from phase2_nodesim.derive.campaign import Campaign, Run
from phase2_nodesim.derive.derivation import Derivation, derive
from phase2_nodesim.derive.grids.boxes import extents_at
from phase2_nodesim.derive.judging.judged import read_content
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.program import Program
from phase2_nodesim.derive.recorded.recordings import FEWEST_COUNTS, NotDerivedError, TooMuchError

MOST_AT_ONCE, MOST_RUNS = 3, 9
# Smaller jobs have one or two ranks along each axis, and often no neighbour at all.
_SMALLEST = 4
# Times the ranks of the largest run.
MOST_LARGER = 2


def settled(
    campaign: Campaign, learned: Sequence[Run], held_out: Sequence[Run], program: Program, output: Path,
    targets: Sequence[int],
) -> Derivation:  # fmt: skip
    """Return the skeleton derived from recorded runs; the assumptions of the file ``output`` hold again.

    Raises :class:`NotDerivedError` if there is no exact one. If the runs that would decide are too much, the skeleton
    without them stays.
    """
    tried: set[int] = set()
    before: Derivation | None = None
    largest = max(run.ranks for run in learned) * MOST_LARGER
    while True:
        try:
            found = _derived(campaign, learned, held_out, program, output)
            state_extents(found, targets)
            more = _differing(found, held_out)
        except TooMuchError as error:
            if before is None:
                raise
            campaign.say(f"not learned from: {error.what}")
            return of_program(before, program)
        except NotDerivedError:
            small = [run for run in learned if run.ranks < _SMALLEST and dict(run.parameters) == program.parameters]
            if small and len({run.ranks for run in learned} - {run.ranks for run in small}) >= FEWEST_COUNTS:
                campaign.say(f"left to their recordings: {', '.join(run.words() for run in small)}")
                learned = [run for run in learned if run not in small]
                tried |= {run.ranks for run in small}
                continue
            more = sorted(_all_but_the_largest(held_out), key=lambda run: run.ranks)[:1]
            if not more:
                raise
        if more:
            held_out = [run for run in held_out if run not in more]
            campaign.say(f"learned from as well: {', '.join(run.words() for run in more)}")
        else:
            numbers = sorted(_deciding(found, targets, largest) - tried)[: min(MOST_AT_ONCE, MOST_RUNS - len(tried))]
            tried |= set(numbers)
            more = _recorded(campaign, [Run.of(ranks, program.parameters) for ranks in numbers])
            if not more:
                return of_program(found, program)
            before = found
        learned = [*learned, *more]


def state_extents(found: Derivation, targets: Sequence[int]) -> None:
    """State the extents of the grids of other jobs, where they are known without a rule (:mod:`.grids.boxes`)."""
    grid = found.skeleton.get("grid", {})
    if "rule" in grid or not grid:
        return
    known = {ranks: tuple(extents) for ranks, extents in grid["extents"].items()}
    stated = extents_at(known, [ranks for ranks in targets if ranks not in known])
    grid["extents"] = {ranks: list(extents) for ranks, extents in sorted((known | stated).items())}
    if stated:
        found.report.grid += f"; at {', '.join(map(str, stated))} ranks, parts of a box with the least surface"


def of_program(found: Derivation, program: Program) -> Derivation:
    """Note in a skeleton which program it is of."""
    found.skeleton["program"]["command"] = program.command
    if program.grid is not None:
        found.skeleton["program"]["grid"] = program.grid.stated
    if program.inputs:
        found.skeleton["program"]["inputs"] = digests(program.inputs)
    return found


def _derived(
    campaign: Campaign, learned: Sequence[Run], held_out: Sequence[Run], program: Program, output: Path
) -> Derivation:
    read = {run: campaign.recording(run) for run in [*learned, *held_out]}
    stated = read_content(output).get("assumptions", []) if output.exists() else []
    return derive([read[run] for run in learned], [read[run] for run in held_out], name=program.name, stated=stated)


def _differing(found: Derivation, held_out: Sequence[Run]) -> list[Run]:
    """Return the held-out runs that the skeleton does not give, without the largest of all if these are all."""
    differ = {
        (one["ranks"], tuple(sorted(one["parameters"].items())))
        for one in found.skeleton["recorded"]
        if one["role"] == "held out" and not one["equal"]
    }
    runs = [run for run in held_out if (run.ranks, run.parameters) in differ]
    return runs if len(runs) < len(held_out) else _all_but_the_largest(held_out)


def _all_but_the_largest(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.ranks < max(one.ranks for one in runs)]


def _deciding(found: Derivation, targets: Sequence[int], largest: int) -> set[int]:
    judged = [verdict(found.skeleton, target, matched=False) for target in targets]
    return {ranks for one in judged for ranks in one.deciding if ranks <= largest}


def _recorded(campaign: Campaign, runs: Sequence[Run]) -> list[Run]:
    """Record the runs; return those that the program takes."""
    taken = []
    for run in runs:
        try:
            campaign.recorded(run)
        except (ProgramFailedError, DoesNotFitError):
            campaign.say(f"left out: the program does not run on {run.words()}, which would decide what is open")
        else:
            taken.append(run)
    return taken
