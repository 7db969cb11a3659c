"""Multi-fidelity: compares a study's points with those of a second engine: ratios, and whether both rank alike.

In: makespans [s] by replica of each point from both engines, which draw the same compute times replica by replica. Out:
the table ``confirmation/1``: variant (of a what-if study the alternative), technique, nodes, time_s, confirmed_s (means
over the replicas that both have), ratio (confirmed over study), low, high (bootstrap interval of the mean ratio of the
replicas), replicas, place, confirmed_place (1 is the shortest time of this technique and node count), and for a
sensitivity study a column "NAME, written" per parameter; and the document ``confirmation-summary/1``: engine (of the
study), confirmed_by, lacks (the remedy if that engine is missing; empty if it ran), sentences.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode import seeds, tables
from manynode.config.resolved import Resolved
from manynode.config.sensitivity import SensitivitySection
from manynode.config.variants import Variant, confirmed, study_nodes, study_techniques
from manynode.report.wording import count, duration, number, percent
from phase3_sst.analysis.projection_tables import bootstrap_interval
from phase3_sst.point.point_result import PointResult

SCHEMA = "confirmation/1"
SUMMARY_SCHEMA = "confirmation-summary/1"

_KEYS = ["variant", "technique", "nodes"]
_COLUMNS = [
    *_KEYS,
    *("time_s", "confirmed_s", "ratio", "low", "high", "replicas", "place", "confirmed_place"),
]


@dataclass(frozen=True)
class Pair:
    """One point in both engines: replica -> makespan [s]; ``settings`` are additional columns."""

    variant: str
    technique: str
    nodes: int
    study_s: Mapping[int, float]
    confirmed_s: Mapping[int, float]
    settings: Mapping[str, str]


@dataclass(frozen=True)
class Confirmation:
    """The table and its sentences."""

    table: pd.DataFrame
    summary: dict[str, Any]


def of_study(experiment: Resolved, points: Path, again: Path, lacking: str | None) -> Confirmation:
    """Return the confirmation of a sensitivity study with points in ``points`` and ``again``."""
    study = experiment.sensitivity
    assert study is not None and study.confirm is not None
    engine = study.confirm.engine
    planned = [] if lacking else confirmed(experiment)
    pairs = [
        Pair(
            variant.name,
            technique,
            nodes,
            _makespans(points, variant, technique, nodes),
            _makespans(again, variant, technique, nodes),
            _written(study, variant),
        )
        for technique in study_techniques(experiment)
        for nodes in study_nodes(experiment)
        for variant in planned
    ]
    return compare(pairs, experiment.simulate.engine, engine, experiment.content, lacking or "")


def compare(pairs: Sequence[Pair], engine: str, by: str, content: Mapping[str, Any], lacking: str = "") -> Confirmation:
    """Return table and sentences of the points of ``engine`` and ``by``."""
    frame = pd.DataFrame([_row(pair, content) for pair in pairs], columns=_columns(pairs))
    for column, times in (("place", "time_s"), ("confirmed_place", "confirmed_s")):
        frame[column] = frame.groupby(["technique", "nodes"])[times].rank(method="min").astype(int)
    said = [not_there(by, lacking)] if lacking else sentences(frame, engine, by, content["relevant_difference"])
    return Confirmation(frame, {"engine": engine, "confirmed_by": by, "lacks": lacking, "sentences": said})


def not_there(engine: str, remedy: str) -> str:
    """Return the sentence about an engine that is not installed."""
    return f"Nothing was confirmed: the engine {engine} is not installed here ({remedy})."


def write(found: Confirmation, path: Path) -> None:
    """Write the summary beside the table, the table last and under the given name."""
    tables.write_json(path.with_suffix(".json"), SUMMARY_SCHEMA, found.summary)
    tables.write_table(path, SCHEMA, found.table)


def sentences(frame: pd.DataFrame, engine: str, by: str, relevant: float) -> list[str]:
    """Return the sentences on differences of times and reversed orders."""
    off = (frame["ratio"] - 1).abs()
    worst = frame.loc[off.idxmax()]
    least, largest = frame["ratio"].min(), frame["ratio"].max()
    said = [
        f"{count(len(frame), 'point')} of the engine {engine} {'was' if len(frame) == 1 else 'were'} simulated again "
        f"with {by}. The times are {number(least)} to {number(largest)} times as long (median "
        f"{number(float(frame['ratio'].median()))}). The largest difference is at {_name(worst)}: "
        f"{duration(worst['time_s'])} with {engine} and {duration(worst['confirmed_s'])} with {by}."
    ]
    agreeing, turned = orders(frame, relevant)
    total = agreeing + len(turned)
    if not total:
        said.append(f"With {by}, no two points differ by more than {percent(relevant)}.")
    elif not turned:
        said.append(
            f"Both engines agree on the order of all {count(total, 'pair')} that differ by more than "
            f"{percent(relevant)} with {by}."
        )
    else:
        first, second = max(turned, key=lambda pair: pair[1]["confirmed_s"] / pair[0]["confirmed_s"])
        gap = second["confirmed_s"] / first["confirmed_s"] - 1
        said.append(
            f"They disagree on {len(turned)} of {count(total, 'order')} that differ by more than {percent(relevant)} "
            f"with {by}: there {_name(first)} is faster than {_name(second)} by {percent(gap)}, and not with {engine}."
        )
    return said


def orders(frame: pd.DataFrame, relevant: float) -> tuple[int, list[tuple[pd.Series[Any], pd.Series[Any]]]]:
    """Return the number of equal orders, and the reversed pairs (faster, slower with the second engine).

    Points are ordered within a technique and node count if their times differ by more than ``relevant`` with the second
    engine.
    """
    agreeing, turned = 0, []
    for _, group in frame.groupby(["technique", "nodes"], sort=False):
        for (_, one), (_, other) in itertools.combinations(group.iterrows(), 2):
            fast, slow = sorted((one, other), key=lambda row: float(row["confirmed_s"]))
            if slow["confirmed_s"] <= (1 + relevant) * fast["confirmed_s"]:
                continue
            if fast["time_s"] < slow["time_s"]:
                agreeing += 1
            else:
                turned.append((fast, slow))
    return agreeing, turned


def _row(pair: Pair, content: Mapping[str, Any]) -> dict[str, Any]:
    both = sorted(pair.study_s.keys() & pair.confirmed_s.keys())
    ratios = [pair.confirmed_s[replica] / pair.study_s[replica] for replica in both]
    generator = seeds.generator(content["seed"], "bootstrap", "confirm", pair.variant, pair.technique, pair.nodes)
    low, high = bootstrap_interval(ratios, content["simulate"]["confidence"], generator)
    return {
        "variant": pair.variant,
        "technique": pair.technique,
        "nodes": pair.nodes,
        "time_s": float(np.mean([pair.study_s[replica] for replica in both])),
        "confirmed_s": float(np.mean([pair.confirmed_s[replica] for replica in both])),
        "ratio": float(np.mean(ratios)),
        "low": low,
        "high": high,
        "replicas": len(both),
        **pair.settings,
    }


def _columns(pairs: Sequence[Pair]) -> list[str]:
    return [*_COLUMNS, *(pairs[0].settings if pairs else ())]


def _makespans(folder: Path, variant: Variant, technique: str, nodes: int) -> dict[int, float]:
    return PointResult(folder / variant.name / technique / f"nodes-{nodes}").makespans_s


def _written(study: SensitivitySection, variant: Variant) -> dict[str, str]:
    texts = {name: str(variant.settings.get(name, "as in the experiment")) for name in study.parameters}
    # Only the name of a network's file.
    return {
        f"{name}, written": Path(text).stem if text.endswith((".yaml", ".yml")) else text
        for name, text in texts.items()
    }


def _name(row: pd.Series[Any]) -> str:
    written = [
        (str(name).removesuffix(", written"), row[name]) for name in row.index if str(name).endswith(", written")
    ]
    setting = ", ".join(f"{name} {value}" for name, value in written) or row["variant"]
    if not row["nodes"]:  # of a what-if study, whose alternatives have names
        return setting
    return f"{setting} ({row['technique']} on {count(int(row['nodes']), 'node')})"
