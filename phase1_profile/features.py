"""Computes features from a counter table: one row per rank, also as logarithms for comparison.

The features are those of Eyerman et al., section 3.3: instructions, IPC, branches, loads. They are compared as
logarithms: differences are then relative, and a change of unit (or a longer run) shifts all ranks by the same amount.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from manynode.errors import InputError, UsageError, nearest
from phase1_profile.counters import ALL_PHASES

# Zero has no logarithm: a count is compared after this share of the ranks' median is added to it.
ZERO_OFFSET = 1e-6


@dataclass(frozen=True)
class Feature:
    """A feature: how it follows from a counter table, its name in words, and whether it contains time."""

    words: str
    value: Callable[[pd.DataFrame], pd.Series[float]]
    timing: bool = False


def _counter(name: str) -> Callable[[pd.DataFrame], pd.Series[float]]:
    return lambda frame: frame[name].astype(float)


def _ratio(over: str, under: str) -> Callable[[pd.DataFrame], pd.Series[float]]:
    return lambda frame: frame[over].astype(float) / frame[under].astype(float).where(frame[under] > 0)


FEATURES: dict[str, Feature] = {
    "instructions": Feature("instructions", _counter("instructions")),
    "ipc": Feature("instructions per cycle", _ratio("instructions", "cycles"), timing=True),
    "branches": Feature("branches", _counter("branches")),
    "loads": Feature("loads", _counter("loads")),
    "branch_misses": Feature("mispredicted branches", _counter("branch_misses")),
    "cycles": Feature("cycles", _counter("cycles"), timing=True),
    "seconds": Feature("compute time", _counter("seconds"), timing=True),
}


@dataclass(frozen=True)
class FeatureTable:
    """Features of all jobs: nodes, repetition, node, rank, then ``names``; ``left_out`` says what is missing, why."""

    frame: pd.DataFrame
    names: tuple[str, ...]
    left_out: dict[str, str]


def feature_table(counters: pd.DataFrame, wanted: Sequence[str], phase: str = ALL_PHASES) -> FeatureTable:
    """Return the ``wanted`` features of every rank in every job.

    A feature that is unknown for any rank is left out for all, with the reason. An unknown name is a
    :class:`UsageError`; when no feature remains, an :class:`InputError`.
    """
    for name in wanted:
        if name not in FEATURES:
            near = nearest(name, FEATURES)
            raise UsageError(
                "unknown feature",
                found=name,
                allowed=", ".join(FEATURES),
                remedy=f"did you mean {near!r}?" if near else None,
            )
    rows = counters[counters["phase"] == phase]
    frame = rows[["nodes", "repetition", "node", "rank"]].copy()
    left_out: dict[str, str] = {}
    names: list[str] = []
    for name in dict.fromkeys(wanted):
        values = FEATURES[name].value(rows)
        unknown = values.isna()
        if unknown.all():
            left_out[name] = "the source of the counters cannot tell it"
        elif unknown.any():
            row = rows[unknown].iloc[0]
            left_out[name] = f"unknown for {int(unknown.sum())} of {len(rows)} rows, first for rank {row['rank']}"
        else:
            frame[name] = values
            names.append(name)
    if not names:
        raise InputError(
            "the counters contain no feature that distinguishes ranks",
            where=f"phase {phase!r}",
            found="; ".join(f"{name}: {reason}" for name, reason in left_out.items()) or "no rows",
            allowed=", ".join(wanted),
            remedy="profile with another source of counters (callgrind works on any Linux host)",
        )
    frame = frame.sort_values(["nodes", "repetition", "rank"], kind="stable").reset_index(drop=True)
    return FeatureTable(frame, tuple(names), left_out)


def logarithms(table: FeatureTable) -> dict[int, np.ndarray]:
    """Return for every job size the natural logarithms of the features, repetitions x ranks x features.

    Each job is divided by its median first. Repetitions of a job with different ranks are an :class:`InputError`.
    """
    result: dict[int, np.ndarray] = {}
    for nodes, jobs in table.frame.groupby("nodes"):
        layers = []
        layout: list[tuple[int, int]] | None = None
        for repetition, job in jobs.groupby("repetition"):
            found = list(zip(job["rank"], job["node"], strict=True))
            if layout is not None and found != layout:
                raise InputError(
                    "the repetitions of a job do not match",
                    where=f"nodes {nodes}, repetition {repetition}",
                    found=f"{len(found)} ranks, placed differently from the {len(layout)} of the first repetition",
                    allowed="the same ranks on the same nodes in every repetition",
                    remedy="profile all repetitions with the same ranks per node",
                )
            layout = found
            layers.append(_log_of_job(job[list(table.names)].to_numpy(dtype=float)))
        result[int(str(nodes))] = np.stack(layers)
    return result


def _log_of_job(values: np.ndarray) -> np.ndarray:
    scale = np.ones(values.shape[1])
    for column in range(values.shape[1]):
        positive = values[values[:, column] > 0, column]
        if len(positive):
            scale[column] = np.median(positive)
    return np.asarray(np.log(values / scale + ZERO_OFFSET))
