"""What a derived skeleton is worth at a number of ranks and with parameters that may never have been run.

In: the content of a skeleton file and the target. Out: a :class:`Verdict`. ``proved``: this point was recorded, and the
skeleton equals the recording. ``agreed``: all hypotheses that fit the recordings say the same at the target, and the
job matches itself; where sizes are drawn, the reasons say how many, and how sure their volume is. ``assumed``: the
same, under what a user stated by hand. ``approximate``: a recorded run stands for the job, with measured errors
(:mod:`phase2_nodesim.approximate`). ``refused``: anything else, with the reasons and, where one run would decide,
that run.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from manynode.derived.call_forms import BLOCKS
from manynode.derived.expression import ExpressionError, parse
from manynode.derived.skeleton_model import Approximate
from manynode.errors import InputError
from phase2_nodesim.approximate.worth import worth
from phase2_nodesim.derive.grids.patterns import rules
from phase2_nodesim.derive.judging.interpret import Content, Job
from phase2_nodesim.derive.judging.level import Level, Verdict
from phase2_nodesim.derive.judging.load import LoadShare
from phase2_nodesim.derive.judging.matching import mismatch, unknown_phase
from phase2_nodesim.derive.recorded.rank_numbers import kinds_of, of_kinds
from phase2_nodesim.derive.rules.groups import PLACE, together

# The largest relative error of a job's volume with which drawn sizes are used.
MOST_SPREAD = 0.05
# Numbers of ranks that a user may record to decide a doubt.
_RECORDABLE = range(2, 129)
# In jobs of up to so many ranks, a grid of two axes may be a line; one of these would decide.
_SHORT_LINE, _LONGER = 8, (12, 16)


def verdict(
    content: Content, ranks: int, parameters: Mapping[str, int] | None = None, *, matched: bool = True
) -> Verdict:
    """Return the verdict on a skeleton at ``ranks`` ranks; parameters that are not given have their defaults.

    With ``matched``, which takes most of the time, the job is also matched with itself.
    """
    given = dict(parameters or {})
    fixed = content.get("program", {}).get("fixed", {})
    section = content.get("approximate") or {}
    lifted = bool(section) and ranks in section.get("only", [ranks])
    if lifted:
        # Recorded runs stand for jobs with the same arguments.
        fixed = {**fixed, **{name: one["default"] for name, one in content.get("parameters", {}).items()}}
    changed = [
        f"{name} was recorded as {value} only, not as {given[name]}"
        for name, value in fixed.items()
        if given.get(name, value) != value
    ]
    if lifted and not changed:
        return worth(Approximate.model_validate(section), ranks)
    given = {name: value for name, value in given.items() if name not in fixed}
    recorded = content.get("recorded", [])
    wrong = [f"the skeleton differs from the recording of {_point(one)}" for one in recorded if not one["equal"]]
    if changed or wrong:
        return Verdict("refused", (*changed, *wrong))
    # Doubts look for the number of ranks that would decide them, among the same ones.
    job_of = functools.cache(lambda ranks: Job(content, ranks, given))
    try:
        job = job_of(ranks)
    except InputError as error:
        return Verdict("refused", (error.what,))
    point = {**fixed, **job.parameters}
    run = next((one for one in recorded if one["ranks"] == ranks and one["parameters"] == point), None)
    drawn = LoadShare.of(job, content, run)
    if run is not None:
        # Drawn sizes are not those of the recording.
        level: Level = "proved" if drawn is None else "agreed" if drawn.error <= MOST_SPREAD else "refused"
        return Verdict(level, (f"recorded, and equal but for sizes; {drawn}",) if drawn else ())
    least = min((one["ranks"] for one in recorded), default=1)
    if ranks < least:
        # What only a lone rank leaves out, such as packing for neighbours, no larger job shows.
        why = f"no recording is smaller than {least} ranks; one of {ranks} would decide"
        return Verdict("refused", (why,), deciding=(ranks,))
    counts = [one["ranks"] for one in recorded]
    if content.get("grid", {}).get("rule") == "line" and max(counts, default=_SHORT_LINE + 1) <= _SHORT_LINE:
        longer = next((one for one in _LONGER if of_kinds(one, kinds_of(counts))), _LONGER[0])
        why = f"a grid of two axes may be a line in jobs of up to {_SHORT_LINE} ranks; one of {longer} would decide"
        return Verdict("refused", (why,), deciding=(longer,))
    doubts = [doubt for doubt in content.get("doubts", []) if disagrees(doubt, job)]
    judged = [(doubt, _deciding(doubt, job, job_of, counts)) for doubt in doubts]
    reasons = [_reason(doubt, job, number) for doubt, number in judged]
    if matched and not reasons:
        try:
            found = mismatch(job)
            found = f"the job does not match itself: {found}" if found else unknown_phase(job, content)
        except ExpressionError as error:
            found = error.what
        reasons = [found] if found else []
    if drawn and drawn.error > MOST_SPREAD:
        reasons.append(f"{drawn}: recordings of more ranks would decide")
    if reasons:
        deciding = tuple(sorted({number for _, number in judged if number is not None}))
        return Verdict("refused", tuple(dict.fromkeys(reasons)), deciding=deciding)
    assumptions = [f"stated by hand: {one['at']}: {one['says']}" for one in content.get("assumptions", [])]
    if not recorded:
        assumptions.append("stated by hand: the whole skeleton, of which no run was recorded")
    load = [str(drawn)] if drawn else []
    return Verdict("assumed" if assumptions else "agreed", (*assumptions, *load))


def _point(recorded: Mapping[str, Any]) -> str:
    words = ", ".join(f"{name} {value}" for name, value in recorded["parameters"].items())
    return f"{recorded['ranks']} ranks" + (f" with {words}" if words else "")


def disagrees(doubt: Content, job: Job) -> bool:
    """Say whether some hypothesis of a doubt differs from the skeleton at a job's ranks and parameters."""
    return any(differs(doubt, other, job) for other in doubt["or"])


