"""What the timing profile says of iterations that were not simulated: patterns longer than the sample, rare long times.

In: a timing profile, the class of each rank, and an iteration's executions of each compute phase. Pure arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manynode.timing_profile import PhaseTimes, SequencePattern, TimingProfile

# Fewer draws than this say little about how often such a time comes.
_SEEN_OFTEN = 5


@dataclass(frozen=True)
class Replayed:
    """The ranks of one class: how many, and how often each executes each compute phase in an iteration."""

    name: str
    ranks: int
    draws: Mapping[str, int]


def period(profile: TimingProfile, classes: Sequence[Replayed]) -> tuple[int, str]:
    """Return after how many iterations the patterns of clusters of all phases repeat together, and the longest's phase.

    A sequence of L executions, d in an iteration, is back at its start after L / gcd(L, d) iterations.
    """
    whole, longest, phase = 1, 1, ""
    for times, draws, _ in _phases(profile, classes):
        if isinstance(times.pattern, SequencePattern) and len(times.clusters) > 1:
            length = len(times.pattern.sequence)
            own = length // math.gcd(length, draws)
            whole = math.lcm(whole, own)
            if own > longest:
                longest, phase = own, times.name
    return whole, phase


def unseen(profile: TimingProfile, classes: Sequence[Replayed], iterations: float, constant: bool) -> tuple[float, str]:
    """Return how much of an iteration [s] at most comes from times that ``iterations`` hardly hold, and their phase.

    These are the longest times of a phase that are drawn fewer than five times by all ranks together. Each is taken to
    hold up the whole job, beyond the phase's mean. ``iterations`` are counted over all replicas.
    """
    worst, phase = 0.0, ""
    for times, draws, ranks in _phases(profile, classes):
        seen, excess = 0.0, 0.0
        for value, probability in sorted(_values(times, constant), reverse=True):
            executions = probability * draws * ranks
            seen += executions * iterations
            if value <= times.mean_s or seen >= _SEEN_OFTEN:
                break
            excess += executions * (value - times.mean_s)
        if excess > worst:
            worst, phase = excess, times.name
    return worst, phase


def _phases(profile: TimingProfile, classes: Sequence[Replayed]) -> list[tuple[PhaseTimes, int, int]]:
    """Return the phases that iterations execute, with executions per rank and iteration, and ranks."""
    by_name = {entry.name: entry for entry in profile.classes}
    return [
        (times, replayed.draws[times.name], replayed.ranks)
        for replayed in classes
        if replayed.name in by_name  # the engine says it better when a class is missing
        for times in by_name[replayed.name].phases
        if replayed.draws.get(times.name)
    ]


def _values(times: PhaseTimes, constant: bool) -> list[tuple[float, float]]:
    """Return times [s] that are drawn, with their probabilities: clusters' means, or the upper edges of their bins.

    In a sequence each cluster comes as often as it stands there; that is no matter of chance, and left out.
    """
    sequence = isinstance(times.pattern, SequencePattern)
    found = []
    for cluster in times.clusters:
        edges = list(zip(cluster.cdf.time_s, cluster.cdf.probability, strict=True))
        if constant:
            found += [] if sequence else [(cluster.mean_s, cluster.weight)]
            continue
        below = 0.0
        for value, probability in edges:
            # Of a sequence, only what is long within its cluster.
            excess = value - cluster.mean_s + times.mean_s if sequence else value
            found.append((excess, cluster.weight * (probability - below)))
            below = probability
    return found
