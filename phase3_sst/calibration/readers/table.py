"""CSV of times by message size whose column names carry units: ``size (bytes),time (seconds)``.

The time is the column called time, latency or avg_time. The file does not name the measured quantity. Its name must
contain the name of a benchmark (``..._pingpong.csv``, ``osu_latency.csv``), and times are half round trips then.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from manynode.errors import InputError
from phase3_sst.calibration.readers import _csv
from phase3_sst.calibration.readers.interface import Row, as_table, number, readers, rising, size

if TYPE_CHECKING:
    import pandas as pd

_COLUMN = re.compile(r"(?P<name>[\w ]+?)\s*[(\[](?P<unit>[^)\]]+)[)\]]")
_SIZES = ("size", "bytes", "msg_size", "message size")
_TIMES = ("time", "latency", "avg_time", "average time")
_SECONDS = {"s": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "usec": 1e-6, "µs": 1e-6, "ns": 1e-9}
# Longer names first: "reduce" is within "allreduce".
_BENCHMARKS = {
    "pingpong": "pingpong",
    "ping-pong": "pingpong",
    "latency": "pingpong",
    "pingping": "pingping",
    **{
        name: name
        for name in ("reduce_scatter", "allgatherv", "allreduce", "allgather", "alltoallv", "alltoall", "gatherv")
    },
    **{name: name for name in ("scatterv", "barrier", "scatter", "gather", "reduce", "bcast")},
}


def _columns(text: str) -> dict[str, tuple[str, str]]:
    """Return name -> (whole column name, unit)."""
    found = {}
    for whole in _csv.header(text):
        if match := _COLUMN.fullmatch(whole):
            found[match["name"].strip().lower()] = (whole, match["unit"].strip())
    return found


@readers.register("table")
class TableReader:
    """Reads a table of sizes and times with units."""

    def recognises(self, text: str) -> bool:
        """Say whether there is a column of sizes with its unit."""
        return any(name in _columns(text) for name in _SIZES)

    def read(self, text: str, source: str) -> pd.DataFrame:
        """Return one row per line."""
        columns = _columns(text)
        sizes = next((columns[name] for name in _SIZES if name in columns), None)
        times = next((columns[name] for name in _TIMES if name in columns), None)
        if sizes is None or times is None:
            raise InputError(
                "a column is missing",
                where=f"{source}:1",
                found=", ".join(_csv.header(text)) or "an empty line",
                allowed="'size (bytes)', and 'time', 'latency' or 'avg_time' with a unit, such as 'time (seconds)'",
            )
        for (whole, unit), allowed in ((sizes, ["bytes", "B"]), (times, list(_SECONDS))):
            if unit not in allowed:
                raise InputError("unknown unit", where=f"{source}:1", found=whole, allowed=", ".join(allowed))
        measure = _measure(source)
        rows = [
            Row(
                measure,
                size(cells[sizes[0]], source, line),
                line,
                time_s=number(cells[times[0]], "the time", source, line) * _SECONDS[times[1]],
            )
            for line, cells in _csv.records(text, [sizes[0], times[0]], source)
        ]
        rising(rows, source)
        return as_table(rows, source)


def _measure(source: str) -> str:
    for word, measure in _BENCHMARKS.items():
        if word in source.lower():
            return measure
    raise InputError(
        "the file does not say what was measured",
        where=source,
        found="no name of a benchmark in the file's name",
        allowed=", ".join(_BENCHMARKS),
        remedy="rename the file, such as pingpong.csv for half round trips",
    )
