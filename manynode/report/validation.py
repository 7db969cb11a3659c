"""The validation study in words, and its tables: errors by technique (Table 2), distance from what was measured."""

from __future__ import annotations

from typing import Any

import pandas as pd

from manynode.report.campaign import campaign_sentences
from manynode.report.figure import rows_of
from manynode.report.load import BY_COMPLETENESS, Inputs, at_point
from manynode.report.wording import count, duration, listing, percent, signed

_COMPUTE, _ALL_MPI = "compute", "all MPI"
# Parts that differ by less than this share of the run get no sentence.
_SMALL = 0.005


def validation_sentences(inputs: Inputs) -> list[str]:
    """Return the study in words, the answer first."""
    sentences: list[str] = []
    if inputs.validation is not None and inputs.validation_summary is not None:
        sentences = [
            _answer(inputs.validation, inputs.validation_summary),
            _order(inputs.validation, inputs.validation_summary),
            _ranks(inputs.validation_summary),
            _measurement(inputs),
            _region(inputs),
            _parts(inputs),
        ]
    return [sentence for sentence in [*sentences, *campaign_sentences(inputs)] if sentence]


def validated(inputs: Inputs) -> str:
    """Return the projection's error against measurements of a real machine, in a sentence or two."""
    if inputs.projection is None:
        return ""
    if inputs.validation is None or inputs.validation_summary is None:
        return (
            "The projection has not been compared with measurements of a real machine: the error of the models is not "
            "known here. The section 'validation' of an experiment makes this comparison (docs/how-to/validate.md)."
        )
    return f"{_answer(inputs.validation, inputs.validation_summary)} {_region(inputs)}".strip()


def mean_error(inputs: Inputs) -> float | None:
    """Return the mean absolute error of the most complete technique against measurements; None without any."""
    summary = inputs.validation_summary
    if inputs.validation is None or summary is None:
        return None
    return float(summary.loc[summary["technique"] == _best(inputs.validation), "mean_absolute"].iloc[0])


def _best(frame: pd.DataFrame) -> str:
    """Return the most complete technique in a table."""
    present = set(frame["technique"])
    return next(name for name in BY_COMPLETENESS if name in present)


def _answer(points: pd.DataFrame, summary: pd.DataFrame) -> str:
    technique = _best(points)
    row = summary[summary["technique"] == technique].iloc[0]
    own = points[points["technique"] == technique]
    number = len(own)
    if number == 1:
        only = own.iloc[0]
        verdict = "covers" if only["covers"] else "does not cover"
        return (
            f"Compared with the measurement at {count(int(only['nodes']), 'node')}, {technique} is off by "
            f"{signed(only['error'])}; its interval {verdict} the measured mean."
        )
    nodes = listing([str(int(n)) for n in own["nodes"]])
    return (
        f"Compared with measurements at {nodes} nodes, {technique} is off by {percent(row['mean_absolute'])} on "
        f"average and by {percent(row['worst_absolute'])} at worst, at {count(int(row['worst_nodes']), 'node')}. Its "
        f"interval covers the measured mean at {row['covered']} of {number} node counts; the two intervals overlap at "
        f"{row['overlapping']}."
    )


def _order(points: pd.DataFrame, summary: pd.DataFrame) -> str:
    if len(summary) < 2:
        return ""
    found = list(summary["technique"])
    words = listing([f"{row.technique} {percent(row.mean_absolute)}" for row in summary.itertuples()])
    expected = [name for name in BY_COMPLETENESS if name in found]
    same = "the same order as" if found == expected else "not the order of"
    text = f"Mean errors, the smallest first: {words}; this is {same} the mean errors of Eyerman et al., Table 2."
    noise = float(((points["measured_high_s"] - points["measured_low_s"]) / 2 / points["measured_s"]).mean())
    spread = float(summary["mean_absolute"].max() - summary["mean_absolute"].min())
    if spread <= noise:
        text += (
            f" They differ by at most {percent(spread)}, less than half the measurement's interval "
            f"({percent(noise)}): this measurement cannot distinguish the techniques."
        )
    return text


def _ranks(summary: pd.DataFrame) -> str:
    known = summary.dropna(subset=["rank_correlation"])
    if known.empty:
        return ""
    if (known["rank_correlation"] == 1).all():
        return "All techniques put the node counts in the measured order of times (Kendall's tau 1)."
    words = listing([f"{row.technique} {row.rank_correlation:.2f}" for row in known.itertuples()])
    return f"Agreement with the measured order of times over the node counts (Kendall's tau, 1 is the same): {words}."


