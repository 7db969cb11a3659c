"""The table of runs, ``variability-runs/1``: simulated or measured runs to train a model on.

Columns: run (name), application, nodes, run_time_s [s], and the 25 statistics of the run's counters
(:mod:`phase3_sst.studies.congestion.counters.counter_features`); simulated runs also have background_jobs and
background_nodes, which models ignore. A CSV file with the same columns also works.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from manynode import input_file, tables
from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.counter_features import NAMES, NODES

SCHEMA = "variability-runs/1"
COLUMNS = ("run", "application", NODES, "run_time_s", *NAMES)
# Minimum runs of a group to standardise run times: 20 runs give the standard deviation within a sixth.
LEAST_OF_GROUP = 20
# Ten folds of ten. The paper's model reaches R2 0.62 with a tenth of its 2,000 runs, 0.79 with a quarter.
LEAST = 100
GROUP = ("application", NODES)


def read_runs(path: Path) -> pd.DataFrame:
    """Return the runs in a Parquet or CSV file; an unsuitable file is an :class:`InputError`."""
    if path.suffix == ".csv":
        text = io.StringIO(input_file.read_text(path, "a table of runs"))
        try:
            names = {"run": str, "application": str}
            frame = pd.read_csv(text, float_precision="round_trip", dtype=names, keep_default_na=False)
        except ValueError as error:
            found = str(error).splitlines()[0]
            raise InputError("a table of runs cannot be read", where=str(path), found=found) from None
    else:
        frame = tables.read_table(path, SCHEMA)
    return check(frame, str(path))


def check(frame: pd.DataFrame, where: str, columns: Sequence[str] = COLUMNS) -> pd.DataFrame:
    """Return ``frame``; missing columns, non-numeric values and run times of 0 are an :class:`InputError`."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(
            "a table of runs lacks columns", where=where, found=f"no {', '.join(missing[:6])}",
            allowed="run, application, nodes, run_time_s and the statistics of docs/how-to/congestion/counters.md",
        )  # fmt: skip
    for name in columns:
        if name in ("run", "application"):
            continue
        values = pd.to_numeric(frame[name], errors="coerce")
        wrong = ~np.isfinite(values.to_numpy(dtype=np.float64))
        wrong |= values.to_numpy() <= 0 if name in (NODES, "run_time_s") else False
        if bool(wrong.any()):
            row = frame[wrong].iloc[0]
            raise InputError(
                "a value of a run cannot be used",
                where=f"{where}: run {row['run']}: {name}",
                found=repr(row[name]),
                allowed="a number above 0" if name in (NODES, "run_time_s") else "a number",
            )
    return frame.reset_index(drop=True)


def trainable(frame: pd.DataFrame, where: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the usable runs, and text on the runs that were left out.

    Groups (an application on a number of nodes) with constant run times have no variability. Too few runs are an
    :class:`InputError` with the required number.
    """
    groups = frame.groupby(list(GROUP))["run_time_s"]
    still = groups.std(ddof=0).fillna(0.0) <= 1e-9 * groups.mean()
    size = groups.size()
    # A single run is constant too; "too few" is checked first.
    few = [(name, count) for name, count in size.items() if count < LEAST_OF_GROUP]
    if few:
        (application, nodes), count = few[0]
        raise InputError(
            "too few runs to train",
            where=where,
            found=f"{count} runs of {application} on {nodes} nodes, and {len(few) - 1} more groups with too few"
            if len(few) > 1
            else f"{count} runs of {application} on {nodes} nodes",
            allowed=f"at least {LEAST_OF_GROUP} of each application and number of nodes, {LEAST} in all",
            remedy=f"add {LEAST_OF_GROUP - count} runs of it, or leave it out",
        )
    notes = [
        f"{application} on {nodes} nodes is left out: its run time never changes"
        for (application, nodes), flag in still.items()
        if flag
    ]
    kept = frame[~pd.MultiIndex.from_frame(frame[list(GROUP)]).isin(still[still].index)].reset_index(drop=True)
    if len(kept) < LEAST:
        raise InputError(
            "too few runs to train",
            where=where,
            found=f"{len(kept)} runs" + "".join(f"; {note}" for note in notes),
            allowed=f"at least {LEAST} in all, {LEAST_OF_GROUP} of each application and number of nodes",
            remedy=f"add {LEAST - len(kept)} runs",
        )
    return kept, notes
