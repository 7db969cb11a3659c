"""The numbers of ranks on which a program runs: many take powers of two, squares or cubes only.

In: the runs to record. Out: those that were recorded, and the numbers of ranks on which the program ended with an error
(:class:`Accepted`). A program that runs on too few of them, or that fails with another value of a parameter, is a
:class:`UsageError`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from manynode.config.command_words import DoesNotFitError
from manynode.errors import ManynodeError, UsageError
from manynode.launch import ProgramFailedError
from phase2_nodesim.derive.campaign import Campaign, Run
from phase2_nodesim.derive.recorded.rank_numbers import KINDS, kinds_of
from phase2_nodesim.derive.recorded.recordings import FEWEST_COUNTS, NotDerivedError, OfTheNodeError

_Refused = dict[Run, ProgramFailedError | DoesNotFitError]

# What MPICH and Open MPI add to a program's own words: lines, and blocks between dashes.
_OF_THE_LIBRARY = re.compile(
    r"^-{20,}$.*?^-{20,}$|^(?:Abort\(|In: PMI|application called MPI_Abort|\[[^\s:]+:\d+\] ).*?$",
    re.MULTILINE | re.DOTALL,
)
# What a program says at each number of ranks is often the same.
_MOST_WORDS = 2
# Larger numbers of ranks are not proposed.
_MOST_PROPOSED = 64


@dataclass(frozen=True)
class Accepted:
    """Numbers of ranks on which the program ran, and those on which it did not, each with its own words."""

    ran: frozenset[int] = frozenset()
    refused: Mapping[int, str] = field(default_factory=dict)
    does_not_fit: Callable[[int], str | None] = lambda _ranks: None
    """Why the command has no arguments for a number of ranks."""

    @property
    def kinds(self) -> list[str]:
        """The kinds of numbers that tell the two sets apart, by name; none if the program itself refused no others.

        Numbers above all that ran may be too many for the problem, whatever their kind.
        """
        refused = [ranks for ranks in self.refused if self.does_not_fit(ranks) is None]
        smaller = [ranks for ranks in refused if ranks < max(self.ran)]
        found = [kind for kind in kinds_of(self.ran) if not any(map(KINDS[kind], smaller))]
        return [kind for kind in found if not all(map(KINDS[kind], refused))]

    @property
    def too_many(self) -> int | None:
        """The least number of ranks that was refused although it has the program's kind: the problem may be small."""
        kinds = self.kinds
        return min((ranks for ranks in self.refused if any(KINDS[kind](ranks) for kind in kinds)), default=None)

    def why_not(self, ranks: int) -> str | None:
        """Return why the program does not run on so many ranks, None if it did or may."""
        if ranks in self.ran:
            return None
        if (why := self.does_not_fit(ranks)) is not None:
            return why
        if ranks in self.refused:
            return f"the program does not run on {ranks} ranks: {self.refused[ranks]}"
        if self.too_many is not None and ranks > self.too_many:
            return f"{self.why_not(self.too_many)}; nor, it seems, on more"
        kinds = self.kinds
        if not kinds or any(KINDS[kind](ranks) for kind in kinds):
            return None
        return f"the program seems to take {' or '.join(kinds)} only, as numbers of ranks"

    def words(self) -> list[str]:
        """Return lines that say on which numbers of ranks the program runs; none if it ran on all."""
        if not self.refused:
            return []
        said = "; ".join(list(dict.fromkeys(self.refused.values()))[:_MOST_WORDS])
        lines = [f"left out: the program does not run on {_listed(self.refused)} ranks: {said}"]
        return [*lines, f"it runs on {_listed(self.ran)} ranks{self._seems()}"]

    def proposed(self, kinds: Collection[str]) -> list[int]:
        """Return the numbers of ranks that a program of one of these kinds seems to take, up to a usual job."""
        most = min(_MOST_PROPOSED, (self.too_many or math.inf) - 1)
        return [n for n in range(1, _MOST_PROPOSED + 1) if n <= most and any(KINDS[kind](n) for kind in kinds)]

    def _seems(self) -> str:
        proposed = [
            f"{kind} (--ranks {','.join(str(n) for n in self.proposed([kind]) if n > 1)})" for kind in self.kinds
        ]
        return f", and seems to take {' or '.join(proposed)}" if proposed else ""


