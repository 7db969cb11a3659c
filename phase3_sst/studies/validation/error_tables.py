"""Computes projection errors from measurements: Table 2 and Figure 6 of Eyerman et al. for the user's own machine.

In: a resolved experiment with ``validation: measured`` and its tables ``projection/1`` and ``breakdown/1``. Out, with
times in seconds and errors as projection / measurement - 1:

- ``validation/1``, a row per technique and node count that was both measured and projected: technique, nodes, runs
  (measured), measured_s (mean), measured_low_s, measured_high_s (bootstrap interval over the runs; no width with one),
  time_s, low_s, high_s (the projection's), error, error_low, error_high (from the ends of the two intervals), covers
  (the projection's interval contains the measured mean), overlaps (the two intervals have a time in common);
- ``validation-summary/1``, a row per technique, the best first: technique, points, mean_error, mean_absolute,
  worst_absolute, worst_nodes, covered, overlapping (numbers of points), rank_correlation (Kendall's tau-b of projected
  and measured times over the node counts; NaN below three of them), error_per_doubling (by how much
  projection / measurement changes with each doubling of the nodes, less one: least squares of its logarithm over
  log2(nodes); NaN below two node counts);
- ``validation-region/1``, a row per technique and projected node count: technique, nodes, measured (whether), doublings
  (beyond the largest measured node count; negative below the smallest; 0 between them), error_if_trend (the error if
  its trend continued: a warning, not a correction), machine_measured, machine, network_measured, network, same_machine;
- ``validation-breakdown/1``, a row per technique, node count and operation: technique, nodes, operation ("compute", an
  MPI operation, or "all MPI"), measured_s, measured_low_s, measured_high_s, projected_s (mean per rank), difference_s,
  error (NaN where nothing was measured), share (difference over the measured time of the run).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from manynode import seeds
from manynode.config.own_times import machine_of
from manynode.config.validation import COMPUTE
from phase3_sst.analysis.projection_tables import bootstrap_interval

ALL_MPI = "all MPI"
# Fewer points always agree or disagree completely.
_LEAST_RANKED = 3
_BREAKDOWN_COLUMNS = [
    *("technique", "nodes", "operation", "measured_s", "measured_low_s", "measured_high_s", "projected_s"),
    *("difference_s", "error", "share"),
]


@dataclass(frozen=True)
class Tables:
    """The tables of the study."""

    points: pd.DataFrame
    summary: pd.DataFrame
    region: pd.DataFrame
    breakdown: pd.DataFrame


def analyse(content: Mapping[str, Any], projection: pd.DataFrame, breakdown: pd.DataFrame) -> Tables:
    """Return the tables of the study of a resolved experiment with its ``projection/1`` and ``breakdown/1``."""
    runs = content["validation"]["measured"]
    confidence, seed = content["simulate"]["confidence"], content["seed"]
    points = compare(projection, measured_times(runs, confidence, seed))
    summary = summarise(points)
    return Tables(
        points,
        summary,
        region(content, projection, points, summary),
        compare_operations(breakdown, runs, confidence, seed),
    )


def by_file(result: Tables) -> dict[str, pd.DataFrame]:
    """Return the tables by the names of their files."""
    return {
        "validation.parquet": result.points,
        "validation_summary.parquet": result.summary,
        "validation_region.parquet": result.region,
        "validation_breakdown.parquet": result.breakdown,
    }


def measured_times(runs: Sequence[Mapping[str, Any]], confidence: float, seed: int) -> pd.DataFrame:
    """Return nodes, runs, measured_s, measured_low_s, measured_high_s of the runs [s], by nodes."""
    return pd.DataFrame(
        [
            {"nodes": nodes, "runs": len(own), **_mean([run["seconds"] for run in own], confidence, seed, nodes)}
            for nodes, own in sorted(_by_nodes(runs).items())
        ]
    )


def _by_nodes(runs: Sequence[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    grouped: dict[int, list[Mapping[str, Any]]] = {}
    for run in runs:
        grouped.setdefault(run["nodes"], []).append(run)
    return grouped


def _mean(values: Sequence[float], confidence: float, seed: int, *key: object) -> dict[str, float]:
    low, high = bootstrap_interval(values, confidence, seeds.generator(seed, "measured", *key))
    return {"measured_s": float(np.mean(values)), "measured_low_s": low, "measured_high_s": high}


def compare(projection: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Return ``validation/1``: the node counts in both tables, in the order of the projection's techniques."""
    joined = projection[["technique", "nodes", "time_s", "low_s", "high_s"]].merge(measured, on="nodes")
    joined["error"] = joined["time_s"] / joined["measured_s"] - 1
    joined["error_low"] = joined["low_s"] / joined["measured_high_s"] - 1
    joined["error_high"] = joined["high_s"] / joined["measured_low_s"] - 1
    joined["covers"] = joined["measured_s"].between(joined["low_s"], joined["high_s"])
    joined["overlaps"] = (joined["low_s"] <= joined["measured_high_s"]) & (joined["measured_low_s"] <= joined["high_s"])
    order = ["technique", "nodes", "runs", "measured_s", "measured_low_s", "measured_high_s", "time_s", "low_s"]
    return joined[[*order, "high_s", "error", "error_low", "error_high", "covers", "overlaps"]]


