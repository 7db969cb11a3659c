"""The parts of the projection's interval in words, and as a table: replicas, samples of the timing profile, both."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from manynode.report.load import Inputs, at_point
from manynode.report.wording import count, duration, interval, percent


@dataclass(frozen=True)
class PartsRow:
    """One point: its time and the parts of its interval, as text."""

    technique: str
    nodes: int
    time: str
    replicas: str
    profile: str
    both: str


def parts_rows(inputs: Inputs) -> list[PartsRow]:
    """Return the points in the order of the projection; none where the timing profile was not resampled."""
    parts = inputs.interval_parts
    if parts is None or parts.empty or inputs.projection is None:
        return []
    rows = []
    for point in inputs.projection.itertuples():
        own = at_point(parts, str(point.technique), int(point.nodes)).set_index("part")
        if not own.empty:
            words = {str(name): _limits(float(point.time_s), own.loc[name]) for name in own.index}
            rows.append(PartsRow(str(point.technique), int(point.nodes), duration(float(point.time_s), 4), **words))
    return rows


def _limits(time_s: float, part: pd.Series) -> str:  # type: ignore[type-arg]
    return interval(time_s, float(part["low_s"]), float(part["high_s"]))[1]


def parts_words(inputs: Inputs) -> str:
    """Return what the parts say of the most complete technique at its largest node count."""
    parts, technique = inputs.interval_parts, inputs.technique
    if technique is None or inputs.projection is None:
        return ""
    if parts is None or parts.empty:
        return (
            "The interval does not cover the limited samples of the timing profile. With 'simulate: "
            "profile_bootstrap' the report shows what they add."
        )
    own = inputs.projection[inputs.projection["technique"] == technique]
    nodes = int(own["nodes"].max())
    time_s = float(at_point(own, technique, nodes)["time_s"].iloc[0])
    found = at_point(parts, technique, nodes).set_index("part")
    confidence = percent(inputs.experiment.simulate.confidence)

    def width(part: str) -> str:
        return percent((float(found.loc[part, "high_s"]) - float(found.loc[part, "low_s"])) / 2 / time_s)

    both = found.loc["both"]
    bias = float(found.loc["profile", "bias_s"])
    text = (
        f"The {confidence} interval of {technique} on {count(nodes, 'node')} is {width('replicas')} either way from "
        f"the replicas, {width('profile')} from the limited samples in the timing profile, and {width('both')} from "
        f"both together: {interval(time_s, float(both['low_s']), float(both['high_s']))[1]}."
    )
    if abs(bias) > 1e-9 * time_s:
        direction = "more" if bias > 0 else "less"
        text += f" So few samples project {percent(abs(bias) / time_s)} {direction}; this bias is subtracted."
    if float(found.loc["profile", "dof"]) < 3:
        text += " The interval is wide because few ranks were simulated: the spread between ranks is hardly known."
    return text
