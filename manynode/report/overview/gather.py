"""The front page's entry of each experiment, from its results folder.

Out: an :class:`Entry` per experiment, and the table ``overview/1``: experiment, title, application, network, technique,
nodes, ranks, replicas, time_s, low_s, high_s, efficiency, iteration_s (times in seconds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from manynode.errors import InputError
from manynode.report.answer import answer
from manynode.report.draws import other_computation
from manynode.report.load import Inputs, load, opened
from manynode.report.waiting import oversubscribed
from manynode.report.wording import percent

SCHEMA = "overview/1"
OF_AN_EXPERIMENT = ["experiment", "title", "application", "network"]
OF_A_POINT = [
    *("technique", "nodes", "ranks", "replicas", "time_s", "low_s", "high_s", "efficiency", "iteration_s"),
]


@dataclass(frozen=True)
class Entry:
    """One experiment; ``problem`` says why there is no projection, and is empty when there is one."""

    name: str
    title: str
    application: str
    network: str
    sentences: list[str]
    report: bool
    problem: str
    digest: str
    seed: int | None
    projection: pd.DataFrame


def gather(results: Path, name: str, failure: str = "") -> Entry:
    """Return the entry of the experiment ``name`` below ``results``; ``failure`` is why it did not end."""
    try:
        with opened(results / name):
            inputs = load(results / name)
    except InputError as error:
        problem = failure or str(error).splitlines()[0]
        return Entry(name, name, "", "", [], False, problem, "", None, pd.DataFrame(columns=OF_A_POINT))
    experiment = inputs.experiment
    projection = pd.DataFrame(columns=OF_A_POINT) if inputs.projection is None else inputs.projection[OF_A_POINT]
    if experiment.application.name is None and not failure:
        problem = "no skeleton, so nothing was projected"
    else:
        problem = failure or ("not finished" if inputs.projection is None else "")
    return Entry(
        name=name,
        title=experiment.title or name,
        application=experiment.application.title,
        network=experiment.network.name,
        sentences=_sentences(inputs),
        report=(results / name / "report.html").is_file(),
        problem=problem,
        digest=inputs.digest,
        seed=experiment.seed,
        projection=projection,
    )


def table(entries: Sequence[Entry]) -> pd.DataFrame:
    """Return the projections of all experiments in one table."""
    frames = [
        entry.projection.assign(**{key: getattr(entry, "name" if key == "experiment" else key) for key in keys})
        for entry in entries
        if len(entry.projection)
        for keys in [OF_AN_EXPERIMENT]
    ]
    columns = [*OF_AN_EXPERIMENT, *OF_A_POINT]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def at_largest(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each experiment's largest node count."""
    if frame.empty:
        return frame
    return frame[frame["nodes"] == frame.groupby("experiment")["nodes"].transform("max")].reset_index(drop=True)


def gather_all(results: Path, names: Sequence[str], failures: Mapping[str, str]) -> list[Entry]:
    """Return the entries of ``names``, in their order."""
    return [gather(results, name, failures.get(name, "")) for name in names]


def _sentences(inputs: Inputs) -> list[str]:
    """Return the time at the largest node count, and the first sentences of the report's answer."""
    found = answer(inputs)
    if found is None or inputs.projection is None:
        return []
    own = inputs.projection[inputs.projection["technique"] == inputs.technique]
    row = own.loc[own["nodes"].idxmax()]
    efficiency = f", efficiency {percent(float(row['efficiency']))}" if len(own) > 1 else ""
    first = f"{found.figure}: {found.subject} ({inputs.technique}{efficiency})."
    warnings = [text for text in (other_computation(inputs.draws), oversubscribed(inputs)) if text]
    return [*warnings, first, *found.sentences[:2]]
