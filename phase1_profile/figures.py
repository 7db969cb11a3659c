"""Tidy tables for the report's figures of phase 1, one row per mark: ranks in feature space, and the classes' members.

In: a counter table of all jobs and the content of its rank-classes file. Out: data frames; nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from phase1_profile.features import FEATURES, FeatureTable, feature_table, logarithms


def _features(counters: pd.DataFrame, content: Mapping[str, Any]) -> FeatureTable:
    return feature_table(counters, content["features"])


def ranks_in_feature_space(counters: pd.DataFrame, content: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per job size and rank: ``nodes``, ``node``, ``rank``, ``class``, ``representative``.

    Then per feature its mean over the repetitions and ``<feature>_relative`` (0.01: 1 % above the job's median), and
    the first two principal components of the ranks in units of the noise, ``component_1`` and ``component_2``.
    """
    table = _features(counters, content)
    scale = np.array([content["noise"]["relative"][name] for name in table.names])
    frames = []
    for nodes, logs in sorted(logarithms(table).items()):
        job = table.frame[table.frame["nodes"] == nodes]
        frame = job.groupby(["nodes", "node", "rank"], as_index=False)[list(table.names)].mean()
        frame = frame.sort_values("rank", kind="stable").reset_index(drop=True)
        frame["class"] = content["rank_class_at"][str(nodes)]
        chosen = content["representative_nodes_at"][str(nodes)]
        frame["representative"] = frame["node"].isin(chosen)
        mean = logs.mean(axis=0)
        for column, name in enumerate(table.names):
            frame[f"{name}_relative"] = np.expm1(mean[:, column] - np.median(mean[:, column]))
        components = _principal(mean / scale)
        frame["component_1"], frame["component_2"] = components[:, 0], components[:, 1]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _principal(points: np.ndarray) -> np.ndarray:
    """Return the coordinates of ``points`` along their first two principal axes; the sign makes the largest one
    positive.
    """
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    result = np.zeros((len(points), 2))
    for i, axis in enumerate(axes[:2]):
        along = centred @ axis
        result[:, i] = along * (np.sign(along[np.argmax(np.abs(along))]) or 1.0)
    return result


def class_features(content: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per class and feature: ``class``, ``share``, ``ranks``, ``feature``, ``words``, ``value``.

    ``relative`` is the value's difference from class 0 (0.01: 1 % more; NaN where class 0 has none), ``noise`` what
    counts as no difference.
    """
    base = content["classes"][0]["centroid"]
    rows = []
    for item in content["classes"]:
        for name, value in item["centroid"].items():
            rows.append(
                {
                    "class": item["name"],
                    "share": item["share"],
                    "ranks": len(item["ranks"]),
                    "feature": name,
                    "words": FEATURES[name].words,
                    "value": value,
                    "relative": value / base[name] - 1 if base[name] > 0 else np.nan,
                    "noise": content["noise"]["relative"][name],
                }
            )
    return pd.DataFrame(rows)


def classes_on_nodes(counters: pd.DataFrame, content: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per job size, node and class: ``ranks`` of that class there, ``representative`` node or not."""
    ranks = ranks_in_feature_space(counters, content)
    return ranks.groupby(["nodes", "node", "class", "representative"], as_index=False).agg(ranks=("rank", "size"))


def shares_by_size(content: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per job size and class: ``nodes``, ``class``, ``share``."""
    shares = content["stability"]["shares"]
    return pd.DataFrame(
        [
            {"nodes": int(nodes), "class": name, "share": share}
            for name, by_size in shares.items()
            for nodes, share in by_size.items()
        ]
    )


def class_phases(counters: pd.DataFrame, content: Mapping[str, Any]) -> pd.DataFrame:
    """Return the differences of the classes: one row per class, named phase and counter of the reference job.

    Columns: ``class``, ``phase``, ``feature``, ``value`` (mean per rank), ``relative`` (to class 0). Empty where the
    source knows no phases.
    """
    columns = ["class", "phase", "feature", "value", "relative"]
    job = counters[(counters["nodes"] == content["reference_nodes"]) & (counters["phase"] != "")]
    rows = []
    for phase, part in job.groupby("phase"):
        names = [name for name in content["features"] if not FEATURES[name].value(part).isna().all()]
        owner = part["rank"].astype(str).map(content["rank_class"])
        for name in names:
            means = FEATURES[name].value(part).groupby(owner).mean()
            base = means.get("0", np.nan)
            for label, value in means.items():
                relative = value / base - 1 if base > 0 else np.nan
                rows.append((label, phase, name, value, relative))
    return pd.DataFrame(rows, columns=columns)
