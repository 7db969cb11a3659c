"""Measures the model's quality: 10-fold cross-validation, training sizes, unseen applications (sections IV-C to V-D).

A fold only uses what a model in use would have: means and standard deviations of run times, scaling and choice of
features, hyperparameters and error bounds come from its training runs alone. The paper standardised all run times first
and chose the hyperparameters on all runs; :func:`as_the_paper` does the same, to compare.

An unseen application has no mean in the model. As in the paper, its run times are standardised by all of its own runs.
The estimate ranks a run among those; R2 tells whether the estimate is right.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import r2_score
from sklearn.model_selection import StratifiedKFold

from manynode.seeds import generator
from phase3_sst.studies.congestion.variability.model import Floats, groups_of, standardised
from phase3_sst.studies.congestion.variability.train import FOLDS, Hyperparameters, Options, learn, tune

SHARES = (0.1, 0.25, 0.5, 0.75)
TARGET_RUNS = (0, 20, 40)
_INNER_FOLDS = 3  # for the hyperparameter search within a fold
_REPEATS = 3  # draws of each training size
_LEAST_TRAINING = 10
Places = npt.NDArray[np.int64]


def cross_validated(frame: pd.DataFrame, options: Options, given: Hyperparameters | None = None) -> pd.DataFrame:
    """Return the estimate of each run by a model trained without it, in ten folds.

    Columns: run, application, nodes, run_time_s, fold, truth, estimate, bound, forest [standard deviations], kept (the
    two models agree), within (the truth lies within the bounds). ``given`` hyperparameters are not searched again.
    """
    parts = []
    for fold, (rest, held) in enumerate(_folds(frame, options)):
        training, test = frame.iloc[rest], frame.iloc[held]
        groups = groups_of(training)
        truth = standardised(training, groups)
        found = given or tune(training, truth, options, _INNER_FOLDS)
        said = learn(training, truth, options, found).estimates(test)
        own = test[["run", "application", "nodes", "run_time_s"]].assign(
            fold=fold, truth=standardised(test, groups), estimate=said.estimate, bound=said.bound,
            forest=said.forest, kept=said.kept,
        )  # fmt: skip
        parts.append(own)
    table = pd.concat(parts).sort_index().reset_index(drop=True)
    return table.assign(within=(table["truth"] - table["estimate"]).abs() <= table["bound"])


def as_the_paper(frame: pd.DataFrame, options: Options, found: Hyperparameters) -> float:
    """Return the 10-fold R2 with run times standardised beforehand and hyperparameters chosen on all runs."""
    truth = standardised(frame, groups_of(frame))
    said = np.empty(len(frame))
    for rest, held in _folds(frame, options):
        said[held] = learn(frame.iloc[rest], truth[rest], options, found).estimates(frame.iloc[held]).estimate
    return float(r2_score(truth, said))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return runs, r2, kept and within_kept (shares) of a cross-validation, for all runs and per application."""
    parts = [("all", table), *((str(name), own) for name, own in table.groupby("application", sort=True))]
    return pd.DataFrame([{"application": name, **_quality(own)} for name, own in parts])


def _quality(own: pd.DataFrame) -> dict[str, float]:
    kept = own[own["kept"]]
    return {
        "runs": len(own),
        "r2": _r2(own["truth"], own["estimate"]),
        "r2_forest": _r2(own["truth"], own["forest"]),
        "kept": float(own["kept"].mean()),
        "within_kept": float(kept["within"].mean()) if len(kept) else float("nan"),
        "within_refused": float(own["within"][~own["kept"]].mean()) if len(kept) < len(own) else float("nan"),
        "bound_median": float(kept["bound"].median()) if len(kept) else float("nan"),
    }


def _r2(truth: pd.Series[float], said: pd.Series[float]) -> float:
    return float(r2_score(truth, said)) if len(truth) > 1 and truth.std() > 0 else float("nan")


