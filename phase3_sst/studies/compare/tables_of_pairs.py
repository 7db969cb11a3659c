"""Builds tidy tables of all comparisons of an experiment: every two engines, every point.

In: the results of the engines. Out: :class:`Tables`, whose columns engine, reference, technique and nodes come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from manynode import seeds
from manynode.errors import InputError
from phase3_sst.point.point_result import EngineResults, PointResult
from phase3_sst.studies.compare import link_loads, makespans, rank_times

# Tolerance on the difference of a rank's compute time between two engines [s].
SAME_COMPUTE_S = 1e-9

Point = tuple[str, int]


@dataclass(frozen=True)
class Tables:
    """What :mod:`phase3_sst.studies.compare.comparison_files` writes."""

    makespans: pd.DataFrame
    breakdown: pd.DataFrame
    compute: pd.DataFrame
    links: pd.DataFrame
    link_pairs: pd.DataFrame
    cost: pd.DataFrame


def compare(
    results: Mapping[str, EngineResults],
    pairs: Sequence[tuple[str, str]],
    points: Sequence[Point],
    *,
    confidence: float,
    seed: int,
) -> Tables:
    """Return the tables of every pair (engine, reference) at every point (technique, nodes)."""
    spans, breakdowns, computing, links, loads = [], [], [], [], []
    for key, a, b in _points(results, pairs, points):
        names = (str(key["engine"]), str(key["reference"]))
        if a.makespans_s.keys() != b.makespans_s.keys():
            raise InputError(
                "the engines ran different replicas",
                where=f"{a.folder} and {b.folder}",
                found=f"{len(a.makespans_s)} and {len(b.makespans_s)}",
                remedy="run the comparison again, which updates both",
            )
        span = makespans.difference(
            a.makespans_s, b.makespans_s, confidence, seeds.generator(seed, "compare", *key.values())
        )
        spans.append({**key, **vars(span)})
        ranks, reference_ranks = a.ranks(), b.ranks()
        breakdowns.append(_keyed(rank_times.breakdown_differences(ranks, reference_ranks, span.reference_s), key))
        same = rank_times.compute_difference(ranks, reference_ranks, a.foreground)
        computing.append({**key, **vars(same), "equal": same.largest_s < SAME_COMPUTE_S})
        matched = link_loads.matched(a.links(), b.links(), span.replicas)
        links.append(_keyed(link_loads.correlations(matched, names), key))
        loads.append(_keyed(link_loads.distinct(matched), key))
    return Tables(
        pd.DataFrame(spans),
        pd.concat(breakdowns, ignore_index=True),
        pd.DataFrame(computing),
        _joined(links),
        _joined(loads),
        _joined([result.costs(points) for result in results.values()]),
    )


def _points(
    results: Mapping[str, EngineResults], pairs: Sequence[tuple[str, str]], points: Sequence[Point]
) -> Iterator[tuple[dict[str, object], PointResult, PointResult]]:
    for engine, reference in pairs:
        for technique, nodes in points:
            key: dict[str, object] = {"engine": engine, "reference": reference, "technique": technique, "nodes": nodes}
            yield key, results[engine].point(technique, nodes), results[reference].point(technique, nodes)


def _keyed(frame: pd.DataFrame, key: Mapping[str, object]) -> pd.DataFrame:
    for position, (name, value) in enumerate(key.items()):
        frame.insert(position, name, value)
    return frame


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts; without parts, only the columns."""
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else parts[0]
