"""Reads the output of the OSU micro-benchmarks: ``# OSU MPI Latency Test v7.0``, a header, then rows of size and value.

Versions 1 to 7, and the ports that print the same layout (mpi4py's demos). The title determines the quantity, because
such a port labels its MB/s "Latency [us]". Times are in microseconds, ``MB/s`` are 10^6 bytes a second. ``osu_latency``
prints half a round trip. A job's other lines, before, between and after the rows, are skipped; of the columns with
averages, minima and maxima, the first (the average) is taken. Tests of other kinds (one-sided, non-blocking,
persistent, of memory of GPUs, of other libraries) keep a name of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from manynode.errors import InputError
from phase3_sst.calibration.readers.interface import Row, as_table, is_message, lines, number, readers, rising, size

if TYPE_CHECKING:
    import pandas as pd

_TITLE = re.compile(r"#\s*(?:OSU\s+|(?=MPI))(?P<title>.*?)\s+Test\b", re.IGNORECASE)
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\d+)\s*\]")
_MICRO = 1e-6
_MEGA = 1e6


# Titles in small letters, without "MPI" and "Test".
_MEASURES = {
    "latency": "pingpong",
    "bandwidth": "bandwidth",
    "bi-directional bandwidth": "bidirectional-bandwidth",
    "multiple bandwidth / message rate": "message-rate",
    "multi bw / message rate": "message-rate",
}
_NAMES = (("personalized exchange ", ""), ("all-to-all", "alltoall"), ("broadcast", "bcast"))


def _measure(title: str) -> str:
    library, _, test = title.lower().partition(" ")
    if library != "mpi":  # such as "MPI_Put Latency", "MPI-CUDA Latency", "NCCL Allreduce Latency"
        return title.lower().removeprefix("mpi_")
    if test in _MEASURES:
        return _MEASURES[test]
    for printed, name in _NAMES:
        test = test.replace(printed, name)
    collective = test.removesuffix(" latency")
    return test.replace(" ", "-") if " " in collective or collective.startswith("multi") else collective


@readers.register("osu")
class OsuReader:
    """Reads what osu_latency, osu_bw, osu_bibw, osu_mbw_mr and the collectives print."""

    def recognises(self, text: str) -> bool:
        """Say whether a title of an OSU benchmark is there."""
        return any(_TITLE.match(line) for _, line in lines(text))

    def read(self, text: str, source: str) -> pd.DataFrame:
        """Return the values of all benchmarks in ``text``."""
        rows: list[Row] = []
        block: list[Row] = []
        measure, pairs, columns = "", 1, 0
        for index, line in lines(text):
            cells = line.split()
            if title := _TITLE.match(line):
                rising(block, source)
                block = []
                measure, pairs, columns = _measure(title["title"]), 1, 0
            elif found := _PAIRS.match(line):
                pairs = int(found[1])
            elif line[:1].isdigit() and not is_message(cells, columns):
                if not measure:
                    raise InputError(
                        "a row without a title",
                        where=f"{source}:{index}",
                        found=line,
                        allowed="a line such as '# OSU MPI Latency Test v7.0' before the first row",
                    )
                columns = columns or len(cells)
                row = _row(cells, measure, pairs, source, index)
                block.append(row)
                rows.append(row)
        rising(block, source)
        return as_table(rows, source)


def _row(cells: list[str], measure: str, pairs: int, source: str, line: int) -> Row:
    if cells[-1].lower() == "fail":
        raise InputError("the benchmark's own validation failed", where=f"{source}:{line}", found=" ".join(cells))
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