def _measurement(inputs: Inputs) -> str:
    points = inputs.validation
    assert points is not None
    parts = []
    single = sorted({int(n) for n in points.loc[points["runs"] < 2, "nodes"]})
    if single:
        parts.append(
            f"There is one run at {listing([str(n) for n in single])} nodes: its interval has no width, and the spread "
            "of the measurement is not known there."
        )
    measured = {int(run["nodes"]) for run in inputs.resolved["validation"]["measured"]}
    left = sorted(measured - {int(n) for n in points["nodes"]})
    if left:
        parts.append(f"Measured, but not projected: {listing([str(n) for n in left])} nodes.")
    return " ".join(parts)


def _region(inputs: Inputs) -> str:
    points, region = inputs.validation, inputs.validation_region
    if region is None or points is None:
        return ""
    technique = _best(points)
    own = region[region["technique"] == technique]
    first, last = int(points["nodes"].min()), int(points["nodes"].max())
    far = own.loc[own["doublings"].idxmax()]
    nodes, doublings = int(far["nodes"]), float(far["doublings"])
    if doublings <= 0:
        text = "No projection lies beyond the largest measured node count."
    else:
        text = (
            f"The projection at {count(nodes, 'node')} lies {doublings:.3g} doublings ({nodes / last:.3g} times) "
            f"beyond the largest measured node count, {last}."
        )
        summary = inputs.validation_summary
        assert summary is not None
        slope = float(summary.set_index("technique").loc[technique, "error_per_doubling"])
        if slope == slope:  # not NaN
            text += (
                f" From {first} to {last} nodes the ratio of {technique} to the measurement changed by {signed(slope)} "
                "per doubling. If this trend continued, the error would be "
                f"{signed(far['error_if_trend'])} "
                f"at {count(nodes, 'node')}. This is a warning: the projection is not corrected."
            )
    for what in ("machine", "network"):
        if far[f"{what}_measured"] != far[what]:
            text += (
                f" The measured {what} was {far[f'{what}_measured']}. The projected one is {far[what]}, for which "
                "nothing has been validated."
            )
    return text


def _parts(inputs: Inputs) -> str:
    parts = inputs.validation_breakdown
    if parts is None:
        return ""
    technique = _best(parts)
    nodes = int(parts["nodes"].max())
    own = at_point(parts, technique, nodes)
    single = own[own["operation"] != _ALL_MPI].dropna(subset=["measured_s"])
    if set(single["operation"]) == {_COMPUTE}:
        single = own.dropna(subset=["measured_s"])
    where = f"At {count(nodes, 'node')}"
    largest = single.loc[single["share"].abs().idxmax()]
    if abs(largest["share"]) < _SMALL:
        text = f"{where}, no operation of {technique} differs by more than {percent(_SMALL)} of the measured run."
    else:
        text = (
            f"{where}, {technique} is farthest off in {largest['operation']}: {duration(largest['projected_s'])} "
            f"projected, {duration(largest['measured_s'])} measured, {percent(abs(largest['share']))} of the run."
        )
    # Either not in the skeleton or without cost on this network: the tables do not show which.
    free = single[(single["projected_s"] == 0) & (single["measured_s"] > 0)]
    share = float(free["share"].abs().sum())
    if share >= _SMALL:
        names = listing([str(name) for name in free["operation"]])
        text += f" Measured, but without time in the projection: {names} ({percent(share)} of the run)."
    return text


def error_table(inputs: Inputs) -> dict[str, Any] | None:
    """Return Table 2: ``nodes`` and per technique its errors by node count, mean, worst and coverage; None without."""
    points, summary = inputs.validation, inputs.validation_summary
    if points is None or summary is None:
        return None
    nodes = sorted({int(n) for n in points["nodes"]})
    rows = [
        {
            **row,
            "errors": [_error(points, str(row["technique"]), n) for n in nodes],
        }
        for row in rows_of(summary)
    ]
    measured = points.drop_duplicates("nodes").set_index("nodes")["measured_s"]
    return {"nodes": nodes, "rows": rows, "measured": [float(measured[n]) for n in nodes]}


def _error(points: pd.DataFrame, technique: str, nodes: int) -> float | None:
    found = at_point(points, technique, nodes)["error"]
    return float(found.iloc[0]) if len(found) else None


def region_rows(inputs: Inputs) -> list[dict[str, Any]]:
    """Return the projected node counts with their distance from the measured ones, for the most complete technique."""
    region = inputs.validation_region
    if region is None or inputs.validation is None:
        return []
    technique = _best(inputs.validation)
    own = region[region["technique"] == technique].sort_values("nodes")
    return rows_of(own)
