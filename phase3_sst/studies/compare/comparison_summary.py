"""Summarises a comparison: for every two engines, their differences and where they are largest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from phase3_sst.studies.compare.link_loads import SINGLE
from phase3_sst.studies.compare.tables_of_pairs import SAME_COMPUTE_S, Tables

KEY = ["engine", "reference"]


@dataclass(frozen=True)
class PairSummary:
    """Two engines over all points; differences are relative to the reference. NaN: not available."""

    engine: str
    reference: str
    points: int
    median: float
    worst: float
    worst_point: str
    compute_s: float
    compute_where: str
    pearson_least: float
    pearson_median: float
    same_loads: int

    @property
    def same_compute(self) -> bool:
        """Whether every rank computes for the same time in both."""
        return self.compute_s < SAME_COMPUTE_S

    def sentences(self) -> list[str]:
        """Return the summary as sentences."""
        said = [
            f"makespan of {self.engine} against {self.reference}: {self.median:.2%} apart in the median of "
            f"{self.points} points, at most {self.worst:+.2%} ({self.worst_point})",
            f"compute seconds per rank: {'equal' if self.same_compute else 'NOT EQUAL'}, at most "
            f"{self.compute_s * 1e9:.3g} ns apart" + ("" if self.same_compute else f" ({self.compute_where})"),
        ]
        if not math.isnan(self.pearson_least):
            said.append(
                f"bytes of single links: correlation (Pearson) {self.pearson_median:.4f} in the median, "
                f"{self.pearson_least:.4f} at least"
            )
        if self.same_loads:
            said.append(
                f"bytes of single links: all equal within an engine at {self.same_loads} points, no correlation"
            )
        return said


def summaries(found: Tables, pairs: Sequence[tuple[str, str]]) -> list[PairSummary]:
    """Return the summary of each pair (engine, reference)."""
    return [_summary(found, engine, reference) for engine, reference in pairs]


def of_pair(frame: pd.DataFrame, engine: str, reference: str) -> pd.DataFrame:
    """Return the rows of one pair."""
    return frame[(frame["engine"] == engine) & (frame["reference"] == reference)]


def _summary(found: Tables, engine: str, reference: str) -> PairSummary:
    spans = of_pair(found.makespans, engine, reference)
    worst = spans.loc[spans["difference"].abs().idxmax()]
    compute = of_pair(found.compute, engine, reference)
    most = compute.loc[compute["largest_s"].idxmax()]
    links = of_pair(found.links, engine, reference)
    links = links[links["level"] == SINGLE] if len(links) else links
    # Over all classes, or the only class.
    whole = links.groupby(["technique", "nodes"], sort=False).tail(1)
    known = whole["pearson"].dropna() if len(whole) else pd.Series(dtype=float)
    return PairSummary(
        engine,
        reference,
        len(spans),
        float(spans["difference"].abs().median()),
        float(worst["difference"]),
        f"{worst['technique']} on {worst['nodes']} nodes",
        float(most["largest_s"]),
        f"{most['technique']} on {most['nodes']} nodes, {most['whose']}",
        float(known.min()) if len(known) else math.nan,
        float(known.median()) if len(known) else math.nan,
        int(whole["pearson"].isna().sum()) if len(whole) else 0,
    )
