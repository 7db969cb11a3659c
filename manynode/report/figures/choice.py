"""The phases of a timing profile, ordered and labelled for the figures' drop-downs."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from manynode.report.load import Inputs
from manynode.timing_profile import ClassTimes, PhaseTimes


def labelled_phases(inputs: Inputs) -> Iterator[tuple[str, ClassTimes, PhaseTimes]]:
    """Yield (label, class, phase), the phases with the most time first; the label names the class if several.

    Phases of the set-up are left out: one execution has neither a distribution nor a pattern. So are phases that take
    no time.
    """
    profile, names = inputs.profiles.get(inputs.mode or ""), inputs.phase_labels
    if profile is None:
        return
    several = len(profile.classes) > 1
    entries = [
        (part, phase)
        for part in profile.classes
        for phase in part.phases
        if phase.name not in names.set_up and phase.mean_s > 0
    ]
    totals: dict[str, float] = {}
    for part, phase in entries:
        seconds = phase.count * phase.mean_s / len(part.simulated_ranks)
        totals[phase.name] = totals.get(phase.name, 0.0) + part.share * seconds
    entries.sort(key=lambda entry: (-totals[entry[1].name], entry[1].name, entry[0].name))
    for part, phase in entries:
        yield (f"{names.of(phase.name)} (class {part.name})" if several else names.of(phase.name)), part, phase


def left_out(inputs: Inputs) -> str:
    """Return a sentence on the phases of the set-up, empty without such."""
    count = len(inputs.phase_labels.set_up)
    return f"The {count:,} set-up phases that ran once are left out." if count else ""


def phase_choice(name: str, labels: list[str]) -> alt.Parameter:
    """Return a drop-down over phases; the first is chosen."""
    return alt.param(name=name, value=labels[0], bind=alt.binding_select(options=labels, name="compute phase "))
