"""Turns the points of a sensitivity study into tables of times, knees and Sobol indices.

In: a resolved experiment and the folder of the study's points. Out: tables (times in seconds, quantities in SI units):

- ``sensitivity/1``: variant, technique, nodes, ranks, replicas, time_s, low_s, high_s (bootstrap interval over the
  replicas), compute_s (mean per rank), relative (time over the study's shortest of this technique and node count),
  varied (the parameters that the variant sets), and two columns per parameter: NAME (SI units, or the text) and "NAME,
  written" (as written in the experiment);
- ``sensitivity-knees/1``: technique, nodes, parameter, others (the values of the other parameters), best_s, worst_s,
  knee, enough (values of the parameter as written; empty where there is none);
- ``sensitivity-indices/1``, of the plan sobol: technique, nodes, parameter, first, first_conf, total, total_conf: first
  and total order indices of the time with the half width of their interval.

All variants draw the same compute times (common random numbers); differences between them come from the varied
parameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode import seeds
from manynode.config.resolved import Resolved
from manynode.config.variants import (
    Variant,
    problem,
    setting_value,
    study_nodes,
    study_techniques,
    variants,
)
from phase3_sst.analysis.projection_tables import bootstrap_interval
from phase3_sst.point.convergence import note
from phase3_sst.point.point_result import PointResult

WRITTEN = ", written"
"""Suffix of the column with a parameter's value as written in the experiment."""

_KNEE_COLUMNS = ["technique", "nodes", "parameter", "others", "best_s", "worst_s", "knee", "enough"]
_INDEX_COLUMNS = ["technique", "nodes", "parameter", "first", "first_conf", "total", "total_conf"]


@dataclass(frozen=True)
class Tables:
    """The tables of the study."""

    points: pd.DataFrame
    knees: pd.DataFrame
    indices: pd.DataFrame


def analyse(experiment: Resolved, folder: Path) -> Tables:
    """Return the tables of the study with points in ``folder``."""
    planned = variants(experiment)
    keys = [(technique, nodes) for technique in study_techniques(experiment) for nodes in study_nodes(experiment)]
    settings = [_settings(experiment, variant) for variant in planned]
    rows = [
        {**_point(experiment, folder / variant.name, variant.name, technique, nodes), **values}
        for technique, nodes in keys
        for variant, values in zip(planned, settings, strict=True)
    ]
    points = pd.DataFrame(rows)
    best = points.groupby(["technique", "nodes"])["time_s"].transform("min")
    points.insert(points.columns.get_loc("compute_s") + 1, "relative", points["time_s"] / best)
    study = experiment.sensitivity
    assert study is not None
    if study.plan == "sobol":
        return Tables(points, pd.DataFrame(columns=_KNEE_COLUMNS), _indices(experiment, points))
    return Tables(points, _knees(experiment, points), pd.DataFrame(columns=_INDEX_COLUMNS))


def _settings(experiment: Resolved, variant: Variant) -> dict[str, float | str]:
    found: dict[str, float | str] = {"varied": ", ".join(variant.settings)}
    assert experiment.sensitivity is not None
    for name in experiment.sensitivity.parameters:
        value, given = setting_value(experiment, variant, name), variant.settings.get(name)
        found[name] = _named(value)
        # "20 Gbit/s"; a sampled parameter, or one not varied here, has no written text.
        found[name + WRITTEN] = given if isinstance(given, str) and isinstance(value, float) else _text(value)
    return found


