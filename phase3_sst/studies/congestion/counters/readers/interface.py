"""The contract of a reader of real counters, and the choice among them.

In: a file. Out: :class:`Samples`, in the order of the file; what they are worth is judged by
:mod:`phase3_sst.studies.congestion.counters.cumulative`. A reader keeps no state. What it cannot read is an
:class:`InputError` with line, finding and what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from manynode import input_file
from manynode.errors import InputError, UsageError, nearest
from manynode.registry import Registry
from phase3_sst.studies.congestion.counters.counter_table import Counters, read
from phase3_sst.studies.congestion.counters.cumulative import Samples, counters_of
from phase3_sst.studies.congestion.counters.names import Counter, known, like_a_counter, plain

AUTO, TABLE = "auto", "table"
_EXAMPLES = (
    "AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0",
    "AR_RTR_0_0_INQ_PRF_ROWBUS_STALL_CNT",
    "AR_RTR_PT_5_0_INQ_PRF_INCOMING_FLIT_VC0",
    "AR_NL_PRF_REQ_PTILES_TO_NIC_0_FLITS",
    "X+_SAMPLE_GEMINI_LINK_CREDIT_STALL (% x1e6)",
)


class Reader(Protocol):
    """Reads the counters of one source."""

    def recognises(self, path: Path, head: str) -> bool:
        """Say whether the file that begins with ``head`` is of this source."""

    def read(self, path: Path) -> Samples:
        """Return the samples in a file."""


readers: Registry[type[Reader]] = Registry("format of counters", "phase3_sst.studies.congestion.counters.readers")


def read_counters(paths: Sequence[Path], form: str = AUTO) -> Counters:
    """Return the counters in ``paths``: one table ``router-counters/1``, or files of one real source."""
    allowed = [AUTO, TABLE, *readers.names()]
    if form not in allowed:
        raise UsageError("unknown format of counters", where="--format", found=form, allowed=", ".join(allowed))
    if not paths:
        raise UsageError("no file of counters is given")
    if form == TABLE or (form == AUTO and paths[0].suffix == ".parquet"):
        if len(paths) > 1:
            raise UsageError(
                "a table of counters cannot be combined with other files", found=f"{len(paths)} files", allowed="one"
            )
        return read(paths[0])
    return counters_of([_reader(path, form).read(path) for path in paths])


def _reader(path: Path, form: str) -> Reader:
    if form != AUTO:
        return readers.get(form)()
    head = text_of(path)[:4096]
    found = next((name for name in readers.names() if readers.get(name)().recognises(path, head)), None)
    if found is None:
        raise InputError(
            "the format of the counters is not known",
            where=str(path),
            found=f"first line: {(head.strip() or 'an empty file').splitlines()[0][:100]!r}",
            allowed=", ".join([TABLE, *readers.names()]),
            remedy="name the format with --format",
        )
    return readers.get(found)()


def text_of(path: Path) -> str:
    """Return the text of a file of counters."""
    return input_file.read_text(path, "a file of counters")


def chosen(columns: Sequence[str], where: str) -> tuple[dict[str, Counter], list[str]]:
    """Return the columns that the table has a place for, and the other ones that look like counters.

    No such column is an :class:`InputError` that names the nearest one that is known.
    """
    used = {name: counter for name in columns if (counter := known(name)) is not None}
    unused = [name for name in columns if name not in used and like_a_counter(name)]
    if not used:
        odd = unused[0] if unused else (columns[-1] if columns else "no column")
        near = nearest(plain(odd), _EXAMPLES)
        raise InputError(
            "no counter of the file is known",
            where=where,
            found=f"{len(columns)} columns, such as {odd!r}",
            allowed="names such as " + ", ".join(_EXAMPLES),
            remedy=f"is {odd!r} meant to be like {near!r}?" if near else None,
        )
    return used, unused