def _listed(numbers: Mapping[int, str] | frozenset[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def record(
    campaign: Campaign, learned: Sequence[Run], held_out: Sequence[Run]
) -> tuple[list[Run], list[Run], Accepted]:
    """Record the runs; return those to learn from and to compare with, and the numbers of ranks that were accepted.

    Where too few are left of a program that takes powers of two, squares or cubes only, others of these are recorded.
    The program's own error is raised if it runs on no number of ranks.
    """
    refused = _refused(campaign, learned, held_out)
    left, compared, accepted = _left(campaign, learned, held_out, refused)
    more = _of_its_kind(accepted, left, compared, compares=bool(held_out))
    if any(more):
        campaign.say(f"the program seems to take {' or '.join(accepted.kinds)} only: more of these are recorded")
        refused |= _refused(campaign, *more)
        learned, held_out = [*learned, *more[0]], [*held_out, *more[1]]
        left, compared, accepted = _left(campaign, learned, held_out, refused)
    others = [
        f"left out: {run.words()}: {_own_words(one)}" for run, one in refused.items() if run.ranks in accepted.ran
    ]
    for line in [*accepted.words(), *others]:
        campaign.say(line)
    counts = {run.ranks for run in left}
    if refused and len(counts) < FEWEST_COUNTS:
        raise UsageError(
            "the program runs on too few of these numbers of ranks to derive a skeleton from",
            where="--ranks",
            found=_listed(frozenset(counts)),
            allowed=f"at least {FEWEST_COUNTS}",
            remedy="give numbers of ranks that it takes (--ranks)",
            details="\n".join(accepted.words()),
        )
    return left, compared, accepted


def _refused(campaign: Campaign, learned: Sequence[Run], held_out: Sequence[Run]) -> _Refused:
    """Record the runs; return those that ended with an error, or have no arguments, with it."""
    usual = learned[0].parameters if learned else ()
    refused: _Refused = {}
    for run in dict.fromkeys([*learned, *held_out]):
        try:
            campaign.recorded(run)
        except DoesNotFitError as error:
            refused[run] = error
        except ProgramFailedError as error:
            if run in learned and run.parameters != usual:
                raise _varied(run, error, [one for one in learned if one.parameters == usual], refused) from None
            refused[run] = error
    return refused


def _left(
    campaign: Campaign, learned: Sequence[Run], held_out: Sequence[Run], refused: _Refused
) -> tuple[list[Run], list[Run], Accepted]:
    """Return the runs that ran, and what the program accepts; its own error if it ran nowhere."""
    left, compared = ([run for run in runs if run not in refused] for runs in (learned, held_out))
    if not left:
        raise next(iter(refused.values()))
    ran = frozenset(run.ranks for run in (*left, *compared))
    words = {run.ranks: _own_words(one) for run, one in refused.items() if run.ranks not in ran}
    return left, compared, Accepted(ran, words, campaign.does_not_fit)


def _of_its_kind(
    accepted: Accepted, left: Sequence[Run], compared: Sequence[Run], *, compares: bool
) -> tuple[list[Run], list[Run]]:
    """Return runs that a program seems to take, to learn from and to compare with, where too few were asked for."""
    tried = accepted.ran | accepted.refused.keys()
    free = [n for n in accepted.proposed(accepted.kinds) if n not in tried]
    # The largest decides most; a single rank leaves much out, and comes last.
    held_out = [free.pop()] if compares and not compared and free else []
    missing = FEWEST_COUNTS + 1 - len({run.ranks for run in left})
    more = sorted(free, key=lambda ranks: (ranks == 1, ranks))[:missing] if missing > 1 else []
    usual = dict(left[0].parameters)
    learned, held_out_runs = ([Run.of(ranks, usual) for ranks in numbers] for numbers in (more, held_out))
    return learned, held_out_runs


def record_all(
    campaign: Campaign, learned: Sequence[Run], held_out: Sequence[Run]
) -> tuple[list[Run], list[Run], Accepted, NotDerivedError | None]:
    """Record the runs as :func:`record` does; what the first of them show may be that there is no exact skeleton.

    That is returned last. It is raised where there is no approximate one either (:class:`OfTheNodeError`).
    """
    try:
        return (*record(campaign, learned, held_out), None)
    except OfTheNodeError:
        raise
    except NotDerivedError as error:
        return (*record(replace(campaign, to_derive=False), learned, held_out), error)


def _varied(
    run: Run, error: ProgramFailedError, usual: Sequence[Run], refused: Mapping[Run, ManynodeError]
) -> ProgramFailedError | UsageError:
    """Return the error of a run with another value of a parameter: its value or its number of ranks may be at fault."""
    others = [one.ranks for one in usual if one not in refused]
    if run.ranks in others or not others:
        return error
    return UsageError(
        "the program does not run on the number of ranks of the runs with varied parameters",
        where="--varied-ranks",
        found=f"{run.ranks}: {_own_words(error)}",
        allowed=", ".join(map(str, others)),
        remedy=f"--varied-ranks {max((one for one in others if one <= run.ranks), default=others[0])}",
    )


def _own_words(error: ManynodeError) -> str:
    """Return what the program said last, or else how it ended."""
    if isinstance(error, DoesNotFitError):
        return str(error.what)
    own = _OF_THE_LIBRARY.sub("", error.details or "").split("\n")
    return next((line.strip() for line in reversed(own) if line.strip()), str(error.found))
