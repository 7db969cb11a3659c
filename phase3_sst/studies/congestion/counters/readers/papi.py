"""CSV files of programs that read Aries' counters through PAPI (its native events, ``papi_native_avail``).

PAPI has no file format of its own, so two plain forms are read. Wide: a header with ``time`` [s], ``router`` (or
``node``, ``rank``: then each is taken for a router of its own), and a column per event. Long: columns ``time``,
``router``, ``event`` (or ``counter``) and ``value``. Events may carry their component's name before ``:::``. Values are
those that PAPI read, cumulative; a program that resets them writes a row of zeros for its start.
"""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.cumulative import Samples
from phase3_sst.studies.congestion.counters.names import known
from phase3_sst.studies.congestion.counters.readers._wide import TIMES, header_of, samples_of
from phase3_sst.studies.congestion.counters.readers.interface import readers, text_of

_EVENTS = ("event", "counter")


@readers.register("papi")
class PapiReader:
    """Reads CSV files of PAPI events."""

    def recognises(self, path: Path, head: str) -> bool:
        """Say whether the header has events that are known, or is that of the long form."""
        lines = head.strip().splitlines()
        if not lines or lines[0].startswith("#") or "," not in lines[0]:
            return False
        names = header_of(lines[0])
        return _is_long(names) or any(known(name) is not None for name in names)

    def read(self, path: Path) -> Samples:
        """Return the samples in a file."""
        text = text_of(path)
        if not text.strip():
            raise InputError("a file of counters is empty", where=str(path))
        names = header_of(text.splitlines()[0])
        if _is_long(names):
            return _long(text, names, path)
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        return samples_of(names, lines[1:], path.name)


def _is_long(names: list[str]) -> bool:
    lower = [name.lower() for name in names]
    return "value" in lower and any(name in lower for name in _EVENTS)


def _long(text: str, names: list[str], path: Path) -> Samples:
    try:
        frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, skipinitialspace=True)
    except (ValueError, pd.errors.ParserError) as error:
        raise InputError("counters cannot be read", where=str(path), found=str(error).splitlines()[0]) from None
    frame.columns = pd.Index([name.lower() for name in names])
    event = next(name for name in _EVENTS if name in frame.columns)
    keys = [name for name in frame.columns if name not in (event, "value")]
    if not any(name in TIMES for name in keys):
        raise InputError("samples of counters have no time", where=str(path), allowed=f"a column {', '.join(TIMES)}")
    twice = frame.duplicated([*keys, event], keep=False) & ~frame.duplicated(keep=False)
    if bool(twice.any()):
        row = frame[twice].iloc[0]
        raise InputError("two values of one counter and time differ", where=str(path), found=", ".join(row.astype(str)))
    wide = frame.drop_duplicates().pivot(index=keys, columns=event, values="value").reset_index()
    # The order of the file tells whether time went back.
    order = frame.drop_duplicates(keys)[keys].merge(wide, on=keys, how="left")
    lines = [",".join("" if pd.isna(cell) else str(cell) for cell in row) for row in order.itertuples(index=False)]
    return samples_of([str(name) for name in order.columns], list(enumerate(lines, 2)), path.name)
