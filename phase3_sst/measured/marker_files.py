"""Turns a folder of marker files into a report: a run's time from the end of MPI_Init to the start of MPI_Finalize.

The markers library can be preloaded into any run on a real machine, as phase 2 does on this one. Its files have each
rank's time between MPI calls and in them.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pandas as pd

from manynode.config.validation import COMPUTE
from manynode.errors import InputError
from manynode.markers import read_marker_directory
from phase3_sst.measured.readers.interface import Report

_BEGIN, _END = ("MPI_Init", "MPI_Init_thread"), "MPI_Finalize"


def read_markers(directory: Path) -> Report:
    """Return the run whose markers are in ``directory``."""
    files = read_marker_directory(directory, resolve=False)
    longest = 0.0
    sums: dict[str, float] = defaultdict(float)
    for file in files:
        if file.metadata["incomplete"] or file.metadata["truncated"]:
            raise InputError(
                "a rank's markers do not cover its run",
                where=str(file.path),
                found="incomplete" if file.metadata["incomplete"] else "truncated",
                remedy="let the program reach MPI_Finalize, and raise the limit of the markers' records",
            )
        within = _within(file.records)
        longest = max(longest, float(within["time_in_s"].iloc[-1] - within["time_out_s"].iloc[0]))
        for name, value in _seconds(within).items():
            sums[name] += value
    nodes = {file.metadata["node"] for file in files}
    means = {name: value / len(files) for name, value in sums.items()}
    return Report(longest, len(files), len(nodes), means)


def _within(records: pd.DataFrame) -> pd.DataFrame:
    """Return the records of a rank from MPI_Init to MPI_Finalize."""
    operations = records["operation"].astype(str)
    begin = records.index[operations.isin(_BEGIN)]
    end = records.index[operations == _END]
    first = int(begin[0]) if len(begin) else int(records.index[0])
    last = int(end[-1]) if len(end) else int(records.index[-1])
    return records.loc[first:last]


def _seconds(within: pd.DataFrame) -> dict[str, float]:
    """Return a rank's seconds in computation and in each MPI operation between the two."""
    calls = within.iloc[1:-1]
    spent = (calls["time_out_s"] - calls["time_in_s"]).groupby(calls["operation"].astype(str), sort=True).sum()
    return {COMPUTE: float(within["compute_s"].iloc[1:].sum()), **{str(k): float(v) for k, v in spent.items()}}
