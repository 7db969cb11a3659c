"""The sensitivity study in words, and its table of knees."""

from __future__ import annotations

from typing import Any

import pandas as pd

from manynode.report.figure import rows_of
from manynode.report.load import BY_COMPLETENESS, Inputs
from manynode.report.wording import count, duration, percent


def knee_rows(inputs: Inputs) -> list[dict[str, Any]]:
    """Return the rows of the table of knees."""
    if inputs.sensitivity_knees is None:
        return []
    return rows_of(inputs.sensitivity_knees)


def sensitivity_sentences(inputs: Inputs) -> list[str]:
    """Return the study in words for the most complete technique at its largest node count, a sentence per parameter."""
    points = inputs.sensitivity
    if points is None:
        return []
    present = set(points["technique"])
    technique = next(name for name in BY_COMPLETENESS if name in present)
    nodes = int(points["nodes"].max())
    where = f"{technique} on {count(nodes, 'node')}"
    own = points[(points["technique"] == technique) & (points["nodes"] == nodes)]
    first, last = own.loc[own["time_s"].idxmin()], own.loc[own["time_s"].idxmax()]
    sentences = [
        f"The study has {count(points['variant'].nunique(), 'variant')}. The shortest time of {where} is "
        f"{duration(first['time_s'])} ({_setting(first)}). The longest is {duration(last['time_s'])} "
        f"({_setting(last)}), {last['time_s'] / first['time_s']:.3g} times as long."
    ]
    if last["time_s"] <= (1 + inputs.experiment.relevant_difference) * first["time_s"]:
        return [*sentences, "No parameter of the study makes a difference that matters."]
    knees = inputs.sensitivity_knees
    if knees is not None:
        chosen = knees[(knees["technique"] == technique) & (knees["nodes"] == nodes)]
        sentences += [_sentence(name, rows, inputs) for name, rows in chosen.groupby("parameter", sort=False)]
    indices = inputs.sensitivity_indices
    if indices is not None:
        chosen = indices[(indices["technique"] == technique) & (indices["nodes"] == nodes)]
        ranked = chosen.sort_values("total", ascending=False)
        words = ", ".join(f"{row.parameter} {row.total:.2f}" for row in ranked.itertuples())
        sentences.append(f"Total Sobol indices: {words}.")
    return sentences


def _setting(row: pd.Series[Any]) -> str:
    names = [str(name).removesuffix(", written") for name in row.index if str(name).endswith(", written")]
    return ", ".join(f"{name} {row[f'{name}, written']}" for name in names)


def _sentence(name: object, rows: pd.DataFrame, inputs: Inputs) -> str:
    """Return the sentence on one parameter, from the curve that it moves most."""
    row = rows.loc[(rows["worst_s"] / rows["best_s"]).idxmax()]
    at = f" (at {row['others']})" if row["others"] else ""
    gain = row["worst_s"] / row["best_s"] - 1
    if gain <= inputs.experiment.relevant_difference:
        return f"{name}: the values change the time by at most {percent(gain)}; the parameter does not matter here."
    share = percent(inputs.resolved["sensitivity"]["enough"])
    bend = f" The curve bends most at {row['knee']}." if row["knee"] else " The curve has no knee within these values."
    return (
        f"{name}: moves the time by up to {percent(gain)}{at}; from {row['enough']} on, no value saves more than "
        f"{share}.{bend}"
    )