def training_sizes(frame: pd.DataFrame, options: Options, found: Hyperparameters) -> pd.DataFrame:
    """Return share, training_runs, r2 (mean of three draws), r2_low and r2_high by share of the runs for training."""
    rows = []
    for share in SHARES:
        scores, size = [], 0
        for repeat in range(_REPEATS):
            draw = generator(options.seed, "training size", share, repeat)
            rest = _drawn_of_each_group(frame, share, draw)
            size = len(rest)
            if size >= _LEAST_TRAINING:
                scores.append(_score(frame, rest, options, found))
        if scores:
            rows.append(
                {
                    "share": share,
                    "training_runs": size,
                    "r2": float(np.mean(scores)),
                    "r2_low": min(scores),
                    "r2_high": max(scores),
                }
            )
    return pd.DataFrame(rows, columns=["share", "training_runs", "r2", "r2_low", "r2_high"])


def unseen_applications(frame: pd.DataFrame, options: Options, found: Hyperparameters) -> pd.DataFrame:
    """Return application, target_runs and r2: trained on all others and 0, 20 or 40 runs of it (table V)."""
    rows = []
    for name in sorted(set(frame["application"])):
        target = np.flatnonzero((frame["application"] == name).to_numpy())
        others = np.flatnonzero((frame["application"] != name).to_numpy())
        order = generator(options.seed, "unseen", name).permutation(target)
        for count in TARGET_RUNS:
            if count >= len(target) or len(others) + count < _LEAST_TRAINING:
                continue
            rest = np.concatenate([others, order[:count]])
            score = _score(frame, rest, options, found, test=order[count:])
            rows.append({"application": name, "target_runs": count, "r2": score})
    return pd.DataFrame(rows, columns=["application", "target_runs", "r2"])


def _score(
    frame: pd.DataFrame, rest: Places, options: Options, found: Hyperparameters, test: Places | None = None
) -> float:
    """Return the R2 of runs that were not used for training; run times standardised by all runs, as in the paper."""
    truth = standardised(frame, groups_of(frame))
    held = np.setdiff1d(np.arange(len(frame)), rest) if test is None else test
    said = learn(frame.iloc[rest], truth[rest], options, found).estimates(frame.iloc[held]).estimate
    return float(r2_score(truth[held], said))


def _folds(frame: pd.DataFrame, options: Options) -> Iterator[tuple[Places, Places]]:
    """Yield indices of training and test runs; each group is distributed evenly over the folds."""
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=options.random_state("validation"))
    yield from split.split(np.zeros(len(frame)), _labels(frame))


def _labels(frame: pd.DataFrame) -> Places:
    return np.asarray(frame.groupby(["application", "nodes"], sort=True).ngroup(), dtype=np.int64)


def _drawn_of_each_group(frame: pd.DataFrame, share: float, draw: np.random.Generator) -> Places:
    labels = _labels(frame)
    parts = []
    for label in np.unique(labels):
        own = draw.permutation(np.flatnonzero(labels == label))
        parts.append(own[: max(1, round(share * len(own)))])
    return np.sort(np.concatenate(parts))


def use_cases(table: pd.DataFrame) -> pd.DataFrame:
    """Return a typical, a lucky and an unlucky run of each application and size, with its estimate (table VI).

    The typical run is the one nearest to the mean, the others are at the 5th and 95th percentile. ``table`` is that of
    :func:`cross_validated`: the model was trained without these runs.
    """
    rows = []
    for (name, nodes), own in table.groupby(["application", "nodes"], sort=True):
        ordered = own.sort_values(["truth", "run"]).reset_index(drop=True)
        places = {
            "typical": int(ordered["truth"].abs().to_numpy().argmin()),
            "lucky": round(0.05 * (len(ordered) - 1)),
            "unlucky": round(0.95 * (len(ordered) - 1)),
        }
        for kind, place in places.items():
            run = ordered.iloc[place]
            rows.append(
                {
                    "application": name,
                    "nodes": nodes,
                    "case": kind,
                    "run": run["run"],
                    "run_time_s": run["run_time_s"],
                    "truth": run["truth"],
                    "estimate": run["estimate"] if run["kept"] else float("nan"),
                    "bound": run["bound"] if run["kept"] else float("nan"),
                }
            )
    return pd.DataFrame(rows)


def embedded(scaled: Floats, options: Options) -> Floats:
    """Return two coordinates per run that place runs with similar features together (t-SNE, figure 5)."""
    from sklearn.manifold import TSNE

    perplexity = max(2.0, min(30.0, (len(scaled) - 1) / 4))
    found = TSNE(2, perplexity=perplexity, init="pca", random_state=options.random_state("t-sne")).fit_transform(scaled)
    return np.asarray(found, dtype=np.float64)
