"""Trains the model of Chunduri et al. with scikit-learn.

In: runs, their standardised run times, seed. Out: :class:`Learned`. The two hyperparameters of the support vector
regression, C and gamma, are found by a grid search with 10-fold cross-validation, scored by R2 (section IV-C). The
factor of the error bounds is found from estimates of training runs without themselves: the support vector regression's
by cross-validation, the forest's by the trees that did not see the run (out of bag).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import RobustScaler
from sklearn.svm import SVR

from manynode.seeds import derive_seed
from phase3_sst.studies.congestion.counters.counter_features import NAMES, NODES, PAPER_FEATURES
from phase3_sst.studies.congestion.variability.model import FLOOR, Floats, Learned, Model, Tree, groups_of, standardised

GRID = {"C": (1.0, 10.0, 100.0, 1000.0), "gamma": (0.001, 0.01, 0.1, 1.0)}
EPSILON = 0.1  # of the support vector regression: deviations up to a tenth of a standard deviation cost nothing
LEAST_LEAF = 2  # runs in a leaf of a tree
FOLDS = 10
PAPER, AUTO = "paper", "auto"
ALL_FEATURES = (*NAMES, NODES)


@dataclass(frozen=True)
class Hyperparameters:
    """Of the support vector regression."""

    c: float
    gamma: float


@dataclass(frozen=True)
class Options:
    """Training options: features, trees of the forest, share of runs within the bounds, seed."""

    features: str = PAPER
    trees: int = 200
    confidence: float = 0.95
    seed: int = 1

    def random_state(self, *labels: object) -> int:
        """Return the seed for a purpose, in scikit-learn's range."""
        return derive_seed(self.seed, "variability", *labels) % 2**32


def train(frame: pd.DataFrame, options: Options) -> tuple[Model, Hyperparameters]:
    """Return the model of all ``frame``'s runs."""
    groups = groups_of(frame)
    truth = standardised(frame, groups)
    found = tune(frame, truth, options)
    return Model(learn(frame, truth, options, found), groups), found


def importances(frame: pd.DataFrame, truth: Floats, options: Options) -> pd.Series[float]:
    """Return the importance of all 26 statistics for a random forest (reduction of impurity), the largest first."""
    names = list(ALL_FEATURES)
    forest = _forest(options, "importances").fit(RobustScaler().fit_transform(frame[names].to_numpy()), truth)
    return pd.Series(forest.feature_importances_, index=names).sort_values(ascending=False, kind="stable")


def chosen_features(frame: pd.DataFrame, truth: Floats, options: Options) -> list[str]:
    """Return the paper's features, or the same number of those that a forest ranks most important."""
    if options.features == PAPER:
        return list(PAPER_FEATURES)
    return [str(name) for name in importances(frame, truth, options).index[: len(PAPER_FEATURES)]]


def tune(frame: pd.DataFrame, truth: Floats, options: Options, folds: int = FOLDS) -> Hyperparameters:
    """Return the hyperparameters with the best mean R2 over the folds."""
    values = frame[chosen_features(frame, truth, options)].to_numpy(dtype=np.float64)
    grid = {"svr__C": list(GRID["C"]), "svr__gamma": list(GRID["gamma"])}
    search = GridSearchCV(_regression(1.0, 1.0), grid, scoring="r2", cv=_folds(folds, options, "tune"))
    search.fit(values, truth)
    return Hyperparameters(float(search.best_params_["svr__C"]), float(search.best_params_["svr__gamma"]))


def learn(frame: pd.DataFrame, truth: Floats, options: Options, found: Hyperparameters) -> Learned:
    """Return the arrays learned from runs with standardised run times ``truth``."""
    names = chosen_features(frame, truth, options)
    values = frame[names].to_numpy(dtype=np.float64)
    regression = _regression(found.c, found.gamma)
    without = cross_val_predict(regression, values, truth, cv=_folds(FOLDS, options, "bounds"))
    regression.fit(values, truth)
    scaler, svr = regression[0], regression[1]
    scaled = scaler.transform(values)
    forest = _forest(options, "forest").fit(scaled, truth)
    spread = _out_of_bag_spread(forest, scaled)
    return Learned(
        features=names,
        centre=np.asarray(scaler.center_, dtype=np.float64),
        scale=np.asarray(scaler.scale_, dtype=np.float64),
        lowest=values.min(axis=0),
        highest=values.max(axis=0),
        support=np.asarray(svr.support_vectors_, dtype=np.float64),
        dual=np.asarray(svr.dual_coef_[0], dtype=np.float64),
        intercept=float(svr.intercept_[0]),
        gamma=found.gamma,
        trees=[_tree(estimator.tree_) for estimator in forest.estimators_],
        factor=_factor(np.abs(truth - without) / (spread + FLOOR), options.confidence),
    )


def _regression(c: float, gamma: float) -> Pipeline:
    return make_pipeline(RobustScaler(), SVR(kernel="rbf", C=c, gamma=gamma, epsilon=EPSILON))


def _forest(options: Options, label: str) -> RandomForestRegressor:
    return RandomForestRegressor(
        n_estimators=options.trees,
        min_samples_leaf=LEAST_LEAF,
        max_features=1 / 3,  # Breiman's choice for regression; with all features, trees are too similar
        random_state=options.random_state(label),
    )


def _folds(folds: int, options: Options, label: str) -> KFold:
    return KFold(folds, shuffle=True, random_state=options.random_state(label))


def _out_of_bag_spread(forest: RandomForestRegressor, scaled: Floats) -> Floats:
    """Return per training run the standard deviation of the trees that were trained without it."""
    said = np.stack([estimator.predict(scaled) for estimator in forest.estimators_])
    seen = np.zeros(said.shape, dtype=bool)
    for row, sample in zip(seen, forest.estimators_samples_, strict=True):
        row[sample] = True
    # With few trees, nearly all may have been trained on a run; then all are used.
    seen[:, (~seen).sum(axis=0) < 2] = False
    return np.asarray(np.nanstd(np.where(seen, np.nan, said), axis=0), dtype=np.float64)


def _factor(scores: Floats, confidence: float) -> float:
    """Return the score that a share ``confidence`` of new runs does not exceed (split conformal: n + 1 for n)."""
    ordered = np.sort(scores)
    place = min(math.ceil((len(ordered) + 1) * confidence), len(ordered)) - 1
    return float(ordered[place])


def _tree(tree: object) -> Tree:
    left = np.asarray(tree.children_left, dtype=np.int64)  # type: ignore[attr-defined]
    inner = left >= 0
    return Tree(
        left=left,
        right=np.asarray(tree.children_right, dtype=np.int64),  # type: ignore[attr-defined]
        feature=np.where(inner, tree.feature, 0).astype(np.int64),  # type: ignore[attr-defined]
        threshold=np.where(inner, tree.threshold, 0.0).astype(np.float64),  # type: ignore[attr-defined]
        value=np.asarray(tree.value[:, 0, 0], dtype=np.float64),  # type: ignore[attr-defined]
    )
