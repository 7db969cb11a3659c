"""Resamples of a timing profile, for the uncertainty from its limited samples (a hierarchical bootstrap).

In: the phases of all classes with their clusters. Out: the classes of timing profiles that other samples might have
given. Whole ranks are drawn with replacement (nodes first, if several were simulated), each with all its executions.
The differences between ranks already include those between their executions; drawing executions too would count these
twice (Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, section 3.8). With one simulated rank,
blocks of its executions are drawn, which keeps neighbours together (section 8.2.3). A block is a period of the pattern,
or the third root of the number of executions. Clusters and patterns are kept.

The file ``timing-profile-resamples/1`` (JSON) contains the numbers of ``ranks`` and ``nodes`` drawn from (of the
largest class), and ``profiles``, a list of the ``classes`` of a timing profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from manynode import seeds
from manynode.profile_resamples import ProfileResamples
from manynode.rank_classes import read_rank_classes
from manynode.timing_profile import ClassTimes
from phase2_nodesim.distributions import Labels
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.phases import PhaseSeries
from phase2_nodesim.profile import ClassSeries, classes_series, fit_class, without_warmup
from phase2_nodesim.steps import read_segments


def drawn_ranks(ranks: Labels, nodes: Labels, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return the ranks of a resample, each with the number of its node in the resample.

    ``ranks`` are those that were simulated, ``nodes`` the node of each.
    """
    distinct = np.unique(nodes)
    if not 1 < distinct.size < ranks.size:
        picked = rng.choice(ranks, ranks.size)
        # One rank on each node: a rank that is drawn twice stands for two nodes.
        apart = distinct.size > 1
        return [(int(rank), place if apart else 0) for place, rank in enumerate(picked)]
    found = []
    for place, node in enumerate(rng.choice(distinct, distinct.size)):
        own = ranks[nodes == node]
        found += [(int(rank), place) for rank in rng.choice(own, own.size)]
    return found


def resampled_phase(series: PhaseSeries, drawn: Sequence[tuple[int, int]], rng: np.random.Generator) -> PhaseSeries:
    """Return the executions of the ``drawn`` ranks, renumbered; for a single rank, blocks drawn with replacement."""
    starts = np.searchsorted(series.ranks, [rank for rank, _ in drawn], side="left")
    ends = np.searchsorted(series.ranks, [rank for rank, _ in drawn], side="right")
    picks, ranks, nodes = [], [], []
    for number, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        places = np.arange(start, end)
        if len(drawn) == 1:
            prefix = min(series.pattern.prefix, end - start) if series.pattern else 0
            places = np.append(
                places[:prefix], _blocks(start + prefix, end, _block_length(series, end - start), rng)
            ).astype(np.int64)
        picks.append(places)
        ranks.append(np.full(places.size, number))
        nodes.append(np.full(places.size, drawn[number][1]))
    chosen = np.concatenate(picks)
    labels = series.labels[chosen]
    # A cluster that no block has keeps one execution, so that patterns stay right.
    lost = np.setdiff1d(np.unique(series.labels), labels)
    extra = np.array([rng.choice(np.flatnonzero(series.labels == label)) for label in lost], dtype=np.int64)
    return PhaseSeries(
        series.name,
        np.append(series.times[chosen], series.times[extra]),
        np.append(labels, series.labels[extra]),
        np.append(np.concatenate(ranks), np.zeros(extra.size, dtype=np.int64)),
        np.append(np.concatenate(nodes), np.zeros(extra.size, dtype=np.int64)),
        series.pattern,
        series.waited_s,
    )


def _block_length(series: PhaseSeries, executions: int) -> int:
    return len(series.pattern.sequence) if series.pattern else max(1, round(executions ** (1 / 3)))


def _blocks(start: int, end: int, length: int, rng: np.random.Generator) -> Labels:
    """Return places of whole blocks that begin at multiples of ``length``, as many as there are; the rest as it is."""
    whole = (end - start) // length
    if whole == 0:
        return np.arange(start, end)
    first = start + length * rng.integers(whole, size=whole)
    places = (first[:, None] + np.arange(length)).ravel()
    return np.concatenate([places, np.arange(start + whole * length, end)])


def resampled_class(series: ClassSeries, parameters: FitParameters, rng: np.random.Generator) -> ClassTimes:
    """Return a class that other samples might have given."""
    ranks, nodes = _ranks_and_nodes(series)
    drawn = drawn_ranks(ranks, nodes, rng)
    phases = []
    for phase in series.phases:
        present = np.isin([rank for rank, _ in drawn], phase.ranks)
        own = [entry for entry, there in zip(drawn, present, strict=True) if there]
        # No drawn rank executes this phase: it stays as it is.
        phases.append(resampled_phase(phase, own, rng) if own else phase)
    return fit_class(series.name, series.share, phases, parameters, borrowed=series.borrowed)


def _ranks_and_nodes(series: ClassSeries) -> tuple[Labels, Labels]:
    ranks = np.concatenate([phase.ranks for phase in series.phases])
    nodes = np.concatenate([phase.nodes for phase in series.phases])
    distinct, first = np.unique(ranks, return_index=True)
    return distinct, nodes[first]


def make_resamples(
    segments_path: Path, rank_classes_path: Path, parameters: FitParameters, *, count: int, seed: int, borrow: bool
) -> ProfileResamples:
    """Return ``count`` resamples of the timing profile that :func:`phase2_nodesim.steps.fit_profile` made."""
    segments, common = read_segments([segments_path])
    series = classes_series(
        without_warmup(segments, parameters.warmup),
        read_rank_classes(rank_classes_path),
        parameters,
        ranks=common["ranks"],
        ranks_per_node=common["ranks_per_node"],
        borrow=borrow,
    )
    # The goodness of fit of a resample's tail is nobody's question.
    quick = parameters.model_copy(update={"goodness_resamples": 0})
    profiles = []
    for number in range(count):
        rng = seeds.generator(seed, "profile bootstrap", number)
        profiles.append([resampled_class(one, quick, rng) for one in series])
    ranks, nodes = _ranks_and_nodes(max(series, key=lambda one: one.share))
    return ProfileResamples(ranks=ranks.size, nodes=np.unique(nodes).size, profiles=profiles)
