"""What all ranks of a run do between two collectives of all of them: columns, each known by a checksum.

In: the marker files of a run. Out: a checksum of each column, and the marker files with some columns left out. Equal
checksums are the same calls of each rank, at the same places, with the same requests counted backwards. All functions
are pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from manynode.derived.call_forms import COLLECTIVES
from manynode.markers import UNKNOWN, MarkerFile

Checksums = NDArray[np.uint64]
Ends = NDArray[np.int64]

_NUMBERS = ("communicator", "peer", "peer2", "bytes", "bytes2", "tag", "any_source")
_NAMES = ("operation", "call_site_name", "phase")
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def ends_of_columns(file: MarkerFile, of_all: frozenset[int]) -> Ends:
    """Return behind which records of a rank a column ends; ``of_all`` are its communicators that have all ranks."""
    records = file.records
    names = [name for name in records["operation"].unique() if name in COLLECTIVES]
    found = np.flatnonzero((records["operation"].isin(names) & records["communicator"].isin(of_all)).to_numpy()) + 1
    return np.append(found, len(records)).astype(np.int64)


def checksums(file: MarkerFile, ends: Ends) -> Checksums:
    """Return a checksum of each column of a rank."""
    rows = _of_records(file)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    place = np.arange(len(rows)) - np.repeat(starts, ends - starts)
    own = _mixed(rows + place.astype(np.uint64) * _STEP)
    # An empty column, such as one after the last collective, has the checksum 0.
    sums = np.add.reduceat(np.append(own, np.uint64(0)), starts)
    sums[ends == starts] = 0
    return sums


def joined(parts: Sequence[Checksums]) -> Checksums:
    """Return one checksum of each column of several ranks, or runs, in their order."""
    found = np.zeros_like(parts[0])
    for part in parts:
        found = _mixed(found * _STEP + part)
    return found


def without_columns(file: MarkerFile, ends: Ends, sums: Checksums, kept: NDArray[np.bool_]) -> MarkerFile | None:
    """Return the marker file with the columns ``kept``, whose records and requests are numbered anew.

    ``sums`` are the columns' checksums. None if a call that stays would complete another request than it did: counting
    back, it must come to the same call of the same column, or of an equal one.
    """
    records = file.records
    lengths = np.diff(ends, prepend=0)
    stays = np.repeat(kept, lengths)
    request = records["request"].to_numpy()
    made = np.maximum.accumulate(request) + 1  # requests so far, at each record
    makers = np.flatnonzero(request >= 0)
    if len(makers) != made[-1]:
        return None
    number = np.concatenate([[0], np.cumsum(stays[makers])])  # by old number, also the one behind the last
    column, left_makers = np.repeat(np.arange(len(ends)), lengths), makers[stays[makers]]
    for row, back in _completed(file, stays):
        place = number[made[row]] - back
        if (place < 0).any():
            return None
        old, new = makers[made[row] - back], left_makers[place]
        alike = sums[column[old]] == sums[column[new]]
        if not (alike & (ends[column[old]] - old == ends[column[new]] - new)).all():
            return None
    left = records[stays].copy()
    left["sequence"] = np.arange(len(left), dtype=np.int64)
    left["request"] = np.where(left["request"] >= 0, number[left["request"].clip(lower=0)], left["request"])
    return replace(file, records=left.reset_index(drop=True))


def _completed(file: MarkerFile, stays: NDArray[np.bool_]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return records that stay, and how far back in the order of making the requests are that they name."""
    records = file.records
    kinds = ("MPI_Wait", "MPI_Test", "MPI_St", "MPI_Cancel")
    names = [name for name in records["operation"].unique() if str(name).startswith(kinds)]
    rows = np.flatnonzero(stays & records["operation"].isin(names).to_numpy() & (records["detail"] != 0).to_numpy())
    found = []
    offsets = records["detail"].to_numpy()[rows]
    for length in np.unique(file.details[offsets]):
        own = file.details[offsets] == length
        words = file.details[offsets[own][:, None] + 1 + np.arange(length)]
        named = (words != 0) & (words != UNKNOWN)
        found.append((np.repeat(rows[own], named.sum(axis=1)), words[named]))
    return found


def _of_records(file: MarkerFile) -> Checksums:
    """Return a checksum of each record, of all that a recorded call has."""
    records = file.records
    found = np.zeros(len(records), np.uint64)
    for name in _NAMES:
        found = _mixed(found + _STEP + _of_names(records[name]))
    for name in _NUMBERS:
        found = _mixed(found + _STEP + records[name].to_numpy().astype(np.uint64))
    found = _mixed(found + (records["request"] >= 0).to_numpy().astype(np.uint64))
    return _mixed(found + _of_details(file))


def _of_names(column: pd.Series) -> Checksums:
    own = b"".join(blake2b(str(name).encode(), digest_size=8).digest() for name in column.cat.categories)
    found: Checksums = np.frombuffer(own, "<u8")[column.cat.codes.to_numpy()]
    return found


def _of_details(file: MarkerFile) -> Checksums:
    """Return a checksum of each record's list of numbers, 0 where it has none."""
    offsets = file.records["detail"].to_numpy()
    found = np.zeros(len(offsets), np.uint64)
    there = np.flatnonzero(offsets)
    lengths = file.details[offsets[there]]
    for length in np.unique(lengths):
        own = there[lengths == length]
        total = np.full(len(own), length, np.uint64)
        for place in range(1, int(length) + 1):
            total = _mixed(total + _STEP + file.details[offsets[own] + place].astype(np.uint64))
        found[own] = total
    return found


def _mixed(values: Checksums) -> Checksums:
    """Return the finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    values = (values ^ (values >> np.uint64(30))) * _FACTORS[0]
    values = (values ^ (values >> np.uint64(27))) * _FACTORS[1]
    mixed: Checksums = values ^ (values >> np.uint64(31))
    return mixed
