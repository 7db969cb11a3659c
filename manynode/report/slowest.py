"""The expected slowest rank of each compute phase: from the samples alone, and with the fitted tail beside it."""

from __future__ import annotations

from dataclasses import dataclass

from manynode.report.load import Inputs
from manynode.report.wording import count, number
from manynode.slowest import expected_slowest
from manynode.timing_profile import PhaseTimes, Tail

POOR_FIT = 0.05
MOST_ROWS = 12


@dataclass(frozen=True)
class SlowestRow:
    """One phase of one class; the tail's figures are those of its cluster with the longest times that has one."""

    name: str
    label: str
    rank_class: str
    mean_s: float
    empirical_s: float
    tail_s: float | None
    exceedances: int | None
    shape: float | None
    others: str
    p_value: float | None


def largest_ranks(inputs: Inputs) -> int:
    """Return the ranks of the largest job that is projected."""
    return max(inputs.experiment.nodes, default=1) * inputs.experiment.ranks_per_node


def slowest_rows(inputs: Inputs) -> list[SlowestRow]:
    """Return the phases with the most time first; those of the set-up, which no skeleton replays, are left out."""
    ranks = largest_ranks(inputs)
    phases = _phases(inputs)
    phases.sort(key=lambda entry: -entry[1].count * entry[1].mean_s)
    return [_row(name, phase, ranks, inputs.phase_labels.of(phase.name)) for name, phase in phases[:MOST_ROWS]]


def _phases(inputs: Inputs) -> list[tuple[str, PhaseTimes]]:
    """Return class and phase of all phases that executed several times or have a label; own times are no samples."""
    if inputs.own_times is not None:
        return []
    profile, set_up = inputs.profiles.get(inputs.mode or ""), inputs.phase_labels.set_up
    parts = [part for part in profile.classes if not part.borrowed] if profile else []
    return [(part.name, phase) for part in parts for phase in part.phases if phase.name not in set_up]


def _row(rank_class: str, phase: PhaseTimes, ranks: int, label: str) -> SlowestRow:
    tail = _tail(phase)
    return SlowestRow(
        name=phase.name,
        label=label,
        rank_class=rank_class,
        mean_s=phase.mean_s,
        empirical_s=expected_slowest(phase, ranks, tail=False),
        tail_s=None if tail is None else expected_slowest(phase, ranks, tail=True),
        exceedances=tail.exceedances if tail else None,
        shape=tail.shape if tail else None,
        others="; ".join(f"{fit.shape:.2f} above {fit.probability:.4g}" for fit in tail.others) if tail else "",
        p_value=tail.p_value if tail else None,
    )


def _tail(phase: PhaseTimes) -> Tail | None:
    return next((cluster.tail for cluster in phase.clusters if cluster.tail is not None), None)


def tail_words(inputs: Inputs) -> str:
    """Return the sentences on times beyond the samples; empty without a timing profile."""
    rows = slowest_rows(inputs)
    if not rows:
        return ""
    fewest = min(phase.count for _, phase in _phases(inputs))
    ranks = largest_ranks(inputs)
    if all(row.tail_s is None for row in rows):
        if ranks <= fewest:
            return ""
        if inputs.resolved.get("nodesim", {}).get("tail") is not None:
            return "No cluster of compute times has enough samples above the threshold for a tail (nodesim: tail)."
        return (
            f"The slowest of {count(ranks, 'rank')} may lie beyond the samples: a phase has only {number(fewest)}. "
            "'nodesim: tail' fits a model of the rare long times."
        )
    drawn = inputs.resolved.get("simulate", {}).get("tail", False)
    fitted = [row for row in rows if row.tail_s is not None and row.p_value is not None]
    poor = [row for row in fitted if (row.p_value or 0) < POOR_FIT]
    text = (
        f"Tails beyond the samples were fitted to {count(len(fitted), 'phase')} of {len(rows)}. The replay "
        f"{'draws' if drawn else 'does not draw'} from them (simulate: tail)."
    )
    if poor:
        text += (
            f" The fit of {count(len(poor), 'phase')} is poor (p below {POOR_FIT:g}): the slowest rank is uncertain."
        )
    return text
