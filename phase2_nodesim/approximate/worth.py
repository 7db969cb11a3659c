"""What an approximate skeleton is worth at a number of ranks.

In: its section ``approximate`` and the number of ranks. Out: a :class:`~phase2_nodesim.derive.judging.level.Verdict`.
Errors were measured at jobs larger than the run that stood for them, mostly twice as large; elsewhere they are taken to
grow with each doubling.
"""

from __future__ import annotations

import math

from manynode.derived.skeleton_model import Approximate, HeldOut, RecordedRun
from phase2_nodesim.derive.judging.level import Verdict

# Beyond this expected error of the time the verdict says what would help.
_LARGE = 0.5


def base_of(section: Approximate, ranks: int) -> RecordedRun | None:
    """Return the run that stands for a job, the largest of which it is a multiple."""
    fitting = [run for run in section.runs if ranks % run.ranks == 0]
    return max(fitting, key=lambda run: run.ranks, default=None)


def expected(section: Approximate, ranks: int) -> dict[str, float] | None:
    """Return the expected relative errors of a job by name; None if no error was measured."""
    base = base_of(section, ranks)
    if base is None or not section.held_out:
        return None
    doublings = math.log2(ranks / base.ranks)
    names = ("volume", "messages", "peers", "makespan")
    per_doubling = [(one, math.log2(one.ranks / one.lifted)) for one in section.held_out]
    return {name: doublings * max(abs(getattr(one, name)) / times for one, times in per_doubling) for name in names}


def worth(section: Approximate, ranks: int) -> Verdict:
    """Judge a job of so many ranks."""
    base = base_of(section, ranks)
    known = ", ".join(str(run.ranks) for run in section.runs)
    if base is None:
        return Verdict("refused", (f"no recorded run divides {ranks} ranks ({known} were recorded)",))
    if base.ranks == ranks:
        return Verdict("proved", ("recorded, and replayed call by call",))
    errors = expected(section, ranks)
    if errors is None:
        return Verdict("refused", ("no recorded job is a multiple of another: the error is not known",))
    said = (
        f"the run of {base.ranks} ranks stands for the job, because {section.why}",
        *(_measured(one) for one in section.held_out),
    )
    here = (
        f"expected at {ranks} ranks: volume within {errors['volume']:.1%}, messages within {errors['messages']:.1%}, "
        f"time without computation within {errors['makespan']:.1%}"
    )
    if errors["makespan"] > _LARGE:
        here += ", which larger recorded jobs would make less"
    return Verdict("approximate", (here, *said), errors["makespan"])


def _measured(one: HeldOut) -> str:
    return (
        f"at {one.ranks} ranks, the run of {one.lifted} is off by {one.volume:+.1%} in volume, {one.messages:+.1%} in "
        f"messages, {one.peers:+.1%} in peers of a rank, {one.makespan:+.1%} in time without computation"
    )
