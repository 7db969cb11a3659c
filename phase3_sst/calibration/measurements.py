"""Reads files of measurements of any known format into one table of one cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from manynode import input_file
from manynode.errors import InputError, UsageError
from phase3_sst.calibration.readers.interface import readers

if TYPE_CHECKING:
    import pandas as pd

AUTO = "auto"


def read_measurements(paths: Sequence[Path], form: str = AUTO, cluster: str | None = None) -> pd.DataFrame:
    """Return the rows of all files (see ``readers/interface.py``) with a column ``source``, the file's name."""
    import pandas as pd

    if form != AUTO:
        readers.get(form)
    table = pd.concat([_read(path, form) for path in paths], ignore_index=True)
    return _of_one_cluster(table, cluster)


def _read(path: Path, form: str) -> pd.DataFrame:
    text = input_file.read_output(path, "a file of measurements")
    if not text.strip():
        raise InputError("a file of measurements is empty", where=str(path), found=f"{len(text)} characters")
    name = form if form != AUTO else _recognised(text, path)
    table = readers.get(name)().read(text, path.name)
    table["source"] = path.name
    return table


def _recognised(text: str, path: Path) -> str:
    names = [name for name in readers.names() if readers.get(name)().recognises(text)]
    if len(names) != 1:
        raise InputError(
            "the format is not known",
            where=str(path),
            found=f"first line: {text.strip().splitlines()[0][:100]!r}",
            allowed=", ".join(readers.names()),
            remedy="name the format with --format",
        )
    return names[0]


def _of_one_cluster(table: pd.DataFrame, cluster: str | None) -> pd.DataFrame:
    # Rows without a cluster (other formats) belong to the chosen one.
    known = sorted(set(table["cluster"]) - {""})
    if cluster is None and len(known) > 1:
        raise UsageError(
            "the measurements are of several clusters",
            found=", ".join(known),
            remedy=f"choose one, such as --cluster {known[0]}",
        )
    if cluster is not None and cluster not in known:
        raise UsageError("no measurements of this cluster", found=cluster, allowed=", ".join(known) or "none is named")
    return table if cluster is None else table[table["cluster"].isin([cluster, ""])].reset_index(drop=True)
