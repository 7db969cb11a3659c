"""Trains and validates the model on a table of runs, for the part of a study and for the command line.

In: runs (``variability-runs/1``). Out: a :class:`Trained`: the model with its provenance, and the tables of its
validation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import sklearn

import manynode
from phase3_sst.studies.congestion.variability import cross_validation
from phase3_sst.studies.congestion.variability.model import Model, groups_of, standardised
from phase3_sst.studies.congestion.variability.runs_table import COLUMNS, trainable
from phase3_sst.studies.congestion.variability.train import Hyperparameters, Options, importances, train

IMPORTANCES_SCHEMA = "variability-importances/1"
ESTIMATES_SCHEMA = "variability-estimates/1"
SUMMARY_SCHEMA = "variability-summary/1"
SIZES_SCHEMA = "variability-training-sizes/1"
UNSEEN_SCHEMA = "variability-unseen/1"
CASES_SCHEMA = "variability-use-cases/1"
EMBEDDING_SCHEMA = "variability-embedding/1"
CORRELATION_SCHEMA = "variability-correlations/1"


@dataclass(frozen=True)
class Trained:
    """The model, the runs that it was trained on, tables of its validation by name (schema, rows), and notes."""

    model: Model
    runs: pd.DataFrame
    hyperparameters: Hyperparameters
    tables: Mapping[str, tuple[str, pd.DataFrame]]
    r2_as_the_paper: float
    notes: Sequence[str] = field(default_factory=list)

    @property
    def summary(self) -> pd.DataFrame:
        """The quality of the cross-validated estimates, of all runs first."""
        return self.tables["summary"][1]


def trained(frame: pd.DataFrame, options: Options, where: str) -> Trained:
    """Return the model of ``frame``'s runs and its validation; ``where`` names their source in errors."""
    runs, notes = trainable(frame, where)
    runs = runs.sort_values(["application", "nodes", "run"], kind="stable", ignore_index=True)
    model, found = train(runs, options)
    table = cross_validation.cross_validated(runs, options)
    truth = standardised(runs, model.groups)
    x, y = cross_validation.embedded(model.learned.scaled(runs), options).T
    parts = {
        "summary": (SUMMARY_SCHEMA, cross_validation.summary(table)),
        "estimates": (ESTIMATES_SCHEMA, table),
        "training-sizes": (SIZES_SCHEMA, cross_validation.training_sizes(runs, options, found)),
        "unseen": (UNSEEN_SCHEMA, cross_validation.unseen_applications(runs, options, found)),
        "use-cases": (CASES_SCHEMA, cross_validation.use_cases(table)),
        "importances": (IMPORTANCES_SCHEMA, _importances(runs, truth, options, model)),
        "correlations": (CORRELATION_SCHEMA, correlations(runs, model.learned.features)),
        "embedding": (
            EMBEDDING_SCHEMA,
            runs[["run", "application", "nodes"]].assign(x=x, y=y, truth=truth),
        ),
    }
    paper = cross_validation.as_the_paper(runs, options, found)
    about = _about(runs, options, found, cross_validation.summary(table), paper, where)
    return Trained(Model(model.learned, model.groups, about), runs, found, parts, paper, notes)


def correlations(runs: pd.DataFrame, features: Sequence[str]) -> pd.DataFrame:
    """Return Pearson's r of run time and each feature, per application and size (table IV)."""
    rows = []
    for (name, nodes), own in runs.groupby(["application", "nodes"], sort=True):
        for feature in features:
            varies = own[feature].std() > 0
            r = float(own["run_time_s"].corr(own[feature])) if varies else float("nan")
            rows.append({"application": name, "nodes": nodes, "feature": feature, "r": r})
    return pd.DataFrame(rows)


def _importances(runs: pd.DataFrame, truth: Any, options: Options, model: Model) -> pd.DataFrame:
    found = importances(runs, truth, options)
    return pd.DataFrame(
        {
            "feature": found.index.astype(str),
            "importance": found.to_numpy(),
            "used": found.index.isin(list(model.learned.features)),
        }
    )


def _about(
    runs: pd.DataFrame, options: Options, found: Hyperparameters, summary: pd.DataFrame, paper: float, where: str
) -> dict[str, Any]:
    overall = summary.iloc[0]
    return {
        "manynode": manynode.__version__,
        "scikit_learn": sklearn.__version__,
        "runs_from": where,
        "runs": len(runs),
        "runs_sha256": _digest(runs),
        "options": {
            "features": options.features,
            "trees": options.trees,
            "confidence": options.confidence,
            "seed": options.seed,
        },
        "svr": {"C": found.c, "gamma": found.gamma},
        "validation": {
            "folds": 10,
            "r2": _number(overall["r2"]),
            "r2_as_the_paper": _number(paper),
            "kept": _number(overall["kept"]),
            "within_kept": _number(overall["within_kept"]),
        },
        "groups": len(groups_of(runs)),
    }


def _number(value: float) -> float | None:
    return None if pd.isna(value) else round(float(value), 6)


def _digest(runs: pd.DataFrame) -> str:
    text = runs[list(COLUMNS)].to_csv(index=False, float_format="%.17g")
    return hashlib.sha256(text.encode()).hexdigest()
