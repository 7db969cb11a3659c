"""Callgrind under a marked rank: its command, and the totals of its dumps as the events of each compute phase.

In: one process's callgrind output, either one file with all dumps (``--combine-dumps=yes``) or a file per dump. The
markers library names each dump by the sequence number of the MPI call that ends the compute phase. Out: one row per
named dump with the simulated events among Ir, Dr, Dw, I1mr, D1mr, D1mw, ILmr, DLmr, DLmw, Bc, Bcm, Bi, Bim. To read
large files fast, only the few relevant lines are parsed.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from manynode.errors import InputError
from manynode.measured_runs import SlowDown

# As measured with the options below; valgrind runs the threads of a process one after the other.
SLOW_DOWN = SlowDown(50.0, 100.0, serial=True)
TRIGGER = "Client Request: "
END_TRIGGER = "Program termination"
LARGEST_COUNT = (1 << 63) - 1
# The body's cost lines begin with a digit, '+', '-' or '*' or with one of few keywords; none begins with these words.
LINE = re.compile(rb"^(version|pid|part|thread|desc: Trigger|events|totals):[ \t]*([^\n]*)(\n|\Z)", re.MULTILINE)
REMEDY = "run valgrind again and let the program end by itself; a killed process or a full disk leaves such a file"


def callgrind_command(valgrind: str, directory: Path, caches: Sequence[str]) -> list[str]:
    """Return the words before a rank's command; dumps and messages go to ``directory``, ``caches`` are its options.

    The ranks' markers request the dumps, and start the instrumentation at the end of MPI_Init: nothing before it is
    counted.
    """
    folder = str(directory.resolve()).replace("%", "%%")
    return [
        *(valgrind, "-q", "--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", "--branch-sim=yes", *caches),
        *("--combine-dumps=yes", "--dump-line=no"),
        # The MPI library's helper threads (UCX has one) run at any time: their events are kept apart.
        "--separate-threads=yes",
        f"--callgrind-out-file={folder}/callgrind.%p",
        f"--log-file={folder}/valgrind-%p.log",
    ]


@dataclass
class _Part:
    """One dump while it is read."""

    place: str
    thread: str | None = None
    trigger: str | None = None
    events: list[str] | None = None
    totals: list[int] | None = None


@dataclass
class _Dumps:
    """The dumps in the files of one process."""

    pids: set[str] = field(default_factory=set)
    parts: list[_Part] = field(default_factory=list)


def parse_totals(
    paths: Path | str | Iterable[Path | str],
    *,
    complete: bool = True,
    thread: int | None = 1,
    pid: int | None = None,
) -> pd.DataFrame:
    """Return the events of every dump that a marker named, sorted by ``sequence``.

    Columns: ``sequence`` (int64) and one int64 column per event, in callgrind's order. With ``--separate-threads=yes``
    only ``thread`` counts (None: the sum of all). Thread 1 is the program's first; MPI libraries start helper threads
    whose work comes at random. With ``complete``, the dump at the program's end must exist, as proof that nothing is
    missing. ``pid`` is the expected process. Raises :class:`InputError`, naming file and dump, if a file is cut off,
    damaged, or from another process.
    """
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not files:
        raise InputError("no callgrind file was given", remedy=REMEDY)
    dumps = _Dumps()
    for path in files:
        _scan(path, dumps)
    place = str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    if len(dumps.pids) != 1:
        raise InputError(
            "callgrind files of more than one process",
            where=place,
            found=f"pids {', '.join(sorted(dumps.pids)) or 'none'}",
            allowed="the dumps of one process",
            remedy="put %p into --callgrind-out-file and read each process separately",
        )
    if pid is not None and dumps.pids != {str(pid)}:
        raise InputError(
            "a callgrind file does not come from the process in its name",
            where=place,
            found=f"pid {', '.join(dumps.pids)}",
            allowed=f"pid {pid}",
            remedy="run again to write the files again",
        )
    if complete and not any(part.trigger == END_TRIGGER for part in dumps.parts):
        raise InputError(
            "the last dump of callgrind is missing", where=place, found="no dump at the program's end", remedy=REMEDY
        )
    named = [part for part in dumps.parts if (part.trigger or "").startswith(TRIGGER)]
    if thread is not None:
        named = [part for part in named if part.thread in (None, str(thread))]
    table = _table(named, place)
    if thread is None and any(part.thread is not None for part in named):
        table = table.groupby("sequence", as_index=False).sum()
    if table["sequence"].duplicated().any():
        twice = table.loc[table["sequence"].duplicated(), "sequence"].iloc[0]
        raise InputError(
            "two callgrind dumps have the same sequence number", where=place, found=int(twice), remedy=REMEDY
        )
    return table


def _scan(path: Path, dumps: _Dumps) -> None:
    """Add the dumps of one file."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            if size == 0:
                raise InputError("a callgrind file is empty", where=str(path), remedy=REMEDY)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                _scan_bytes(data, path, dumps)
    except OSError as error:
        raise InputError(
            "a callgrind file cannot be read", where=str(path), found=error.strerror or str(error)
        ) from None


