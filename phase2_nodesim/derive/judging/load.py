"""How much of a job's communication has sizes that are drawn, and how sure its volume is.

In: a skeleton at a number of ranks. Out: :class:`LoadShare`, which needs no recording.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manynode.derived.call_forms import draws_blocks
from phase2_nodesim.derive.judging.interpret import Content, Job, draws_of
from phase2_nodesim.derive.recorded.events import POINT_TO_POINT, RECEIVES

# Jobs with so many times fewer ranks than the largest one are small.
_SMALL = 4


@dataclass(frozen=True)
class LoadShare:
    """Shares of the calls and of the bytes sent, and how far the volume may be off.

    ``error`` is the part of the volume that depends on which of the fitting means is right, and with it the error in
    the recorded runs, once more for each doubling of the number of ranks beyond the largest of them. Of a run that was
    ``recorded`` it is the error that was measured.
    """

    calls: float
    bytes: float
    error: float
    recorded: bool = False

    @classmethod
    def of(cls, job: Job, content: Content, recorded: Mapping[str, Any] | None = None) -> LoadShare | None:
        """Return the shares of a job, or None if its skeleton draws no sizes; ``recorded`` is the job's own run."""
        distributions: dict[str, Any] = content.get("distributions", {})
        if not distributions:
            return None
        spread = {name: job.spread(entry) for name, entry in distributions.items()}
        calls = drawn_calls = 0
        volume = drawn = open_ = 0.0
        for step in job.steps():
            call = step.item.call
            if call is None:
                continue
            calls += len(step.lanes)
            names = draws_of(step.item)
            drawn_calls += len(step.lanes) if any(names) else 0
            if call in RECEIVES:
                continue
            real = step.lanes >= 0 if call not in POINT_TO_POINT else step.number("peer") >= 0
            sizes = step.number("bytes")[real]
            parts = np.ones_like(sizes)
            if names[0] is not None and draws_blocks(call):
                sizes, parts = step.number("sent"), job.members(job.communicator(step.item)).sizes[step.lanes]
            size = float((sizes * parts).sum())
            volume += size
            if names[0] is not None:
                drawn += size
                open_ += spread[names[0]] * float(parts.sum())
        shares = drawn_calls / max(calls, 1), drawn / max(volume, 1.0)
        if recorded is not None:
            return cls(*shares, abs(recorded.get("volume_error", 0.0)), recorded=True)
        return cls(*shares, open_ / max(volume, 1.0) + _recorded_error(content, job.ranks))

    def __str__(self) -> str:
        return (
            f"sizes are drawn in {self.calls:.1%} of the calls ({self.bytes:.1%} of the bytes); their volume "
            f"{'is' if self.recorded else 'may be'} {self.error:.1%} off"
        )


def _recorded_error(content: Content, ranks: int) -> float:
    """Return the error of the volume in recorded runs, carried to ``ranks`` ranks.

    Small jobs have few messages, whose mean differs by chance.
    """
    recorded: list[dict[str, Any]] = content.get("recorded", [])
    largest = max((one["ranks"] for one in recorded), default=ranks)
    errors = [abs(one.get("volume_error", 0.0)) for one in recorded if one["ranks"] * _SMALL >= largest]
    return max(errors, default=0.0) * (1 + max(0.0, math.log2(ranks / largest)))
