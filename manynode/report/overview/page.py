"""Several experiments -> one front page, made like the report: offline, figures with their data, no remote loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from manynode import tables
from manynode.report.figure import rows_of
from manynode.report.overview import figures
from manynode.report.overview.gather import SCHEMA, Entry, at_largest, gather_all, table
from manynode.report.page import fill
from manynode.report.wording import count, listing


def experiments_in(directory: Path) -> list[str]:
    """Return the names of the experiments whose results lie in ``directory``; none for a results folder itself."""
    if (directory / "experiment.json").is_file():
        return []
    return sorted(path.parent.name for path in directory.glob("*/experiment.json"))


def build_overview(
    results: Path, names: Sequence[str], output: Path, failures: Mapping[str, str] | None = None
) -> None:
    """Write the front page of the experiments ``names`` below ``results``, and its table as Parquet and CSV beside it.

    ``failures``: name of an experiment -> why it did not end. The same results give the same bytes.
    """
    entries = gather_all(results, names, failures or {})
    frame = table(entries)
    stem = output.parent / "overview"
    tables.write_table(stem.with_suffix(".parquet"), SCHEMA, frame)
    with tables.replacing(stem.with_suffix(".csv")) as part:
        frame.to_csv(part, index=False)
    with tables.replacing(output) as part:
        part.write_text(_render(entries, frame), encoding="utf-8", newline="\n")


def _render(entries: Sequence[Entry], frame: pd.DataFrame) -> str:
    applications = list(dict.fromkeys(entry.application for entry in entries if entry.application))
    networks = list(dict.fromkeys(entry.network for entry in entries if entry.network))
    parts = [listing(applications), f"network: {listing(networks)}" if networks else ""]
    return fill(
        "overview.html.j2",
        kind="manynode overview",
        title=count(len(entries), "experiment"),
        subtitle=" · ".join(part for part in parts if part),
        entries=entries,
        times=[figures.draw_times(entry) for entry in entries if len(entry.projection)],
        efficiency=figures.draw_efficiency(frame) if len(frame) else None,
        rows=rows_of(at_largest(frame)),
    )
