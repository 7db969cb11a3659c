"""Compute phases by name: how often, how long, between which MPI calls and call sites, with which pattern."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from manynode.phase_names import short_call
from manynode.report.load import Inputs
from manynode.report.wording import pattern

MOST_SITES = 3


@dataclass(frozen=True)
class PhaseRow:
    """A compute phase; ``count`` and ``total_s`` are means per simulated rank.

    ``label`` is the short form of ``name``; ``whole_calls`` are the calls with their whole signatures.
    """

    name: str
    label: str
    count: float
    mean_s: float
    total_s: float
    calls: str
    whole_calls: str
    sites: list[str]
    pattern: str
    between_share: float | None


def phase_rows(inputs: Inputs) -> list[PhaseRow]:
    """Return the phases with the most time first, from the segments, else from the timing profile.

    The user's own times have none: the number of executions is not known.
    """
    mode = inputs.mode
    if mode is None or inputs.own_times is not None:
        return []
    segments = inputs.segments.get(mode)
    rows = _from_segments(inputs, segments) if segments is not None else _from_profile(inputs)
    return sorted(rows, key=lambda row: (-row.total_s, row.name))


def without_set_up(inputs: Inputs, rows: list[PhaseRow]) -> tuple[list[PhaseRow], list[PhaseRow]]:
    """Return the rows that are shown singly, and those of the set-up."""
    set_up = inputs.phase_labels.set_up
    return [row for row in rows if row.name not in set_up], [row for row in rows if row.name in set_up]


def _details(inputs: Inputs, name: str) -> tuple[str, float | None]:
    """Return pattern and share of the variance between ranks, of all classes that have the phase."""
    profile = inputs.profiles.get(inputs.mode or "")
    found = [(c.name, p) for c in profile.classes for p in c.phases if p.name == name] if profile else []
    if not found:
        return "", None
    texts = [pattern(phase) for _, phase in found]
    text = (
        texts[0]
        if len(set(texts)) == 1
        else "; ".join(f"class {c}: {words}" for (c, _), words in zip(found, texts, strict=True))
    )
    total = sum(phase.variance.total_s2 for _, phase in found)
    between = sum(phase.variance.between_ranks_s2 for _, phase in found)
    return text, between / total if total > 0 else None


def _from_segments(inputs: Inputs, segments: pd.DataFrame) -> list[PhaseRow]:
    frame = segments.assign(phase=segments["phase"].astype(str))
    ranks = max(1, frame["rank"].nunique())
    has_site = "call_site" in frame.columns
    rows = []
    for name, group in frame.groupby("phase", sort=True):
        pairs = group[["call_before", "call_after"]].astype(str).drop_duplicates()
        # A phase without a name of its own is named by its pair of calls: once is enough.
        calls = [
            (before, after)
            for before, after in pairs.itertuples(index=False)
            if f"{before} -> {after}" not in str(name)
        ]
        sites = [str(site) for site in group["call_site"].dropna().drop_duplicates()] if has_site else []
        # The calls mostly name their sites already, as in MPI_Waitall@app.cpp:91.
        sites = [site for site in sites if site and not any(site in word for word in (str(name), *sum(calls, ())))]
        words, between = _details(inputs, str(name))
        total = float(group["compute_s"].sum()) / ranks
        rows.append(
            PhaseRow(
                str(name),
                inputs.phase_labels.of(str(name)),
                len(group) / ranks,
                float(group["compute_s"].mean()),
                total,
                "; ".join(_cut([f"{short_call(before)} to {short_call(after)}" for before, after in calls])),
                "; ".join(f"{before} to {after}" for before, after in calls),
                _cut(sites),
                words,
                between,
            )
        )
    return rows


def _cut(words: list[str]) -> list[str]:
    rest = len(words) - MOST_SITES
    return words if rest <= 0 else [*words[:MOST_SITES], f"{rest:,} more"]


def _from_profile(inputs: Inputs) -> list[PhaseRow]:
    profile = inputs.profiles[inputs.mode or ""]
    counts: dict[str, float] = {}
    totals: dict[str, float] = {}
    ranks = len(profile.simulated_ranks)
    for part in profile.classes:
        # A class without simulated ranks of its own borrows the times of the others: they count once.
        for phase in [] if part.borrowed else part.phases:
            counts[phase.name] = counts.get(phase.name, 0.0) + phase.count / ranks
            totals[phase.name] = totals.get(phase.name, 0.0) + phase.count * phase.mean_s / ranks
    return [
        PhaseRow(
            name,
            inputs.phase_labels.of(name),
            counts[name],
            totals[name] / counts[name] if counts[name] else 0.0,
            totals[name],
            "",
            "",
            [],
            *details,
        )
        for name, details in ((name, _details(inputs, name)) for name in counts)
    ]
