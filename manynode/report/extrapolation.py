"""Sentences about points whose iterations were not all simulated (``simulate: converge``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from manynode.report.load import Inputs
from manynode.report.wording import count, duration, listing, percent

_MOST_REASONS = 5


def headline(row: Mapping[str, Any]) -> str:
    """Return a sentence for the answer when its point, a row of the projection, was extrapolated; else nothing."""
    if not row.get("extrapolated", False):
        return ""
    return (
        f"The time is extrapolated (simulated: {row['iterations']}). This adds {duration(row['extrapolation_s'])} "
        f"to either side ({percent(row['extrapolation_s'] / row['time_s'])}). The interval includes it."
    )


def extrapolation(inputs: Inputs) -> str:
    """Return which points were extrapolated, with which error, and why others were not; empty without ``converge``."""
    if not inputs.resolved.get("simulate", {}).get("converge"):
        return ""
    found = [
        text
        for frame, of in ((inputs.projection, "the projection"), (inputs.sensitivity, "the sensitivity study"))
        if frame is not None and "extrapolated" in frame
        for text in _of(frame, of)
    ]
    if not found:
        return ""
    return " ".join(found) + (
        " Makespans, seconds of ranks, messages and loads of links cover all iterations. Longest queues and the time "
        "of an iteration cover the simulated ones."
    )


def _of(frame: pd.DataFrame, of: str) -> list[str]:
    """Return the sentences about one table of points."""
    chosen = frame["extrapolated"].astype(bool)
    sentences = [
        f"{int(chosen.sum())} of {count(len(frame), 'point')} of {of} were extrapolated from fewer iterations."
    ]
    if chosen.any():
        shares = frame.loc[chosen, "extrapolation_s"] / frame.loc[chosen, "time_s"]
        sentences.append(f"This adds at most {percent(float(shares.max()))} of the time to either side.")
    reasons = frame.loc[~chosen, "iterations"].str.replace(r"^all \d+: ", "", regex=True).drop_duplicates()
    if len(reasons):
        shown = listing([f"“{reason}”" for reason in reasons[:_MOST_REASONS]])
        rest = len(reasons) - _MOST_REASONS
        more = f", and {count(rest, 'reason')} more" if rest > 0 else ""
        sentences.append(f"The others were simulated whole: {shown}{more}.")
    return sentences
