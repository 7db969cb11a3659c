"""Reads the output of the Intel MPI Benchmarks: a block ``# Benchmarking NAME`` for each, with a header that names the
columns.

``PingPong`` prints half a round trip. Times are in microseconds; of t_min, t_max and t_avg the average is taken, of a
size that is measured several times the median. Sizes without a value (time limit, memory, overflow) are left out.
Non-blocking collectives and those of several groups at once keep a name of their own.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from manynode.errors import InputError
from phase3_sst.calibration.readers.interface import Row, as_table, is_message, lines, number, readers, rising, size

if TYPE_CHECKING:
    import pandas as pd

_BENCHMARK = re.compile(r"#\s*Benchmarking\s+(\S+)")
_PROCESSES = re.compile(r"#\s*#processes\s*=\s*(\d+)")
_VALUES = ("time_s", "bandwidth_Bps", "messages_per_s")
_MEASURES = {"uniband": "message-rate", "biband": "bidirectional-bandwidth"}
_MICRO = 1e-6
# What IMB prints in place of values.
_FAILED = ("time-out", "out-of-mem", "int-overflow")


@readers.register("imb")
class ImbReader:
    """Reads what IMB-MPI1 prints."""

    def recognises(self, text: str) -> bool:
        """Say whether a block of these benchmarks is there."""
        return any(_BENCHMARK.match(line) for _, line in lines(text))

    def read(self, text: str, source: str) -> pd.DataFrame:
        """Return the values of all blocks in ``text``."""
        rows: list[Row] = []
        block: list[Row] = []
        measure, processes = "", 0
        header: list[str] = []
        for index, line in lines(text):
            words = line.split()
            if found := _BENCHMARK.match(line):
                rows += _medians(block, source)
                block, header, processes = [], [], 0
                measure = _MEASURES.get(found[1].lower(), found[1].lower())
            elif found := _PROCESSES.match(line):
                processes = int(found[1])
            elif "#repetitions" in words or "#bytes" in words:
                header = words
            elif line[:1].isdigit() and header and not _without_value(words, len(header)):
                block.append(_row(dict(_cells(header, line, source, index)), measure, processes, source, index))
        return as_table([*rows, *_medians(block, source)], source)


def _without_value(words: list[str], columns: int) -> bool:
    return any(word.startswith(_FAILED) for word in words) or is_message(words, columns)


def _medians(block: list[Row], source: str) -> list[Row]:
    """Return a row per size of one block."""
    rising(block, source, repeated=True)
    found = []
    for _, same in groupby(block, key=lambda row: row.size_bytes):
        rows = list(same)
        values = {name: median(getattr(row, name) for row in rows) for name in _VALUES}
        found.append(replace(rows[0], **values))
    return found


def _cells(header: list[str], line: str, source: str, index: int) -> list[tuple[str, str]]:
    cells = line.split()
    if len(cells) != len(header):
        raise InputError(
            "a row does not fit its header",
            where=f"{source}:{index}",
            found=f"{len(cells)} values: {line}",
            allowed=f"{len(header)}: {' '.join(header)}",
        )
    return list(zip(header, cells, strict=True))


def _row(cells: dict[str, str], measure: str, processes: int, source: str, line: int) -> Row:
    bytes_ = size(cells.get("#bytes", "0"), source, line)
    for name in ("t[usec]", "t_avg[usec]", "t_pure[usec]"):
        if name in cells:
            time = number(cells[name], name, source, line) * _MICRO
            return Row(measure, bytes_, line, time_s=time, processes=processes)
    if "Msg/sec" in cells:
        # Counted messages are exact; the unit of Mbytes/sec (10^6 or 2^20 bytes) differs between versions.
        rate = number(cells["Msg/sec"], "Msg/sec", source, line)
        return Row(measure, bytes_, line, bandwidth_Bps=rate * bytes_, messages_per_s=rate, processes=processes)
    raise InputError(
        "no usable column",
        where=f"{source}:{line}",
        found=" ".join(cells),
        allowed="t[usec], t_avg[usec], t_pure[usec] or Msg/sec",
    )