def differs(doubt: Content, other: str, job: Job) -> bool:
    """Say whether one hypothesis of a doubt differs from what the skeleton says."""
    if doubt["at"] == "grid":
        if job.ranks in job.stated_extents:
            return False
        named = {str(rule): rule for rule in rules()}
        return _extents(named[doubt["says"]].grid(job.ranks).extents) != _extents(named[other].grid(job.ranks).extents)
    if doubt["at"].startswith(PLACE):
        return _apart(doubt["says"], other, job)
    for scope in _scopes(doubt["at"], job):
        try:
            says = parse(doubt["says"], doubt["at"]).evaluate(scope)
        except ExpressionError:
            return True
        try:
            if np.any(np.asarray(says) != np.asarray(parse(other, doubt["at"]).evaluate(scope))):
                return True
        except ExpressionError:
            return True
    return False


def _apart(says: str, other: str, job: Job) -> bool:
    """Say whether two colors of a communicator put other ranks together."""
    try:
        one, two = (together(job.by_rank(color, PLACE)) for color in (says, other))
    except ExpressionError:
        return True
    return not np.array_equal(one, two)


def _extents(extents: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(extent for extent in extents if extent > 1)


def _scopes(where: str, job: Job) -> Iterator[Any]:
    """Yield the names at a place of the body, on the ranks that come there, in the first repetitions of its loops."""
    lanes = np.arange(job.ranks)
    numbers = [int(word) for word in re.findall(r"/(\d+)", where)] if where.startswith("body/") else []
    field = where.rsplit("/", 1)[-1]
    items = job.items
    indices: list[tuple[str, int]] = []
    for depth, number in enumerate(numbers):
        item = items[number]
        items = list(item.body)
        last = depth == len(numbers) - 1
        scope = job.scope.lanes(lanes).bound(**{name: 0 for name, _ in indices})
        # The condition itself is compared on all ranks that come to it.
        if item.when is not None and not (last and field == "when"):
            lanes = lanes[np.broadcast_to(np.asarray(item.when.evaluate(scope)), lanes.shape) != 0]
            scope = job.scope.lanes(lanes).bound(**{name: 0 for name, _ in indices})
        if item.repeat is not None and not (last and field == "repeat"):
            counts = np.broadcast_to(np.asarray(item.repeat.evaluate(scope), np.int64), lanes.shape)
            lanes = lanes[counts > 0]
            if "index" in item.content and len(lanes):
                indices.append((item.content["index"], int(counts[counts > 0].min())))
    if not len(lanes):
        return
    for repetition in range(min([count for _, count in indices], default=1)):
        scope = job.scope.lanes(lanes).bound(**{name: repetition for name, _ in indices})
        if field not in BLOCKS:
            yield scope
            continue
        for _, of_block in job.members(job.communicator(item)).blocks(scope, lanes):
            yield of_block


def _deciding(doubt: Content, job: Job, job_of: Callable[[int], Job], recorded: Collection[int]) -> int | None:
    """Return the number of ranks whose recording would decide a doubt, among those that a user may record."""
    if doubt["at"] == "grid" and job.stated_extents:
        # Where no rule gives the program's grids, another number of ranks says nothing about this one.
        return job.ranks
    # A program that ran on powers of two alone may take no others.
    kinds = kinds_of(recorded) if recorded else []
    in_order = sorted(_RECORDABLE, key=lambda ranks: not of_kinds(ranks, kinds))
    return next((ranks for ranks in in_order if _decides(doubt, job_of, ranks)), None)


def _decides(doubt: Content, job_of: Callable[[int], Job], ranks: int) -> bool:
    try:
        return disagrees(doubt, job_of(ranks))
    except InputError:
        return False  # the skeleton has no job of so many ranks


def _reason(doubt: Content, job: Job, deciding: int | None) -> str:
    what = f"{doubt['at']}: the recordings fit {doubt['says']} as well as {' and '.join(doubt['or'][:3])}"
    if doubt["says"] == "0" and not doubt["at"].startswith(PLACE):
        what = f"no recording shows what happens where {' or '.join(doubt['or'])}"
    if doubt["at"] == "grid" and job.stated_extents:
        known = ", ".join(map(str, sorted(job.stated_extents)))
        return f"{what}, and none has the program's own grids at {known} ranks; a recording of {job.ranks} would decide"
    return what if deciding is None else f"{what}; a recording of {deciding} ranks would decide"
