"""Segments with the time that ranks waited for a core -> the entry in a timing profile, and a warning."""

from __future__ import annotations

import numpy as np
import pandas as pd

from manynode.waiting import LIMIT, Waiting

COLUMN = "waited_s"
"""Of a segment: how long its rank was runnable and did not run [s]; not a number where the kernel does not say."""


def waited_seconds(records: pd.DataFrame) -> pd.Series:
    """Return the column from marker records: at most the wall time of the phase.

    A thread that began to wait inside the MPI call before is counted by the kernel when it runs again.
    """
    if "waited_ns" not in records.columns:
        return pd.Series(np.nan, index=records.index)
    return pd.Series(np.minimum(records["waited_ns"] * 1e-9, records["compute_s"]), index=records.index)


def of_host(segments: pd.DataFrame) -> bool:
    """Return whether the times in ``segments`` are those of a host, whose engine counts what ranks waited."""
    return COLUMN in segments.columns


def waiting_of(segments: pd.DataFrame, *, counted: bool) -> Waiting | None:
    """Return the waiting in ``segments``; None for an engine whose times do not come from a host."""
    if not of_host(segments):
        return None
    known = segments[segments[COLUMN].notna()]
    waited = float(known[COLUMN].sum())
    elapsed = float(known["compute_s"].sum()) + (0.0 if counted else waited)
    share = min(1.0, waited / elapsed) if len(known) == len(segments) and elapsed > 0 else None
    return Waiting(share=share, counted=counted)


def mean_waited_s(segments: pd.DataFrame) -> float | None:
    """Return the mean time waited in an execution [s], or None if it is not known."""
    if not of_host(segments) or segments[COLUMN].isna().any():
        return None
    return float(segments[COLUMN].mean())


def waiting_warning(waiting: Waiting | None, what: str) -> str | None:
    """Return a warning about the measured times, or None."""
    if waiting is None or waiting.share is None or not waiting.oversubscribed:
        return None
    return (
        f"{what}: ranks were runnable and did not run for {100 * waiting.share:.0f} % of their compute time (allowed: "
        f"{100 * LIMIT:.0f} %); these times are those of an oversubscribed host, not of the machine. Measure on a host "
        "with a core for each thread of the job and nothing beside it; or, with one thread a rank, set "
        "'nodesim: clock: processor'; or, where one node fits the host, 'nodesim: turns: true'"
    )
