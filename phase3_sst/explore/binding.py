"""The binding constraint of an inverse question: what the time goes to where the goal is only just kept, or missed.

In: two answers, or one. Out: the part of the time that binds, and a sentence. Answers with a loss waterfall are
compared by its parts. Without one (an engine that cannot switch costs off), the time in each MPI operation and the
load of the links must do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phase3_sst.explore.answer import Answer

# A class of links is called busy from this share of the time on.
_BUSY = 0.7
_WORDS = {
    "compute": "computing",
    "dependency": "waiting of ranks for each other, even on a network that costs nothing",
    "variability": "waiting caused by varying compute times",
    "overhead": "the processors' overhead of messages",
    "latency": "latency",
    "bandwidth": "bandwidth",
    "contention": "contention: messages wait for busy links",
}


@dataclass(frozen=True)
class Binding:
    """The part that binds, its seconds (or the seconds by which it grows), and a sentence."""

    part: str
    seconds: float
    by_losses: bool  # from the loss waterfall, not from the breakdown by operations
    words: str

    def as_json(self) -> dict[str, Any]:
        """Return it for the page."""
        return dict(vars(self))


def parts_of(answer: Answer, by_losses: bool) -> dict[str, float]:
    """Return part -> seconds: of the loss waterfall, or of the breakdown by operations."""
    if by_losses:
        return {str(row["part"]): float(row["seconds"]) for row in answer.losses or []}
    return {str(row["operation"]): float(row["seconds"]) for row in answer.breakdown}


def growth(easy: Answer, hard: Answer, easy_value: object, hard_value: object) -> Binding | None:
    """Return what grows most from the easy value to the hard one; None if nothing grows."""
    by_losses = bool(easy.losses) and bool(hard.losses)
    before, after = parts_of(easy, by_losses), parts_of(hard, by_losses)
    grown = {part: after.get(part, 0.0) - before.get(part, 0.0) for part in {**before, **after}}
    positive = {part: seconds for part, seconds in grown.items() if seconds > 0}
    if not positive:
        return None
    part = max(positive, key=lambda name: positive[name])
    share = positive[part] / sum(positive.values())
    words = (
        f"{_name(part)} binds: from {easy_value} to {hard_value} it grows by {positive[part]:.3g} s, "
        f"{share:.0%} of all that grows{_links(hard)}"
    )
    return Binding(part, positive[part], by_losses, words)


def remainder(best: Answer, allowed_s: float, value: object) -> Binding | None:
    """Return what the time goes to at the best value, where even that misses the goal."""
    by_losses = bool(best.losses)
    parts = parts_of(best, by_losses)
    if not parts:
        return None
    ideal = sum(parts.get(part, 0.0) for part in ("compute", "dependency", "variability")) if by_losses else None
    if ideal is not None and ideal > allowed_s:
        part = max(("compute", "dependency", "variability"), key=lambda name: parts.get(name, 0.0))
        words = (
            f"no network is enough: on one that costs nothing the time is still {ideal:.4g} s, most of it {_name(part)}"
        )
        return Binding(part, parts[part], True, words)
    rest = {part: seconds for part, seconds in parts.items() if part != "compute"} or parts
    part = max(rest, key=lambda name: rest[name])
    words = f"at {value}, {_name(part)} still takes {rest[part]:.3g} s of {best.time_s:.4g} s{_links(best)}"
    return Binding(part, rest[part], by_losses, words)


def _name(part: str) -> str:
    return _WORDS.get(part, part)


def _links(answer: Answer) -> str:
    """Return the busiest class of links as the end of a sentence, if it is busy."""
    busiest = busiest_links(answer)
    if busiest is None or busiest[1] < _BUSY:
        return ""
    return f"; the busiest link ({busiest[0]}) is busy for {busiest[1]:.0%} of the time"


def busiest_links(answer: Answer) -> tuple[str, float] | None:
    """Return the class with the busiest link and the share of the time for which that is busy."""
    rows: list[Mapping[str, Any]] = list(answer.links)
    if not rows:
        return None
    row = max(rows, key=lambda row: float(row["busy_share_max"]))
    return str(row["class"]), float(row["busy_share_max"])
