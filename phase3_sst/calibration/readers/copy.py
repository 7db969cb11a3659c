"""CSV of memory copies, ``size,duration`` in bytes and seconds, any order: the cost of a message within a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phase3_sst.calibration.readers import _csv
from phase3_sst.calibration.readers.interface import Row, as_table, number, readers, size

if TYPE_CHECKING:
    import pandas as pd


@readers.register("copy")
class CopyReader:
    """Reads times of memory copies."""

    def recognises(self, text: str) -> bool:
        """Say whether the header is that of memory copies."""
        return _csv.header(text) == ["size", "duration"]

    def read(self, text: str, source: str) -> pd.DataFrame:
        """Return one row per line."""
        rows = [
            Row(
                "copy",
                size(cells["size"], source, line),
                line,
                time_s=number(cells["duration"], "the duration", source, line),
            )
            for line, cells in _csv.records(text, ("size", "duration"), source)
        ]
        return as_table(rows, source)
