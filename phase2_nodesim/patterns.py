"""Series of clusters -> the shortest repeated sequence that explains it, or none.

HPCG's smoother runs on four grid sizes in turn, which shows as 0 1 2 2 2 1 0, repeated (paper, section 3.4). A sequence
of length P is a pattern of a rank's series under three conditions:

- after a short prefix, each execution n belongs to cluster ``sequence[n mod P]``, up to a share of exceptions;
- every cluster of the phase occurs in it, because a replay must draw from all of them;
- a series in random order would not repeat itself as well by chance.

Among several such lengths, the one with the shortest description (sequence plus exceptions, in bits) is chosen. All
ranks of a class replay one pattern: that of most ranks, if they are the majority.

Without a repetition, the ranks themselves can tell a sequence from chance. Where execution n has the same cluster on
all ranks (a first execution with cold caches, or a part of the problem at which all of them take longer), the whole
series is the sequence, repeated once. Draws by weight would let such executions come at other times on each rank, and
the others wait for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phase2_nodesim.parameters import FitParameters

Series = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pattern:
    """``sequence`` x ``repeat`` after ``prefix`` executions; ``agreement`` is the share of executions it explains."""

    sequence: tuple[int, ...]
    repeat: int
    agreement: float
    prefix: int = 0

    def expected(self, length: int) -> Series:
        """Return the pattern's clusters for executions 0 ... ``length`` - 1; -1 within the prefix."""
        series = np.resize(np.array(self.sequence, dtype=np.int64), max(0, length - self.prefix))
        return np.concatenate([np.full(min(self.prefix, length), -1, dtype=np.int64), series])


def match_counts(series: Series, clusters: int) -> npt.NDArray[np.int64]:
    """Return, for each lag, at how many places the series equals itself shifted by that lag (by FFT)."""
    size = 1 << (2 * series.size - 1).bit_length()
    total = np.zeros(series.size)
    for cluster in range(clusters):
        spectrum = np.fft.rfft((series == cluster).astype(np.float64), size)
        total += np.fft.irfft(np.abs(spectrum) ** 2, size)[: series.size]
    return np.asarray(np.rint(total), dtype=np.int64)


def _majority(series: Series, period: int, clusters: int) -> tuple[Series, int]:
    """Return the commonest cluster at each place of the period, and how many executions agree with it."""
    places = np.arange(series.size) % period
    votes = np.bincount(places * clusters + series, minlength=period * clusters).reshape(period, clusters)
    return votes.argmax(axis=1), int(votes.max(axis=1).sum())


def _bits(length: int, period: int, wrong: int, clusters: int) -> float:
    """Return the bits that describe a series by its period: the sequence, the exceptions and their clusters."""
    choices = math.log2(clusters)
    if wrong == 0:
        return period * choices
    where = (math.lgamma(length + 1) - math.lgamma(wrong + 1) - math.lgamma(length - wrong + 1)) / math.log(2)
    return period * choices + where + wrong * choices


def _prefix(series: Series, period: int, sequence: Series, limit: int) -> int:
    """Return how many executions at the start do not belong to the pattern: a run in which at least half differ."""
    head = min(limit, series.size)
    differs = series[:head] != sequence[np.arange(head) % period]
    run = np.cumsum(differs)
    best = 0
    for end in np.flatnonzero(differs) + 1:
        if 2 * run[end - 1] >= end:
            best = int(end)
    return best


