"""CSV of call durations: ``experiment,cluster,msg_size,duration``, one row per call or per mean of calls, any order.

``experiment`` is send, isend, recv or pingpong. The ping-pong's duration is the whole round trip, so half of it is
returned. The tables of Cornebize's platform calibration are made this way: a send of 100 MB takes half the time of its
ping-pong. A file in which the two are equal has half round trips already.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from manynode.errors import InputError
from phase3_sst.calibration.readers import _csv
from phase3_sst.calibration.readers.interface import Row, as_table, number, readers, size

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("experiment", "cluster", "msg_size", "duration")
EXPERIMENTS = ("send", "isend", "recv", "pingpong")
# Sends large enough to wait for the receiver; they take as long as the transfer.
_LARGE = 2**20


@readers.register("calls")
class CallsReader:
    """Reads durations of MPI calls."""

    def recognises(self, text: str) -> bool:
        """Say whether the header is that of call durations."""
        return {"experiment", "msg_size"} <= set(_csv.header(text))

    def read(self, text: str, source: str) -> pd.DataFrame:
        """Return one row per line."""
        rows = []
        for line, cells in _csv.records(text, COLUMNS, source):
            if cells["experiment"] not in EXPERIMENTS:
                raise InputError(
                    "unknown experiment",
                    where=f"{source}:{line}",
                    found=cells["experiment"],
                    allowed=", ".join(EXPERIMENTS),
                )
            rows.append(
                Row(
                    cells["experiment"],
                    size(cells["msg_size"], source, line),
                    line,
                    time_s=number(cells["duration"], "the duration", source, line),
                    processes=2,
                    cluster=cells["cluster"],
                )
            )
        share = 1.0 if _holds_halves(rows, source) else 0.5
        halved = [replace(row, time_s=row.time_s * share) if row.measure == "pingpong" else row for row in rows]
        return as_table(halved, source)


def _holds_halves(rows: list[Row], source: str) -> bool:
    """Return whether the ping-pongs are half round trips; decided by large sends of the same cluster and size."""
    sends = {(row.cluster, row.size_bytes): row.time_s for row in rows if row.measure == "send"}
    ratios = [
        row.time_s / sends[row.cluster, row.size_bytes]
        for row in rows
        if row.measure == "pingpong" and row.size_bytes >= _LARGE and sends.get((row.cluster, row.size_bytes), 0) > 0
    ]
    if not ratios:
        return False
    ratio = median(ratios)
    if 0.7 < ratio < 1.4 or 1.6 < ratio < 2.8:
        return ratio < 1.5
    raise InputError(
        "sends and ping-pongs contradict each other",
        where=source,
        found=f"a large ping-pong lasts {ratio:.2g} times a send of its size",
        allowed="about 2 (whole round trips) or about 1 (half round trips)",
    )
