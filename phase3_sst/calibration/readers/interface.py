"""The contract of a reader of measured tables.

In: the text of another program's output file, and the file's name. Out: a tidy table, one row per value:

- measure: ``pingpong`` (half a round trip), ``send``, ``isend``, ``recv`` (duration of that call), ``bandwidth``,
  ``bidirectional-bandwidth``, ``message-rate``, ``copy`` (within memory), or another benchmark's name such as
  ``allreduce``, which calibration does not use;
- size_bytes; time_s [s], bandwidth_Bps [B/s], messages_per_s [1/s]: NaN if not reported;
- processes (0: unknown), cluster ("" if there is only one), line (of the file, from 1).

A reader keeps no state. Unreadable input is an :class:`InputError` with line, finding and allowed values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from manynode.errors import InputError
from manynode.registry import Registry

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Row:
    """One measured value; see the module."""

    measure: str
    size_bytes: int
    line: int
    time_s: float = math.nan
    bandwidth_Bps: float = math.nan
    messages_per_s: float = math.nan
    processes: int = 0
    cluster: str = ""


class Reader(Protocol):
    """Reads one format."""

    def recognises(self, text: str) -> bool:
        """Say whether ``text`` is of this format."""

    def read(self, text: str, source: str) -> pd.DataFrame:
        """Return the table of ``text``; ``source`` is the file's name, for errors."""


readers: Registry[type[Reader]] = Registry("format of measurements", "phase3_sst.calibration.readers")


def number(text: str, what: str, source: str, line: int) -> float:
    """Return a finite number that is not negative; else an error."""
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{what} is not a number", where=f"{source}:{line}", found=repr(text)) from None
    if not math.isfinite(value) or value < 0:
        raise InputError(
            f"{what} cannot be used", where=f"{source}:{line}", found=text, allowed="a finite number of at least 0"
        )
    return value


def size(text: str, source: str, line: int) -> int:
    """Return a message size: a whole number of bytes."""
    value = number(text, "the message size", source, line)
    if value != int(value):
        raise InputError("the message size is not whole", where=f"{source}:{line}", found=text, allowed="whole bytes")
    return int(value)


# What launchers put before each line: "3: " (srun --label), "[1,0]<stdout>:" (Open MPI), "[0] " (Hydra).
_LABEL = re.compile(r"(\d+:\s|\[\d+(,\d+)*\](<\w+>)?:?)\s*")


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and stripped text of each line, without the label of a launcher."""
    for index, line in enumerate(text.splitlines(), start=1):
        yield index, _LABEL.sub("", line.strip(), count=1).strip()


def is_message(cells: Sequence[str], columns: int) -> bool:
    """Return whether a line that begins with a digit is no row of a table of ``columns`` (0: not known yet).

    Such a line does not begin with a number, or words follow that are more than a row has. Too few cells, or a word in
    place of a value, make a damaged row.
    """
    return not _is_number(cells[0]) or (len(cells) > max(columns, 2) and not _is_number(cells[1]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def rising(rows: Sequence[Row], source: str, repeated: bool = False) -> None:
    """Check that the sizes of one block increase; otherwise two runs were pasted together.

    With ``repeated``, a size may follow itself.
    """
    for before, after in pairwise(rows):
        if after.size_bytes < before.size_bytes or (after.size_bytes == before.size_bytes and not repeated):
            raise InputError(
                "the message sizes do not increase",
                where=f"{source}:{after.line}",
                found=f"{after.size_bytes} after {before.size_bytes}",
                allowed="each size once, in increasing order, within one table",
                remedy="give each run as a file of its own",
            )


def as_table(rows: Sequence[Row], source: str) -> pd.DataFrame:
    """Return ``rows`` as a table; an empty table is an error."""
    import pandas as pd

    if not rows:
        raise InputError(
            "no measured value was found", where=source, found="0 rows", remedy="check that the benchmark has finished"
        )
    return pd.DataFrame(rows)
