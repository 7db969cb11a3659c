"""Marker records of ranks -> segments: one row per compute phase, named, with its time.

A compute phase lies between the end of one MPI call and the start of the next. Its name is the label from the
application's ``MPI_Pcontrol(1, "name")``. If the label comes from a region opened in an earlier phase, the name is the
region and the pair of calls, ``region/A -> B``. Without a label it is the pair of calls alone, such as
``MPI_Waitall@exchange_halo -> MPI_Irecv@exchange_halo``. All functions here are pure functions of tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from manynode.errors import InputError

SCHEMA = "segments/1"
COLUMNS = (
    "rank",
    "node",
    "sequence",
    "phase",
    "call_before",
    "call_after",
    "compute_s",
    "bytes",
    "peer",
    "call_site",
    "labelled",
    "warm_up",
)
_NEEDED = (
    "rank",
    "node",
    "sequence",
    "operation",
    "call_site_name",
    "peer",
    "bytes",
    "compute_s",
    "phase",
    "phase_inherited",
    "warm_up",
)


def segment_table(records: pd.DataFrame, detail: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the segments of ``records`` (columns as of :mod:`manynode.markers`), sorted by rank and sequence.

    The compute phase before a rank's first call (``MPI_Init``) is none. ``detail`` has rows for (rank, sequence) and
    columns of an engine; a ``compute_s`` among them takes the place of the host's own time. A segment that ``detail``
    lacks, and a time that is negative or not finite, is an :class:`InputError`. ``bytes``, ``peer`` and ``call_site``
    are those of the call after the phase.
    """
    missing = [name for name in _NEEDED if name not in records.columns]
    if missing:
        raise InputError(
            "marker records cannot be used",
            where="marker records",
            found=f"no column {', '.join(missing)}",
            remedy="read them with manynode.markers",
        )
    ordered = records.sort_values(["rank", "sequence"], kind="stable", ignore_index=True)
    # Concatenated ranks have categories of their own; plain strings are alike everywhere.
    site = ordered["call_site_name"].astype(str)
    call = ordered["operation"].astype(str) + "@" + site
    first = ordered["rank"].ne(ordered["rank"].shift())
    before = call.shift().fillna("").where(~first, "")
    pair = before + " -> " + call
    label = ordered["phase"].astype(str)
    labelled = label.ne("")
    inherited = labelled & ordered["phase_inherited"].astype(bool)
    name = pair.where(~labelled, label.where(~inherited, label + "/" + pair))
    table = pd.DataFrame(
        {
            "rank": ordered["rank"].astype(np.int64),
            "node": ordered["node"].astype(np.int64),
            "sequence": ordered["sequence"].astype(np.int64),
            "phase": name,
            "call_before": before,
            "call_after": call,
            "compute_s": ordered["compute_s"].astype(np.float64),
            "bytes": ordered["bytes"].astype(np.int64),
            "peer": ordered["peer"].astype(np.int64),
            "call_site": site,
            "labelled": labelled,
            "warm_up": ordered["warm_up"].astype(bool),
        }
    )
    table = table[~first].reset_index(drop=True)
    if detail is not None:
        table = _with_detail(table, detail)
    _check_times(table)
    return table


def check_complete(table: pd.DataFrame, where: str, ranks: Sequence[int] | None = None) -> None:
    """Raise :class:`InputError` where a rank's segments have a gap or come twice, or a rank of ``ranks`` has none."""

    def fault(found: str, allowed: str) -> InputError:
        return InputError(
            "a segments table cannot be used",
            where=where,
            found=found,
            allowed=allowed,
            remedy="delete the file and run the experiment again, which measures again",
        )

    ordered = table.sort_values(["rank", "sequence"], kind="stable")
    step = ordered.groupby("rank")["sequence"].diff().dropna()
    wrong = step[step != 1]
    if len(wrong):
        row = ordered.loc[wrong.index[0]]
        found = "twice" if wrong.iloc[0] == 0 else "after a gap"
        raise fault(
            f"segment {row['sequence']} of rank {row['rank']} {found}", "one segment for each MPI call but the first"
        )
    present = set(map(int, table["rank"].unique()))
    if ranks is not None and present != set(ranks):
        raise fault(f"segments of ranks {sorted(present)}", f"segments of ranks {sorted(ranks)}")


def _with_detail(table: pd.DataFrame, detail: pd.DataFrame) -> pd.DataFrame:
    """Add the engine's columns; its ``compute_s`` replaces the host's."""
    replaced = table.drop(columns="compute_s") if "compute_s" in detail.columns else table
    joined = replaced.merge(detail, on=["rank", "sequence"], how="left", validate="one_to_one", indicator="found_in")
    lost = joined[joined["found_in"] != "both"]
    if len(lost):
        example = lost.iloc[0]
        raise InputError(
            "the engine's output lacks compute phases",
            where=f"rank {example['rank']}, MPI call {example['sequence']} ({example['call_after']})",
            found=f"{len(lost)} of {len(joined)} missing",
            remedy="run the node simulation again; use an empty folder for each run",
        )
    joined = joined.drop(columns="found_in")
    rest = [name for name in joined.columns if name not in COLUMNS]
    return joined[[*COLUMNS, *rest]]


def _check_times(table: pd.DataFrame) -> None:
    wrong = table[~(np.isfinite(table["compute_s"]) & (table["compute_s"] >= 0))]
    if len(wrong):
        example = wrong.iloc[0]
        raise InputError(
            "a compute time is negative or not finite",
            where=f"rank {example['rank']}, MPI call {example['sequence']} ({example['call_after']})",
            found=f"{example['compute_s']} s",
            remedy="record the run again",
        )
