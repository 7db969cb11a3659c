"""The phases of a timing profile in the order and under the labels of the figures' drop-downs."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from manynode.timing_profile import ClassTimes, PhaseTimes, TimingProfile


def labelled_phases(profile: TimingProfile) -> Iterator[tuple[str, ClassTimes, PhaseTimes]]:
    """Yield (label, class, phase), the phases with the most time first; the label names the class if several."""
    several = len(profile.classes) > 1
    entries = [(part, phase) for part in profile.classes for phase in part.phases]
    totals: dict[str, float] = {}
    for part, phase in entries:
        seconds = phase.count * phase.mean_s / len(part.simulated_ranks)
        totals[phase.name] = totals.get(phase.name, 0.0) + part.share * seconds
    entries.sort(key=lambda entry: (-totals[entry[1].name], entry[1].name, entry[0].name))
    for part, phase in entries:
        yield (f"{phase.name} (class {part.name})" if several else phase.name), part, phase


def phase_choice(name: str, labels: list[str]) -> alt.Parameter:
    """Return a drop-down over phases; the first is chosen."""
    return alt.param(name=name, value=labels[0], bind=alt.binding_select(options=labels, name="compute phase "))
