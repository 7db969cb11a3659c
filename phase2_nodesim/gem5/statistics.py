"""The board's statistics file -> one row per compute phase: rank, sequence of the call that ended it, counts.

In levels that both share, the board counts the misses of data and of code apart, as a CPI stack needs them. For users
they are one number (:func:`all_misses`), as with the engine qemu.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from manynode.errors import InputError

# The board notes the simulated time just after the guest took it: so far apart may what both say of a step be [ns].
_CLOSE_NS = 1000


def read_statistics(path: Path) -> pd.DataFrame:
    """Return the rows of a statistics file, columns as its first line says; a broken file is an :class:`InputError`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        columns = json.loads(lines[0])["columns"]
        rows = [json.loads(line) for line in lines[1:]]
        frame = pd.DataFrame(rows, columns=columns)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise InputError(
            "gem5's statistics cannot be read",
            where=str(path),
            found=str(error),
            remedy="run the node simulation again; phase2_nodesim/gem5/board/counts.py writes the file",
        ) from None
    return frame.astype({"rank": "int64", "sequence": "int64", "tick": "int64"})


def without_rows_beyond(counts: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the calls recorded by the markers, after checking that both have the same times."""
    joined = counts.merge(records[["rank", "sequence", "time_in_s"]], on=["rank", "sequence"], validate="one_to_one")
    joined = joined.sort_values(["rank", "sequence"], ignore_index=True)
    # From call to call: the few cycles that differ at each pause would add up. A rank's first call, MPI_Init, looks for
    # its settings between its own time and the mark.
    later = joined[joined["sequence"] > 0].groupby("rank")
    here = later["tick"].diff().dropna() * 1e-3
    there = later["time_in_s"].diff().dropna() * 1e9
    # The markers' step may be longer: a rank that sleeps puts its clock forward.
    apart = here - there
    wrong = joined.loc[apart.index[apart > _CLOSE_NS]]
    if len(wrong):
        row = wrong.iloc[0]
        raise InputError(
            "gem5's statistics and the markers describe different calls",
            where=f"rank {row['rank']:.0f}, MPI call {row['sequence']:.0f}",
            found=f"{here[wrong.index[0]]:.0f} ns after the call before in the statistics, "
            f"{there[wrong.index[0]]:.0f} ns in the markers",
            remedy="run the node simulation again; use an empty folder for each run",
        )
    return joined.drop(columns="time_in_s").reset_index(drop=True)


def all_misses(counts: pd.DataFrame) -> pd.DataFrame:
    """Return ``counts`` with the misses of the second and the last level by data and code together."""
    code = {name.replace("_code", ""): name for name in counts.columns if name.endswith("_code_misses")}
    both = {data: counts[data] + counts[name] for data, name in code.items()}
    return counts.drop(columns=list(code.values())).assign(**both)