def _scan_bytes(data: mmap.mmap, path: Path, dumps: _Dumps) -> None:
    part: _Part | None = None
    before = len(dumps.parts)
    for match in LINE.finditer(data):
        key, value = match[1], match[2].decode("ascii", "replace").strip()
        place = f"{path}, dump {len(dumps.parts) - before + 1}"
        if key == b"pid":
            dumps.pids.add(value)
            continue
        if key == b"version":
            continue
        if key == b"part":
            if part is not None:
                raise InputError("a callgrind dump has no totals", where=part.place, remedy=REMEDY)
            part = _Part(place)
            continue
        if part is None:
            raise InputError("a callgrind file begins in the middle of a dump", where=place, remedy=REMEDY)
        if key == b"thread":
            part.thread = value
        elif key == b"events":
            part.events = value.split()
        elif key == b"totals":
            if not match[3]:
                raise InputError("a callgrind file is cut off", where=place, found=value, remedy=REMEDY)
            part.totals = _numbers(value, place)
            dumps.parts.append(part)
            part = None
        else:
            part.trigger = value
    if part is not None:
        raise InputError("a callgrind file is cut off", where=part.place, found="a dump without totals", remedy=REMEDY)
    if len(dumps.parts) == before:
        raise InputError("this is not a callgrind file", where=str(path), found="no dump with totals", remedy=REMEDY)


def _numbers(text: str, place: str) -> list[int]:
    words = text.split()
    if not all(word.isascii() and word.isdigit() and len(word) < 20 for word in words):
        raise InputError("the totals of a callgrind dump are not numbers", where=place, found=text[:80], remedy=REMEDY)
    numbers = [int(word) for word in words]
    if any(number > LARGEST_COUNT for number in numbers):
        raise InputError("the totals of a callgrind dump are too large", where=place, found=text[:80], remedy=REMEDY)
    return numbers


def _table(parts: list[_Part], place: str) -> pd.DataFrame:
    """Turn the named dumps into a table; callgrind omits zeros at the end of a totals line."""
    if not parts:
        raise InputError(
            "no marker named a callgrind dump",
            where=place,
            allowed="dumps triggered by 'Client Request: <sequence number>'",
            remedy="preload the markers library, with MANYNODE_MARKERS_DIR set, into the program under valgrind",
        )
    events = parts[0].events or []
    rows = np.zeros((len(parts), len(events) + 1), dtype=np.int64)
    for row, part in zip(rows, parts, strict=True):
        number = part.trigger[len(TRIGGER) :] if part.trigger else ""
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise InputError("a callgrind dump has no sequence number", where=part.place, found=number, remedy=REMEDY)
        if not events or part.events != events or len(set(events)) != len(events) or "sequence" in events:
            raise InputError(
                "callgrind dumps with different events", where=part.place, found=part.events, allowed=events
            )
        if part.totals is None or not 1 <= len(part.totals) <= len(events):
            raise InputError(
                "the totals of a callgrind dump do not fit its events",
                where=part.place,
                found=part.totals,
                allowed=f"1 to {len(events)} numbers",
                remedy=REMEDY,
            )
        row[0] = int(number)
        row[1 : 1 + len(part.totals)] = part.totals
    return pd.DataFrame(rows, columns=["sequence", *events]).sort_values("sequence", ignore_index=True)