def find_pattern(series: Series, clusters: int, parameters: FitParameters) -> Pattern | None:
    """Return the pattern of one rank's ``series`` of clusters 0 ... ``clusters`` - 1, or None."""
    length = series.size
    longest = length // parameters.min_repeats
    if clusters < 2 or longest < clusters:
        return None
    limit = min(parameters.max_prefix, length // 10)
    tail = series[limit:]  # a prefix must not hide the period; where it is none, nothing is lost
    longest = tail.size // parameters.min_repeats
    matches = match_counts(tail, clusters)
    shares = np.bincount(tail, minlength=clusters) / tail.size
    chance = min(1.0, float(shares @ shares))
    lags = np.arange(clusters, longest + 1)
    compared = tail.size - lags
    # Two executions that follow a sequence with exceptions agree with (1-t)^2 at least, for a share t of exceptions.
    floor = (1.0 - parameters.tolerance) ** 2
    slack = 3.0 * np.sqrt(floor * (1 - floor) / np.maximum(compared, 1))
    near = matches[lags] >= (floor - slack) * compared
    near[near] = _significant(matches[lags[near]], compared[near], chance, parameters.significance)
    best: tuple[float, int, Series] | None = None
    for period in lags[near].tolist():
        if best is not None and period * math.log2(clusters) >= best[0]:
            break
        sequence, right = _majority(tail, period, clusters)
        if right < (1.0 - parameters.tolerance) * tail.size or np.unique(sequence).size < clusters:
            continue
        cost = _bits(tail.size, period, tail.size - right, clusters)
        if best is None or cost < best[0]:
            best = (cost, period, sequence)
    if best is None:
        return None
    _, period, sequence = best
    sequence = np.roll(sequence, limit % period)  # from the tail's phase to the whole series'
    start = _prefix(series, period, sequence, limit)
    return _checked(series, np.roll(sequence, -(start % period)), start)


def _significant(matches: Series, compared: Series, chance: float, level: float) -> npt.NDArray[np.bool_]:
    """Return for each lag whether its matches are improbable for a series in random order (binomial tail)."""
    from scipy.stats import binom

    return np.asarray(binom.sf(matches - 1, compared, chance) < level)


def _checked(series: Series, sequence: Series, prefix: int) -> Pattern:
    """Return the pattern with the agreement and repeat that it has on ``series``."""
    rest = series[prefix:]
    right = int((rest == np.resize(sequence, rest.size)).sum())
    return Pattern(tuple(sequence.tolist()), rest.size // sequence.size, right / max(1, rest.size), prefix)


def common_pattern(series: Sequence[Series], clusters: int, parameters: FitParameters) -> Pattern | None:
    """Return the pattern that the majority of ``series`` (one per rank) follows, or None: weights.

    Its agreement is that of all executions of all ranks; its repeat is the median over ranks.
    """
    ranks = [one for one in series if one.size]
    if clusters < 2 or not ranks:
        return None
    found: dict[tuple[tuple[int, ...], int], int] = {}
    distinct: dict[bytes, Pattern | None] = {}
    for one in ranks:
        key = one.tobytes()
        if key not in distinct:
            known = [Pattern(sequence, 0, 0, prefix) for sequence, prefix in found]
            distinct[key] = _known(one, known, parameters) or find_pattern(one, clusters, parameters)
        pattern = distinct[key]
        if pattern is not None:
            found[pattern.sequence, pattern.prefix] = found.get((pattern.sequence, pattern.prefix), 0) + 1
    if not found:
        return None
    # Ties go to the shorter pattern, then to the smaller one, so that the order of ranks does not matter.
    (sequence, prefix), _ = min(found.items(), key=lambda item: (-item[1], len(item[0][0]), item[0]))
    verdicts = [_checked(one, np.array(sequence, dtype=np.int64), prefix) for one in ranks]
    followers = sum(verdict.agreement >= 1.0 - parameters.tolerance for verdict in verdicts)
    if 2 * followers <= len(ranks):
        return None
    sizes = [max(0, one.size - prefix) for one in ranks]
    agreement = sum(verdict.agreement * size for verdict, size in zip(verdicts, sizes, strict=True)) / sum(sizes)
    return Pattern(sequence, int(np.median([verdict.repeat for verdict in verdicts])), agreement, prefix)


def common_series(series: Sequence[Series], clusters: int, parameters: FitParameters) -> Pattern | None:
    """Return what ``series`` (one per rank) have in common, as a sequence that comes once, or None."""
    ranks = [one for one in series if one.size]
    if clusters < 2 or len(ranks) < 2 or len({one.size for one in ranks}) > 1:
        return None
    if ranks[0].size > parameters.max_sequence:
        return None
    table = np.stack(ranks)
    is_cluster = np.stack([table == cluster for cluster in range(clusters)], axis=2)
    votes = is_cluster.sum(axis=0)
    sequence = votes.argmax(axis=1)
    right = int(votes.max(axis=1).sum())
    if right < (1.0 - parameters.tolerance) * table.size or np.unique(sequence).size < clusters:
        return None
    # Each rank against the majority of the others, of which it is no part.
    others = (votes[np.newaxis] - is_cluster).argmax(axis=2)
    matches, compared = np.array([(others == table).sum()]), np.array([table.size])
    shares = votes.sum(axis=0) / table.size
    if not _significant(matches, compared, float(shares @ shares), parameters.significance)[0]:
        return None
    return Pattern(tuple(sequence.tolist()), 1, right / table.size)


def _known(series: Series, patterns: list[Pattern], parameters: FitParameters) -> Pattern | None:
    """Return the first of ``patterns``, found on other ranks, that explains ``series`` as well."""
    for pattern in patterns:
        verdict = _checked(series, np.array(pattern.sequence, dtype=np.int64), pattern.prefix)
        if verdict.repeat >= parameters.min_repeats and verdict.agreement >= 1.0 - parameters.tolerance:
            return verdict
    return None
