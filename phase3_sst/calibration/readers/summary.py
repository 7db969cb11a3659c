"""CSV of single OSU results, ``Test,Ranks,Msg Size,Num Nodes,Result``, as acceptance reports list them.

A row may hold several sizes with as many results ("8B, 16 MB" and "345.55, 2477365.95 us"). Such a file has one or two
sizes per test: enough to check a machine file, but too few for a fit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from manynode.errors import InputError
from manynode.units import parse
from phase3_sst.calibration.readers import _csv
from phase3_sst.calibration.readers.interface import Row, as_table, readers

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("Test", "Ranks", "Msg Size", "Num Nodes", "Result")
_MEASURES = {
    "latency": "pingpong",
    "bw": "bandwidth",
    "bibw": "bidirectional-bandwidth",
    "mbw_mr": "message-rate",
}
_RESULT = re.compile(r"(?P<values>[\d., ]+?)\s*(?P<unit>us|ms|s|[kMG]?B/s)\s*")


@readers.register("summary")
class SummaryReader:
    """Reads single results of OSU tests."""

    def recognises(self, text: str) -> bool:
        """Say whether the header is that of such a list."""
        return {"Test", "Result"} <= set(_csv.header(text))

    def read(self, text: str, source: str) -> pd.DataFrame:
        """Return one row per size."""
        rows = []
        for line, cells in _csv.records(text, COLUMNS, source):
            name = cells["Test"].removeprefix("osu_")
            measure = _MEASURES.get(name, name)
            sizes = ["0 B"] if cells["Msg Size"] == "N/A" else cells["Msg Size"].split(",")
            result = _RESULT.fullmatch(cells["Result"])
            values = result["values"].split(",") if result else []
            if result is None or len(values) != len(sizes):
                raise InputError(
                    "the result does not fit the message size",
                    where=f"{source}:{line}",
                    found=f"{cells['Msg Size']!r} and {cells['Result']!r}",
                    allowed="as many numbers as sizes, then us, ms, s or MB/s",
                )
            for size_text, value in zip(sizes, values, strict=True):
                rows.append(_row(measure, size_text, f"{value} {result['unit']}", source, line))
        return as_table(rows, source)


def _row(measure: str, size_text: str, result: str, source: str, line: int) -> Row:
    try:
        bytes_ = round(parse(size_text, "size"))
        if result.endswith("B/s"):
            return Row(measure, bytes_, line, bandwidth_Bps=parse(result, "bandwidth"))
        return Row(measure, bytes_, line, time_s=parse(result, "time"))
    except ValueError as error:
        raise InputError("a result cannot be read", where=f"{source}:{line}", found=str(error)) from None