def summarise(points: pd.DataFrame) -> pd.DataFrame:
    """Return ``validation-summary/1`` of ``validation/1``, the technique with the smallest mean error first."""
    rows = []
    for technique, own in points.groupby("technique", sort=False):
        absolute = own["error"].abs()
        rows.append(
            {
                "technique": technique,
                "points": len(own),
                "mean_error": float(own["error"].mean()),
                "mean_absolute": float(absolute.mean()),
                "worst_absolute": float(absolute.max()),
                "worst_nodes": int(own.loc[absolute.idxmax(), "nodes"]),
                "covered": int(own["covers"].sum()),
                "overlapping": int(own["overlaps"].sum()),
                "rank_correlation": rank_correlation(own["time_s"], own["measured_s"]),
                "error_per_doubling": math.expm1(trend(own["nodes"], own["error"])[0]),
            }
        )
    return pd.DataFrame(rows).sort_values("mean_absolute", kind="stable", ignore_index=True)


def rank_correlation(projected: Sequence[float] | pd.Series, measured: Sequence[float] | pd.Series) -> float:
    """Return Kendall's tau-b (:func:`scipy.stats.kendalltau`), NaN below three points or if all times are equal."""
    from scipy.stats import kendalltau

    if len(measured) < _LEAST_RANKED or np.ptp(measured) == 0 or np.ptp(projected) == 0:
        return math.nan
    return float(kendalltau(projected, measured).statistic)


def trend(nodes: Sequence[int] | pd.Series, errors: Sequence[float] | pd.Series) -> tuple[float, float]:
    """Return slope per doubling of the nodes and value at one node of ln(1 + error); NaN below two node counts.

    The fit is a least-squares line of the logarithm, which keeps any extrapolated projection above zero.
    """
    doublings = np.log2(np.asarray(nodes, dtype=float))
    if len(doublings) < 2 or np.ptp(doublings) == 0:
        return math.nan, math.nan
    slope, start = np.polyfit(doublings, np.log1p(np.asarray(errors, dtype=float)), 1)
    return float(slope), float(start)


def region(
    content: Mapping[str, Any], projection: pd.DataFrame, points: pd.DataFrame, summary: pd.DataFrame
) -> pd.DataFrame:
    """Return ``validation-region/1``: the distance of each projection from the measured points."""
    nodes = sorted({int(n) for n in points["nodes"]})
    study = content["validation"]
    machine, network = machine_of(content), content["network"]["name"]
    measured_on = {"machine_measured": study["machine"] or machine, "machine": machine}
    measured_on |= {"network_measured": study["network"] or network, "network": network}
    same = measured_on["machine_measured"] == machine and measured_on["network_measured"] == network
    trends = {name: trend(own["nodes"], own["error"]) for name, own in points.groupby("technique", sort=False)}
    rows = []
    for row in projection.itertuples():
        slope, start = trends.get(row.technique, (math.nan, math.nan))
        rows.append(
            {
                "technique": row.technique,
                "nodes": int(row.nodes),
                "measured": int(row.nodes) in nodes,
                "doublings": doublings_beyond(int(row.nodes), nodes),
                "error_if_trend": math.expm1(start + slope * math.log2(row.nodes)),
                **measured_on,
                "same_machine": same,
            }
        )
    return pd.DataFrame(rows)


def doublings_beyond(nodes: int, validated: Sequence[int]) -> float:
    """Return log2 of nodes over the largest validated node count; negative below the smallest."""
    if nodes > max(validated):
        return math.log2(nodes / max(validated))
    return min(0.0, math.log2(nodes / min(validated)))


def compare_operations(
    breakdown: pd.DataFrame, runs: Sequence[Mapping[str, Any]], confidence: float, seed: int
) -> pd.DataFrame:
    """Return ``validation-breakdown/1`` of the runs with measured parts; without such runs, only the columns."""
    rows = []
    for nodes, own in sorted(_by_nodes(runs).items()):
        parts = [_parts(run) for run in own if run["operations"]]
        if not parts:
            continue
        whole = float(np.mean([run["seconds"] for run in own if run["operations"]]))
        measured = {name: [part[name] for part in parts if name in part] for part in parts for name in part}
        means = {name: _mean(values, confidence, seed, nodes, name) for name, values in measured.items()}
        at = breakdown[breakdown["nodes"] == nodes]
        for technique, chosen in at.groupby("technique", sort=False):
            projected = dict(zip(chosen["operation"], chosen["seconds"].astype(float), strict=True))
            projected[ALL_MPI] = sum(value for name, value in projected.items() if name != COMPUTE)
            key = {"technique": technique, "nodes": nodes}
            names = [COMPUTE, *sorted((set(projected) | set(means)) - {COMPUTE, ALL_MPI}), ALL_MPI]
            rows += [{**key, **_operation(name, projected, means, whole)} for name in names]
    return pd.DataFrame(rows, columns=_BREAKDOWN_COLUMNS)


def _parts(run: Mapping[str, Any]) -> dict[str, float]:
    """Return a run's seconds by operation, and derive all MPI, or computation, as the rest."""
    parts = dict(run["operations"])
    calls = [value for name, value in parts.items() if name != COMPUTE]
    if calls:
        parts[ALL_MPI] = sum(calls)
        parts.setdefault(COMPUTE, max(0.0, run["seconds"] - sum(calls)))
    else:
        parts[ALL_MPI] = max(0.0, run["seconds"] - parts[COMPUTE])
    return parts


def _operation(
    name: str, projected: Mapping[str, float], means: Mapping[str, Mapping[str, float]], whole_s: float
) -> dict[str, Any]:
    nothing = {"measured_s": math.nan, "measured_low_s": math.nan, "measured_high_s": math.nan}
    measured = means.get(name, nothing)
    # Operations that the skeleton does not have take no time there.
    seconds = projected.get(name, 0.0)
    difference = seconds - measured["measured_s"]
    return {
        "operation": name,
        **measured,
        "projected_s": seconds,
        "difference_s": difference,
        "error": difference / measured["measured_s"] if measured["measured_s"] > 0 else math.nan,
        "share": difference / whole_s,
    }
