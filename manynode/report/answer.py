"""The answer in words: projected time, interval, efficiency, what dominates, and what simpler techniques would say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from manynode.report import wording
from manynode.report.band import Band, band
from manynode.report.extrapolation import headline
from manynode.report.load import BY_COMPLETENESS, Inputs, at_point
from manynode.report.wording import change, count, duration, interval, listing, percent


@dataclass(frozen=True)
class Answer:
    """``figure`` is the one number, ``facts`` are label and value, ``sentences`` the rest."""

    figure: str
    subject: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


def answer(inputs: Inputs) -> Answer | None:
    """Return the projection at the largest node count for the most complete technique."""
    technique, projection = inputs.technique, inputs.projection
    if technique is None or projection is None:
        return None
    own = projection[projection["technique"] == technique]
    nodes = int(own["nodes"].max())
    row = _row(projection, technique, nodes)
    assert row is not None
    _, limits = interval(row["time_s"], row["low_s"], row["high_s"])
    around = band(inputs)
    # More digits than the models' errors leave would be no knowledge of the machine.
    time = duration(row["time_s"])
    if around is not None and around.low_s is not None and around.high_s is not None:
        time, _ = interval(row["time_s"], around.low_s, around.high_s)
    smallest = int(own["nodes"].min())
    facts = [
        *([(_errors(inputs), around.limits)] if around is not None else []),
        (f"{percent(inputs.experiment.simulate.confidence)} interval of the draws", limits),
        (
            "efficiency",
            percent(row["efficiency"]) + (f" against {count(smallest, 'node')}" if smallest < nodes else ""),
        ),
        ("per iteration", duration(row["iteration_s"])),
        ("technique", f"{technique}: {wording.technique(technique, inputs.own_times is not None)}"),
    ]
    sentences = [
        text
        for text in (
            _band_sentence(around),
            headline(row),
            _dominates(inputs, technique, nodes),
            _spread(inputs, technique, nodes),
            _simpler(inputs, projection, technique, nodes),
        )
        if text
    ]
    subject = (
        f"projected run time of {inputs.experiment.application.title} on {count(nodes, 'node')} with "
        f"{count(int(row['ranks']), 'rank')}"
    )
    return Answer(time, subject, facts, sentences)


def _errors(inputs: Inputs) -> str:
    return "known errors" if inputs.own_times is None else "known errors, without those of your compute times"


def technique_rows(inputs: Inputs) -> list[dict[str, Any]]:
    """Return the points of the answer's node count, the most complete technique first."""
    technique, projection = inputs.technique, inputs.projection
    if technique is None or projection is None:
        return []
    nodes = int(projection.loc[projection["technique"] == technique, "nodes"].max())
    rows = (_row(projection, name, nodes) for name in BY_COMPLETENESS)
    own_times = inputs.own_times is not None
    return [row | {"means": wording.technique(row["technique"], own_times)} for row in rows if row is not None]


def _band_sentence(around: Band | None) -> str:
    """Return the band of known errors with its parts."""
    if around is None:
        return ""
    return f"{around.headline()[:1].upper()}{around.headline()[1:]}."


def _row(projection: pd.DataFrame, technique: str, nodes: int) -> dict[str, Any] | None:
    found = at_point(projection, technique, nodes)
    return {str(key): value for key, value in found.iloc[0].items()} if len(found) else None


def _spread(inputs: Inputs, technique: str, nodes: int) -> str:
    """Return how iterations and ranks differ from each other."""
    row = None if inputs.iterations is None else _row(inputs.iterations, technique, nodes)
    if row is None or row["iterations"] == 0 or row["compute_s"] == 0:
        return ""
    slowest = row["slowest_compute_s"] / row["compute_s"] - 1
    return (
        f"Half of the iterations take at most {duration(row['p50_s'])}, 99 % at most {duration(row['p99_s'])}; the "
        f"slowest rank computes {percent(slowest)} longer than the mean one."
    )


def _dominates(inputs: Inputs, technique: str, nodes: int) -> str:
    if inputs.breakdown is None:
        return ""
    own = at_point(inputs.breakdown, technique, nodes)
    seconds = own.groupby("operation")["seconds"].sum().sort_values(ascending=False, kind="stable")
    total = float(seconds.sum())
    if total <= 0:
        return ""
    compute = float(seconds.get("compute", 0.0)) / total
    operations = [
        (str(name), float(value) / total) for name, value in seconds.items() if name != "compute" and value > 0
    ]
    parts = [f"{name} ({percent(share)})" for name, share in operations[:2]]
    largest = f", most of it in {listing(parts)}" if parts else ""
    winner = "Computation" if compute >= 0.5 else "Communication, with the waiting it brings,"
    shares = f"{percent(compute)} of their time computing and {percent(1 - compute)} in MPI"
    return f"{winner} dominates: ranks spend {shares}{largest}."


def _simpler(inputs: Inputs, projection: pd.DataFrame, technique: str, nodes: int) -> str:
    """Say how constant timings and a node without external ranks would have changed the projection."""
    this = _row(projection, technique, nodes)
    assert this is not None
    alone = "without external ranks" if inputs.own_times is None else "with the times of a node that runs alone"
    parts: list[tuple[str, str]] = []
    for other, words in (
        (technique.replace("-var", "-const"), "with constant compute times"),
        ("no-" + technique if not technique.startswith("no-") else technique, alone),
        ("no-ext-const", "with both" if inputs.own_times is not None else "with neither"),
    ):
        row = _row(projection, other, nodes)
        if row is not None and other != technique and all(other != known for known, _ in parts):
            difference = change(row["time_s"], this["time_s"])
            parts.append((other, f"{duration(row['time_s'])} {words} ({other}: {difference})"))
    return f"Simpler techniques would have projected {listing([text for _, text in parts])}." if parts else ""
