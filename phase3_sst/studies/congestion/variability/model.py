"""The model of Chunduri et al.: two regressions that must agree, with error bounds.

In: the features of runs. Out: for each run, the variability estimate with error bounds, or a refusal. The estimate is
the number of standard deviations between its run time and the mean of its application on that many nodes. Features are
scaled by the median and the interquartile range of the training runs. A support vector regression (RBF kernel; Smola
and Schölkopf 2004) gives the estimate, a random forest the error bounds; if they differ by more than the bounds, there
is no prediction (section V-D).

The bounds are ``factor * (s + FLOOR)``, where s is the standard deviation of the trees' values. The paper does not
define its forest's "error range". Here ``factor`` is chosen such that the wanted share of training runs, estimated
without themselves, is within the bounds (normalised conformal prediction; Johansson et al., Machine Learning 97, 2014).

This module predicts with numpy alone, from plain arrays. A model file therefore has no executable content and does not
depend on a version of scikit-learn. :mod:`train` learns the arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
FLOOR = 0.1
"""Added to the trees' standard deviation [standard deviations of run time]; no estimate is surer than about this."""


@dataclass(frozen=True)
class Tree:
    """A regression tree: per node its children (-1: a leaf), and feature, threshold, value. Left is at most."""

    left: Whole
    right: Whole
    feature: Whole
    threshold: Floats
    value: Floats

    def predict(self, scaled: Floats) -> Floats:
        """Return the value of the leaf that each row (n x features) reaches."""
        # scikit-learn compares features in single precision with thresholds in double.
        single = scaled.astype(np.float32).astype(np.float64)
        at = np.zeros(len(scaled), dtype=np.int64)
        while True:
            inner = self.left[at] >= 0
            if not inner.any():
                return self.value[at]
            rows, node = np.nonzero(inner)[0], at[inner]
            goes_left = single[rows, self.feature[node]] <= self.threshold[node]
            at[rows] = np.where(goes_left, self.left[node], self.right[node])


@dataclass(frozen=True)
class Group:
    """Runs of one application on one number of nodes: the unit of their variability."""

    application: str
    nodes: int
    runs: int
    mean_s: float
    deviation_s: float


@dataclass(frozen=True)
class Estimates:
    """Per run [standard deviations]: estimate, error bounds, the forest's own, and whether the two models agree."""

    estimate: Floats
    bound: Floats
    forest: Floats
    kept: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Learned:
    """The learned arrays: scaling per feature, support vectors (n x features), trees, the bounds' factor."""

    features: Sequence[str]
    centre: Floats
    scale: Floats
    lowest: Floats
    highest: Floats
    support: Floats
    dual: Floats
    intercept: float
    gamma: float
    trees: Sequence[Tree]
    factor: float

    def scaled(self, frame: pd.DataFrame) -> Floats:
        """Return the features of runs (n x features), scaled."""
        values = frame[list(self.features)].to_numpy(dtype=np.float64)
        return np.asarray((values - self.centre) / self.scale, dtype=np.float64)

    def estimates(self, frame: pd.DataFrame) -> Estimates:
        """Return the estimates of runs."""
        scaled = self.scaled(frame)
        estimate = support_vectors(scaled, self.support, self.dual, self.intercept, self.gamma)
        said = np.stack([tree.predict(scaled) for tree in self.trees])
        forest, spread = said.mean(axis=0), said.std(axis=0)
        bound = self.factor * (spread + FLOOR)
        return Estimates(estimate, bound, forest, np.abs(estimate - forest) < bound)

    def unlike_training(self, frame: pd.DataFrame) -> list[list[str]]:
        """Return per run its features outside the range of the training runs, as text."""
        found = []
        for _, row in frame[list(self.features)].iterrows():
            outside = []
            for name, low, high in zip(self.features, self.lowest, self.highest, strict=True):
                if not low <= float(row[name]) <= high:
                    outside.append(f"{name} is {row[name]:.4g}, of the training runs {low:.4g} to {high:.4g}")
            found.append(outside)
        return found


@dataclass(frozen=True)
class Model:
    """The learned arrays, the groups of training runs, and their provenance."""

    learned: Learned
    groups: Sequence[Group]
    about: Mapping[str, Any] = field(default_factory=dict)

    def group(self, application: str, nodes: int) -> Group | None:
        """Return the group of an application on a number of nodes, None without training runs."""
        own = (group for group in self.groups if (group.application, group.nodes) == (application, nodes))
        return next(own, None)


def support_vectors(scaled: Floats, support: Floats, dual: Floats, intercept: float, gamma: float) -> Floats:
    """Return sum_i dual_i exp(-gamma |x - support_i|^2) + intercept for each row x."""
    square = (scaled**2).sum(axis=1)[:, None] + (support**2).sum(axis=1)[None, :] - 2 * scaled @ support.T
    return np.asarray(np.exp(-gamma * np.maximum(square, 0.0)) @ dual + intercept, dtype=np.float64)


def groups_of(frame: pd.DataFrame) -> list[Group]:
    """Return the groups of runs with mean and standard deviation of their run times [s]."""
    found = []
    for (application, nodes), own in frame.groupby(["application", "nodes"], sort=True)["run_time_s"]:
        found.append(Group(str(application), int(nodes), len(own), float(own.mean()), float(own.std(ddof=0))))
    return found


def standardised(frame: pd.DataFrame, groups: Sequence[Group]) -> Floats:
    """Return each run time's difference from its group's mean, in standard deviations."""
    known = {(group.application, group.nodes): group for group in groups}
    rows = zip(frame["application"], frame["nodes"], frame["run_time_s"], strict=True)
    own = [(known[str(name), int(nodes)], float(seconds)) for name, nodes, seconds in rows]
    return np.array([(seconds - group.mean_s) / group.deviation_s for group, seconds in own])
