"""Points -> projection: mean, bootstrap interval, efficiency, breakdown per MPI operation, load per class of link.

In: the result folders of all points of an experiment. Out: tidy tables (schemas ``projection/1``, ``makespans/1``,
``breakdown/1``, ``link-load-summary/1``). All times in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from manynode import seeds, tables
from phase3_sst.engines.interface import LINKS_SCHEMA, RANKS_SCHEMA, RESULT_SCHEMA

PROJECTION_SCHEMA = "projection/1"
MAKESPANS_SCHEMA = "makespans/1"
BREAKDOWN_SCHEMA = "breakdown/1"
LINK_SUMMARY_SCHEMA = "link-load-summary/1"

_RESAMPLES = 9999


@dataclass(frozen=True)
class Tables:
    """The four tables of an analysis."""

    projection: pd.DataFrame
    makespans: pd.DataFrame
    breakdown: pd.DataFrame
    links: pd.DataFrame


def bootstrap_interval(values: Sequence[float], confidence: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return the bootstrap interval of the mean of ``values`` [same unit].

    Bias-corrected and accelerated (Efron 1987) through :func:`scipy.stats.bootstrap`. One value, or values that are all
    the same, give an interval of no width: the replicas do not differ.
    """
    from scipy.stats import bootstrap

    array = np.asarray(values, dtype=float)
    if len(array) < 2 or np.ptp(array) == 0:
        return float(array[0]), float(array[0])
    interval = bootstrap(
        (array,), np.mean, confidence_level=confidence, n_resamples=_RESAMPLES, method="BCa", rng=rng
    ).confidence_interval
    return float(interval.low), float(interval.high)


def analyse(points: Sequence[tuple[str, int, Path]], *, ranks_per_node: int, confidence: float, seed: int) -> Tables:
    """Return the tables of ``points`` (technique, nodes, result folder), in the order given."""
    projection, makespans, breakdown, links = [], [], [], []
    for technique, nodes, folder in points:
        key = {"technique": technique, "nodes": nodes}
        replicas = tables.read_json(folder / "result.json", RESULT_SCHEMA)["replicas"]
        times = [float(replica["makespan_s"]) for replica in replicas]
        iterations = [_iterations(replica["iteration_end_s"]) for replica in replicas]
        low, high = bootstrap_interval(times, confidence, seeds.generator(seed, "bootstrap", technique, nodes))
        projection.append(
            {
                **key,
                "ranks": nodes * ranks_per_node,
                "replicas": len(times),
                "time_s": float(np.mean(times)),
                "low_s": low,
                "high_s": high,
                "iteration_s": float(np.mean(np.concatenate(iterations))),
            }
        )
        makespans += [{**key, "replica": r["replica"], "makespan_s": t} for r, t in zip(replicas, times, strict=True)]
        breakdown.append(_breakdown(folder, key))
        links.append(_links(folder, key, times))
    frame = pd.DataFrame(projection)
    base = frame.loc[frame.groupby("technique")["nodes"].idxmin()].set_index("technique")["time_s"]
    # Weak scaling: the problem grows with the nodes, so that equal times mean an efficiency of 1.
    frame["efficiency"] = frame["technique"].map(base) / frame["time_s"]
    return Tables(
        frame, pd.DataFrame(makespans), pd.concat(breakdown, ignore_index=True), pd.concat(links, ignore_index=True)
    )


def _iterations(ends_s: Sequence[float]) -> np.ndarray:
    """Return the lengths of the iterations [s]; the first is left out where there are more: it holds the set-up."""
    lengths = np.diff([0.0, *ends_s])
    return lengths[1:] if len(lengths) > 1 else lengths


def _breakdown(folder: Path, key: dict[str, object]) -> pd.DataFrame:
    """Return mean seconds per rank in compute and in each MPI operation, over ranks and replicas."""
    ranks = tables.read_table(folder / "ranks.parquet", RANKS_SCHEMA, ["replica", "rank", "operation", "seconds"])
    count = len(ranks[["replica", "rank"]].drop_duplicates())
    seconds = ranks.groupby("operation", sort=True)["seconds"].sum() / count
    frame = seconds.reset_index()
    frame["share"] = frame["seconds"] / frame["seconds"].sum() if frame["seconds"].sum() > 0 else 0.0
    return _keyed(frame, key)


def _keyed(frame: pd.DataFrame, key: dict[str, object]) -> pd.DataFrame:
    """Return ``frame`` with the columns of ``key`` in front."""
    for position, (name, value) in enumerate(key.items()):
        frame.insert(position, name, value)
    return frame


def _links(folder: Path, key: dict[str, object], times: Sequence[float]) -> pd.DataFrame:
    """Return per class of link: bytes (mean over replicas), the busiest link's share of the time, stall time."""
    links = tables.read_table(
        folder / "links.parquet", LINKS_SCHEMA, ["replica", "class", "bytes", "busy_s", "stall_s"]
    )
    columns = [*key, "class", "links", "bytes", "busy_share_max", "stall_s"]
    if links.empty:
        return pd.DataFrame(columns=columns).astype({"links": int, "bytes": float, "busy_share_max": float})
    groups = links.groupby("class", sort=True)
    frame = pd.DataFrame(
        {
            "links": groups.size() / len(times),
            "bytes": groups["bytes"].sum() / len(times),
            "busy_share_max": groups["busy_s"].max() / max(times),
            "stall_s": groups["stall_s"].sum() / len(times),
        }
    ).reset_index()
    return _keyed(frame, key)


def write(result: Tables, projection_path: Path) -> None:
    """Write the four tables beside each other, the projection under the given name."""
    folder = projection_path.parent
    tables.write_table(folder / "makespans.parquet", MAKESPANS_SCHEMA, result.makespans)
    tables.write_table(folder / "breakdown.parquet", BREAKDOWN_SCHEMA, result.breakdown)
    tables.write_table(folder / "links.parquet", LINK_SUMMARY_SCHEMA, result.links)
    tables.write_table(projection_path, PROJECTION_SCHEMA, result.projection)
