"""The report's label of each compute phase, and the phases that are folded into one group.

In: the segments and the timing profile of one mode. Out: one short label per phase, the same in every table and chart,
and the phases of the set-up: those that the application gave no label and that every rank executes once.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from manynode.phase_names import by_call_sites, short_names
from manynode.timing_profile import TimingProfile


@dataclass(frozen=True)
class PhaseLabels:
    """``labels`` by the phase's whole name; ``set_up`` are the whole names of the folded phases."""

    labels: dict[str, str]
    set_up: frozenset[str]

    def of(self, name: str) -> str:
        """Return the label of a phase."""
        return self.labels.get(name, name) or "(no name)"

    @property
    def group(self) -> str:
        """Return the label of the folded phases."""
        return f"set-up: {len(self.set_up):,} phases that ran once"


def phase_labels(segments: pd.DataFrame | None, profile: TimingProfile | None) -> PhaseLabels:
    """Return the labels of all phases; fewer than two phases, or all of them, are not folded."""
    most: dict[str, int] = {}
    if segments is not None:
        counts = segments.groupby([segments["phase"].astype(str), "rank"], observed=True).size()
        most = {str(name): int(count) for name, count in counts.groupby(level=0).max().items()}
    elif profile is not None:
        for part in profile.classes:
            for phase in part.phases:
                each = -(-phase.count // len(part.simulated_ranks))
                most[phase.name] = max(most.get(phase.name, 0), each)
    known = {phase.name for part in profile.classes for phase in part.phases} if profile else set()
    once = frozenset(name for name, count in most.items() if count <= 1 and by_call_sites(name))
    folded = once if 2 <= len(once) < len(most) else frozenset()
    return PhaseLabels(short_names(sorted({*most, *known})), folded)
