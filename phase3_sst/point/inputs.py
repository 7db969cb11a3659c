"""Checks a point's inputs, and an engine's results against the point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from manynode.errors import InputError
from manynode.timing_profile import TimingProfile

if TYPE_CHECKING:
    import pandas as pd


def check_profile(path: Path, profile: TimingProfile, technique: str, application: str | None) -> None:
    """Raise :class:`InputError` when a timing profile has another technique or application than the point."""
    external = technique.startswith("ext")
    if profile.external != external:
        raise InputError(
            f"the timing profile is not for the technique {technique}",
            where=str(path),
            found=f"times of a node {'with' if profile.external else 'without'} external ranks",
            allowed=f"times of a node {'with' if external else 'without'} external ranks",
            remedy=f"give nodesim/timing-profile-{'ext' if external else 'no-ext'}.json",
        )
    if application is not None and profile.application.get("name") != application:
        raise InputError(
            "the timing profile is of another application",
            where=str(path),
            found=str(profile.application.get("name")),
            allowed=application,
            remedy="give the timing profile of this experiment",
        )


def check_ranks(table: pd.DataFrame, replicas: Sequence[int], ranks: int, where: Path) -> None:
    """Raise :class:`InputError` when a point's table of ranks lacks ranks of job 0 or has a duplicate row.

    ``table`` has the columns replica, job, rank, operation; each of ``replicas`` must have ranks 0 to ``ranks`` - 1.
    """

    def fault(found: str, allowed: str) -> InputError:
        return InputError(
            "a table of ranks cannot be used",
            where=str(where),
            found=found,
            allowed=allowed,
            remedy="delete the point's folder and run the experiment again",
        )

    keys = ["replica", "job", "rank", "operation"]
    if table.duplicated(keys).any():
        raise fault("a row twice", "one row for each replica, job, rank and operation")
    own = table[table["job"] == 0]
    counts = own.groupby("replica")["rank"].agg(["nunique", "min", "max"])
    if sorted(counts.index) != sorted(replicas):
        raise fault(f"replicas {sorted(map(int, counts.index))}", f"replicas {sorted(replicas)}, as in result.json")
    wrong = counts[(counts["nunique"] != ranks) | (counts["min"] != 0) | (counts["max"] != ranks - 1)]
    if len(wrong):
        replica = int(wrong.index[0])
        raise fault(f"{int(wrong['nunique'].iloc[0])} ranks in replica {replica}", f"ranks 0 to {ranks - 1}")
