"""The tables of several jobs on one machine: each job's own time, and its part of the load of each class of links."""

from __future__ import annotations

from typing import Any

import pandas as pd

from manynode.report.figure import rows_of
from manynode.report.load import Inputs, at_point


def job_rows(inputs: Inputs) -> list[dict[str, Any]]:
    """Return a row per job and node count of the most complete technique; none when there is one job only."""
    own = _own(inputs, inputs.jobs)
    if own is None:
        return []
    return rows_of(own)


def link_rows(inputs: Inputs) -> list[dict[str, Any]]:
    """Return a row per class of link and job at the largest node count; none when there is one job only."""
    own = _own(inputs, inputs.link_jobs)
    if own is None or inputs.technique is None:
        return []
    own = at_point(own, inputs.technique, int(own["nodes"].max()))
    total = own.groupby("class")["bytes"].transform("sum")
    own = own.assign(share=own["bytes"] / total).sort_values(["class", "bytes"], ascending=[True, False])
    return rows_of(own)


def _own(inputs: Inputs, frame: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return the rows of the report's technique if they have several jobs; else None."""
    if frame is None or inputs.technique is None or frame["job"].nunique() < 2:
        return None
    return frame[frame["technique"] == inputs.technique]
