"""A model as a file: JSON with plain numbers, schema ``variability-model/1``. Reading one executes nothing.

Keys: about (provenance: versions, the digest and number of the training runs, options, results of the validation),
groups (application, nodes, runs, mean_s, deviation_s), features, centre, scale, lowest, highest (per feature), support
(a row per support vector), dual, intercept, gamma, factor, trees (left, right, feature, threshold, value per node).
Arrays are text with blanks between numbers, for a tenth of the lines. Prediction only needs
:mod:`phase3_sst.studies.congestion.variability.model`, not scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from manynode import tables
from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.counter_features import NAMES, NODES
from phase3_sst.studies.congestion.variability.model import Floats, Group, Learned, Model, Tree, Whole

SCHEMA = "variability-model/1"
_PER_FEATURE = ("centre", "scale", "lowest", "highest")


def write(path: Path, model: Model) -> None:
    """Write a model."""
    learned = model.learned
    content: dict[str, Any] = {
        "about": dict(model.about),
        "groups": [
            {
                "application": group.application,
                "nodes": group.nodes,
                "runs": group.runs,
                "mean_s": group.mean_s,
                "deviation_s": group.deviation_s,
            }
            for group in model.groups
        ],
        "features": list(learned.features),
        **{name: _text(getattr(learned, name)) for name in _PER_FEATURE},
        "support": [_text(row) for row in learned.support],
        "dual": _text(learned.dual),
        "intercept": learned.intercept,
        "gamma": learned.gamma,
        "factor": learned.factor,
        "trees": [
            {name: _text(getattr(tree, name)) for name in ("left", "right", "feature", "threshold", "value")}
            for tree in learned.trees
        ],
    }
    tables.write_json(path, SCHEMA, content)


def read(path: Path) -> Model:
    """Return the model at ``path``; a file that is damaged or no model is an :class:`InputError`."""
    content = tables.read_json(path, SCHEMA)
    content.pop("schema")
    try:
        return _model(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            "a model cannot be used", where=str(path), found=str(error), remedy="train the model again"
        ) from None


def _model(content: Mapping[str, Any]) -> Model:
    """Return the model; anything inconsistent is a ValueError."""
    features = [str(name) for name in content["features"]]
    unknown = [name for name in features if name not in (*NAMES, NODES)]
    if unknown or len(set(features)) != len(features) or not features:
        raise ValueError(f"features: {', '.join(unknown) or 'none, or one twice'}")
    width = len(features)
    per_feature = {name: _floats(content[name], width, name) for name in _PER_FEATURE}
    if not bool((per_feature["scale"] > 0).all()):
        raise ValueError("scale: not above 0")
    support = np.stack([_floats(row, width, "support") for row in content["support"]])
    learned = Learned(
        features=features,
        **per_feature,
        support=support,
        dual=_floats(content["dual"], len(support), "dual"),
        intercept=tables.finite(float(content["intercept"]), "intercept"),
        gamma=tables.finite(float(content["gamma"]), "gamma"),
        trees=[_tree(entry, width) for entry in content["trees"]],
        factor=tables.finite(float(content["factor"]), "factor"),
    )
    if not learned.trees:
        raise ValueError("trees: none")
    groups = [
        Group(str(g["application"]), int(g["nodes"]), int(g["runs"]), float(g["mean_s"]), float(g["deviation_s"]))
        for g in content["groups"]
    ]
    return Model(learned, groups, dict(content["about"]))


def _tree(entry: Mapping[str, str], width: int) -> Tree:
    left = _whole(entry["left"])
    count = len(left)
    right, feature = _whole(entry["right"], count), _whole(entry["feature"], count)
    place = np.arange(count)
    inner = left >= 0
    # Children come after their parents, which excludes endless loops.
    sound = (left > place) & (right > place) & (left < count) & (right < count)
    if not count or not bool((sound | (~inner & (right < 0))).all()):
        raise ValueError("trees: nodes do not form a tree")
    if bool(((feature < 0) | (feature >= width)).any()):
        raise ValueError("trees: an unknown feature")
    return Tree(
        left, right, feature, _floats(entry["threshold"], count, "threshold"), _floats(entry["value"], count, "value")
    )


def _text(values: Floats | Whole) -> str:
    return " ".join(repr(value) for value in values.tolist())


def _floats(text: str, count: int, name: str) -> Floats:
    values = np.array([float(word) for word in text.split()], dtype=np.float64)
    if len(values) != count or not bool(np.isfinite(values).all()):
        raise ValueError(f"{name}: {len(values)} numbers in place of {count}, or one that is not finite")
    return values


def _whole(text: str, count: int | None = None) -> Whole:
    values = np.array([int(word) for word in text.split()], dtype=np.int64)
    if count is not None and len(values) != count:
        raise ValueError(f"trees: {len(values)} nodes in place of {count}")
    return values
