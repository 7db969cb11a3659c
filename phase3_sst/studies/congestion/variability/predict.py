"""Estimates the variability of a user's own run with its error, or gives the reason for a refusal.

In: a model, the run's counters (``router-counters/1`` or real files), its nodes, its application if the model knows it,
its run time if known. Out: a :class:`Prediction` and its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from manynode.errors import UsageError, nearest
from phase3_sst.studies.congestion.counters.counter_features import NODES, features
from phase3_sst.studies.congestion.counters.counter_table import Counters
from phase3_sst.studies.congestion.variability.model import Group, Model

CALM = 0.5
"""A run within this many standard deviations of the mean counts as typical (the paper: -0.05 and -0.07)."""


@dataclass(frozen=True)
class Prediction:
    """Estimate and bound [standard deviations of run time]; ``refused`` is the reason for a missing prediction, else
    None.

    ``asked_for`` is the application with its nodes, whose ``group`` may be unknown.
    """

    estimate: float
    bound: float
    forest: float
    refused: str | None
    unlike_training: Sequence[str]
    group: Group | None
    run_time_s: float | None
    asked_for: str | None = None


def routers_of(counters: Counters, nodes: Sequence[str], routers: Sequence[str]) -> list[str]:
    """Return the routers of a run's nodes; names without counters are a :class:`UsageError`."""
    present = set(counters.table["router"])
    host = counters.table[(counters.table["port_class"] == "host") & (counters.table["peer"] != "")]
    attached = {**dict(zip(host["peer"], host["router"], strict=True)), **counters.router_of_node}
    found = set(routers)
    for node in nodes:
        own = attached.get(node) or attached.get(f"host-{node}")
        if own is None:
            near = nearest(node, attached)
            raise UsageError(
                "the counters do not name the router of a node",
                where="--nodes",
                found=node,
                allowed=f"{len(attached)} nodes, such as {', '.join(sorted(attached)[:3])}" if attached else "none",
                remedy=f"did you mean {near!r}?" if near else "name the routers themselves with --routers",
            )
        found.add(own)
    missing = sorted(found - present)
    if missing:
        raise UsageError(
            "a router of the run has no counters",
            where="--routers",
            found=f"{missing[0]}, and {len(missing) - 1} more" if len(missing) > 1 else missing[0],
            allowed=f"{len(present)} routers, such as {', '.join(sorted(present)[:3])}",
        )
    return sorted(found) if nodes or routers else sorted(present)


def predict(
    model: Model,
    counters: Counters,
    *,
    routers: Sequence[str],
    nodes: int,
    application: str | None = None,
    run_time_s: float | None = None,
) -> Prediction:
    """Return the prediction for a run on ``nodes`` nodes that are attached to ``routers``."""
    frame = pd.DataFrame([{NODES: nodes, **features(counters.table, routers)}])
    said = model.learned.estimates(frame)
    group = None
    if application is not None:
        known = sorted({group.application for group in model.groups})
        if application not in known:
            near = nearest(application, known)
            raise UsageError(
                "the model was not trained on this application",
                where="--application",
                found=application,
                allowed=", ".join(known),
                remedy=f"did you mean {near!r}?" if near else "leave it out: the estimate then has no seconds",
            )
        group = model.group(application, nodes)
    estimate, bound, forest = float(said.estimate[0]), float(said.bound[0]), float(said.forest[0])
    refused = None
    if not bool(said.kept[0]):
        refused = (
            f"the two models disagree: the support vector regression says {estimate:+.2f}, the random forest "
            f"{forest:+.2f}, further apart than the error of {bound:.2f}; the model has too few runs like this one"
        )
    unlike = model.learned.unlike_training(frame)[0]
    asked_for = None if application is None else f"{application} on {nodes} nodes"
    return Prediction(estimate, bound, forest, refused, unlike, group, run_time_s, asked_for)


def words(prediction: Prediction, model: Model) -> list[str]:
    """Return the prediction in sentences, the answer first."""
    if prediction.refused is not None:
        lines = [f"no prediction: {prediction.refused}"]
    else:
        lines = [f"variability estimate: {prediction.estimate:+.2f} +/- {prediction.bound:.2f} standard deviations"]
        lines.append(_meaning(prediction.estimate, prediction.bound))
    lines += [f"beyond the training runs: {what}" for what in prediction.unlike_training]
    group = prediction.group
    if group is not None:
        usual = f"{group.application} on {group.nodes} nodes usually takes {group.mean_s:.6g} s"
        lines.append(f"{usual} (standard deviation {group.deviation_s:.3g} s, {group.runs} runs)")
        if prediction.refused is None:
            low, high = (
                group.mean_s + group.deviation_s * (prediction.estimate + sign * prediction.bound) for sign in (-1, 1)
            )
            lines.append(f"under these conditions {low:.6g} to {high:.6g} s are to be expected")
    elif prediction.asked_for is not None:
        lines.append(f"no seconds: the model has no runs of {prediction.asked_for}")
    if prediction.run_time_s is not None:
        lines += _observed(prediction, group)
    return lines


def _observed(prediction: Prediction, group: Group | None) -> list[str]:
    if group is None:
        return ["the run time cannot be judged: the model has no runs of this application on this many nodes"]
    found = (float(prediction.run_time_s or 0.0) - group.mean_s) / group.deviation_s
    line = f"the run took {prediction.run_time_s:.6g} s: {found:+.2f} standard deviations"
    if prediction.refused is not None:
        return [line]
    rest = found - prediction.estimate
    if abs(rest) <= prediction.bound:
        return [f"{line}, which its network conditions explain"]
    return [f"{line}, {abs(rest):.2f} {'more' if rest > 0 else 'less'} than its network conditions explain"]


def _meaning(estimate: float, bound: float) -> str:
    if abs(estimate) <= CALM:
        return "typical conditions: the run time represents this application"
    how = "unfavourable" if estimate > 0 else "favourable"
    sure = "" if abs(estimate) > bound else ", though typical ones are within the error"
    return f"{how} conditions{sure}: do not take the run time for a typical one"
