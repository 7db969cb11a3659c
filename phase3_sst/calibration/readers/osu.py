"""Reads the output of the OSU micro-benchmarks: ``# OSU MPI Latency Test v7.0``, a header, then rows of size and value.

Also the ports that print the same layout (mpi4py's demos). The title determines the quantity, because such a port
labels its MB/s "Latency [us]". Times are in microseconds, ``MB/s`` are 10^6 bytes a second. ``osu_latency`` prints half
a round trip. Launcher messages between the rows are skipped; of the columns with averages, minima and maxima, the first
(the average) is taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from manynode.errors import InputError
from phase3_sst.calibration.readers.interface import Row, as_table, number, readers, rising, size

if TYPE_CHECKING:
    import pandas as pd

_TITLE = re.compile(r"#\s*(?:OSU\s+)?MPI(?P<kind>[-_\w]*)\s+(?P<name>.*?)\s*Test\b", re.IGNORECASE)
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\d+)\s*\]")
_MICRO = 1e-6
_MEGA = 1e6


def _measure(name: str, kind: str) -> str:
    words = name.lower()
    if kind.startswith("_"):
        return f"{kind[1:].lower()} {words}"  # one-sided: "MPI_Put Latency Test"
    known = {
        "latency": "pingpong",
        "bandwidth": "bandwidth",
        "bi-directional bandwidth": "bidirectional-bandwidth",
        "multiple bandwidth / message rate": "message-rate",
    }
    return known.get(words, words.removesuffix(" latency").replace(" ", "-"))


@readers.register("osu")
class OsuReader:
    """Reads what osu_latency, osu_bw, osu_bibw, osu_mbw_mr and the collectives print."""

    def recognises(self, text: str) -> bool:
        """Say whether a title of an OSU benchmark is there."""
        return any(_TITLE.match(line) for line in text.splitlines())

    def read(self, text: str, source: str) -> pd.DataFrame:
        """Return the values of all benchmarks in ``text``."""
        rows: list[Row] = []
        block: list[Row] = []
        measure, pairs = "", 1
        for index, line in enumerate(text.splitlines(), start=1):
            line = line.strip()
            if title := _TITLE.match(line):
                rising(block, source)
                block = []
                measure, pairs = _measure(title["name"], title["kind"]), 1
            elif found := _PAIRS.match(line):
                pairs = int(found[1])
            elif line[:1].isdigit():
                if not measure:
                    raise InputError(
                        "a row without a title",
                        where=f"{source}:{index}",
                        found=line,
                        allowed="a line such as '# OSU MPI Latency Test v7.0' before the first row",
                    )
                row = _row(line.split(), measure, pairs, source, index)
                block.append(row)
                rows.append(row)
        rising(block, source)
        return as_table(rows, source)


def _row(cells: list[str], measure: str, pairs: int, source: str, line: int) -> Row:
    if measure == "barrier":
        return Row(measure, 0, line, time_s=number(cells[0], "the time", source, line) * _MICRO)
    if len(cells) < 2:
        raise InputError(
            "a row is cut off", where=f"{source}:{line}", found=" ".join(cells), allowed="a size and at least one value"
        )
    bytes_ = size(cells[0], source, line)
    value = number(cells[1], "the measured value", source, line)
    if measure == "message-rate":
        rate = number(cells[2], "the message rate", source, line) if len(cells) > 2 else value * _MEGA / bytes_
        return Row(measure, bytes_, line, bandwidth_Bps=value * _MEGA, messages_per_s=rate, processes=2 * pairs)
    if measure.endswith("bandwidth"):
        return Row(measure, bytes_, line, bandwidth_Bps=value * _MEGA, processes=2)
    return Row(measure, bytes_, line, time_s=value * _MICRO, processes=2 if measure == "pingpong" else 0)
