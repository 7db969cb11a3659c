"""What the timing profile says about iterations that were not simulated: long patterns and rare long times.

In: a timing profile, the class of each rank, and an iteration's executions of each compute phase. Pure arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from manynode.timing_profile import PhaseTimes, SequencePattern, TimingProfile

# Fewer draws than this do not tell how frequent such a time is.
_SEEN_OFTEN = 5


@dataclass(frozen=True)
class Replayed:
    """The ranks of one class: their number, and each rank's executions of each compute phase in an iteration."""

    name: str
    ranks: int
    draws: Mapping[str, int]


def period(profile: TimingProfile, classes: Sequence[Replayed]) -> tuple[int, str]:
    """Return the number of iterations after which all phases' cluster patterns repeat, and the phase with the longest.

    A sequence of L executions, d per iteration, returns to its start after L / gcd(L, d) iterations. One that came once
    has no period that is known; :func:`unlike` judges it.
    """
    whole, longest, phase = 1, 1, ""
    for times, draws, _ in _phases(profile, classes):
        if isinstance(times.pattern, SequencePattern) and len(times.clusters) > 1 and times.pattern.repeat > 1:
            length = len(times.pattern.sequence)
            own = length // math.gcd(length, draws)
            whole = math.lcm(whole, own)
            if own > longest:
                longest, phase = own, times.name
    return whole, phase


def unlike(
    profile: TimingProfile, classes: Sequence[Replayed], since: int, count: int, total: int
) -> tuple[float, str]:
    """Return how far the iterations ``since`` to ``count`` are from those ``since`` to ``total`` [s per iteration].

    Counted are the means of series that came once and that all ranks replay in their order (a part of the run that
    takes longer); of the class that differs most, with the phase that contributes most.
    """
    worst, phase = 0.0, ""
    for replayed in classes:
        differences = {
            times.name: _of_iterations(times, draws, since, count) - _of_iterations(times, draws, since, total)
            for times, draws, _ in _phases(profile, [replayed])
            if isinstance(times.pattern, SequencePattern) and times.pattern.repeat == 1
        }
        if abs(sum(differences.values())) > worst:
            worst = abs(sum(differences.values()))
            phase = max(differences, key=lambda name: abs(differences[name]))
    return worst, phase


def _of_iterations(times: PhaseTimes, draws: int, since: int, count: int) -> float:
    """Return the mean time [s] of the iterations ``since`` to ``count`` in a sequence with ``draws`` in each."""
    assert isinstance(times.pattern, SequencePattern)
    summed = np.cumsum([0.0, *(times.clusters[index].mean_s for index in times.pattern.sequence)])
    length = summed.size - 1

    def first(executions: int) -> float:
        return float(executions // length * summed[-1] + summed[executions % length])

    return (first(count * draws) - first(since * draws)) / (count - since)


def unseen(profile: TimingProfile, classes: Sequence[Replayed], iterations: float) -> tuple[float, str]:
    """Return an upper bound on the time per iteration [s] from values too rare to be sampled, and their phase.

    Such values are the longest times of a phase that all ranks together draw fewer than five times. Each is assumed to
    delay the whole job by its excess over the phase's mean. ``iterations`` counts those of all replicas. Constant times
    have no such values.
    """
    worst, phase = 0.0, ""
    for times, draws, ranks in _phases(profile, classes):
        seen, excess = 0.0, 0.0
        for value, probability in sorted(_values(times), reverse=True):
            executions = probability * draws * ranks
            seen += executions * iterations
            if value <= times.mean_s or seen >= _SEEN_OFTEN:
                break
            excess += executions * (value - times.mean_s)
        if excess > worst:
            worst, phase = excess, times.name
    return worst, phase


def _phases(profile: TimingProfile, classes: Sequence[Replayed]) -> list[tuple[PhaseTimes, int, int]]:
    """Return the executed phases, with executions per rank and iteration, and the number of ranks."""
    by_name = {entry.name: entry for entry in profile.classes}
    return [
        (times, replayed.draws[times.name], replayed.ranks)
        for replayed in classes
        if replayed.name in by_name  # the engine reports a missing class
        for times in by_name[replayed.name].phases
        if replayed.draws.get(times.name)
    ]


def _values(times: PhaseTimes) -> list[tuple[float, float]]:
    """Return the possible times [s] with their probabilities: the upper edges of the clusters' bins.

    A sequence fixes how often each cluster occurs. That is not random and is left out.
    """
    sequence = isinstance(times.pattern, SequencePattern)
    found = []
    for cluster in times.clusters:
        edges = list(zip(cluster.cdf.time_s, cluster.cdf.probability, strict=True))
        below = 0.0
        for value, probability in edges:
            # In a sequence, only long times within a cluster count.
            excess = value - cluster.mean_s + times.mean_s if sequence else value
            found.append((excess, cluster.weight * (probability - below)))
            below = probability
    return found