def _text(value: float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _named(value)


def _named(value: Any) -> Any:
    """Return the name of a network's file without its folder; other values as they are."""
    return Path(value).stem if isinstance(value, str) and value.endswith((".yaml", ".yml")) else value


def _point(experiment: Resolved, folder: Path, name: str, technique: str, nodes: int) -> dict[str, Any]:
    place = folder / technique / f"nodes-{nodes}"
    result = PointResult(place)
    times = list(result.makespans_s.values())
    generator = seeds.generator(experiment.seed, "bootstrap", technique, nodes)
    interval = bootstrap_interval(times, experiment.simulate.confidence, generator)
    low, high = note.widened(*interval, float(np.mean(times)), result.document)
    return {
        "variant": name,
        "technique": technique,
        "nodes": nodes,
        "ranks": nodes * experiment.ranks_per_node,
        "replicas": len(times),
        "time_s": float(np.mean(times)),
        "low_s": low,
        "high_s": high,
        "compute_s": _compute(result.ranks()),
        **note.columns(result.document),
    }


def _compute(ranks: pd.DataFrame) -> float:
    """Return job 0's mean seconds of computation per rank."""
    ranks = ranks[ranks["job"] == 0]
    computing = ranks.loc[ranks["operation"] == "compute", "seconds"].sum()
    return float(computing) / len(ranks[["replica", "rank"]].drop_duplicates())


def _knees(experiment: Resolved, points: pd.DataFrame) -> pd.DataFrame:
    study, relevant = experiment.sensitivity, experiment.relevant_difference
    assert study is not None
    rows = []
    for name, parameter in study.parameters.items():
        if not pd.api.types.is_numeric_dtype(points[name]):
            continue
        others = [other for other in study.parameters if other != name]
        chosen = points[points["varied"] == name] if study.plan == "one-at-a-time" else points
        fixed = [other + WRITTEN for other in others]
        for key, curve in chosen.groupby(["technique", "nodes", *fixed], sort=False, dropna=False):
            technique, nodes, *rest = key
            curve = curve.sort_values(name)
            texts = dict(zip(curve[name], curve[name + WRITTEN], strict=True))
            values, times = curve[name].to_numpy(dtype=float), curve["time_s"].to_numpy(dtype=float)
            rows.append(
                {
                    "technique": technique,
                    "nodes": nodes,
                    "parameter": name,
                    "others": dict(zip(others, rest, strict=True)),
                    "best_s": times.min(),
                    "worst_s": times.max(),
                    "knee": texts.get(knee(values, times, parameter.scale == "log", relevant), ""),
                    "enough": texts[enough(values, times, study.enough)],
                }
            )
    frame = pd.DataFrame(rows, columns=_KNEE_COLUMNS)
    frame["others"] = [_words(others) for others in frame["others"]]
    return frame


def _words(others: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in others.items())


def knee(
    values: Sequence[float] | np.ndarray, times: Sequence[float] | np.ndarray, log: bool, relevant: float
) -> float:
    """Return the value at which a curve of times bends most; NaN without a bend.

    The point farthest from the chord (Satopää et al., Kneedle, ICDCSW 2011), with the values on a logarithmic axis when
    ``log``. There is no knee if the times change by less than ``relevant``, if the curve gets steeper, or with
    fewer than 3 points.
    """
    x, y = np.asarray(values, dtype=float), np.asarray(times, dtype=float)
    if len(x) < 3 or y.max() < (1 + relevant) * y.min() or (log and x.min() <= 0):
        return math.nan
    x = np.log(x) if log else x
    x = (x - x[0]) / (x[-1] - x[0])
    y = (y - y.min()) / (y.max() - y.min())
    chord = y[0] + (y[-1] - y[0]) * x
    below = chord - y
    place = int(np.argmax(below))
    return float(np.asarray(values, dtype=float)[place]) if below[place] > 0.05 else math.nan


def enough(values: Sequence[float] | np.ndarray, times: Sequence[float] | np.ndarray, share: float) -> float:
    """Return the cheapest sufficient value: no other value saves more than ``share`` of its time.

    The cheapest value is the one farthest from the end with the shortest times: the lowest bandwidth, the highest
    latency.
    """
    x, y = np.asarray(values, dtype=float), np.asarray(times, dtype=float)
    order = np.argsort(x)
    x, y = x[order], y[order]
    if y[0] < y[-1]:  # low values give shorter times
        x, y = x[::-1], y[::-1]
    good = y * (1 - share) <= y.min()
    return float(x[int(np.argmax(good))])


def _indices(experiment: Resolved, points: pd.DataFrame) -> pd.DataFrame:
    """Return first and total order Sobol indices (Saltelli et al. 2010; intervals by bootstrap) of every curve."""
    from SALib.analyze import sobol

    described = problem(experiment)
    rows = []
    for (technique, nodes), chosen in points.groupby(["technique", "nodes"], sort=False):
        times = chosen["time_s"].to_numpy(dtype=float)
        if np.ptp(times) == 0:
            continue
        # Saltelli's estimators lose digits when the mean is far from zero.
        found = sobol.analyze(
            described, times - times.mean(), calc_second_order=False, conf_level=experiment.simulate.confidence,
            seed=seeds.derive_seed(experiment.seed, "sobol") % 2**32,
        )  # fmt: skip
        for index, name in enumerate(described["names"]):
            rows.append(
                {
                    "technique": technique,
                    "nodes": nodes,
                    "parameter": name,
                    "first": float(found["S1"][index]),
                    "first_conf": float(found["S1_conf"][index]),
                    "total": float(found["ST"][index]),
                    "total_conf": float(found["ST_conf"][index]),
                }
            )
    return pd.DataFrame(rows, columns=_INDEX_COLUMNS)
