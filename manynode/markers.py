"""Reads marker files into tables of what every rank of an MPI program did.

In: the ``rank-NNNNNN.mnmk`` files of the preloaded markers library (format: ``phase2_nodesim/markers/format.h``). Out:
a :class:`MarkerFile` per rank with its metadata and one row per MPI call. The counters, ``compute_s`` and ``phase`` of
a row describe the compute phase before the call. A file that is cut off is an :class:`InputError`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manynode import input_file
from manynode.call_sites import CALL_SITE, name_call_sites
from manynode.errors import InputError

MAGIC = b"MNMARKER"
MAGIC_END = b"REKRAMNM"
VERSION = 3
MAX_COUNTERS = 40
CPU_TIME = "cpu_ns"  # the counter of the thread's processor time, where it is asked for
LARGEST = 1 << 62  # times [ns] and bytes beyond this do not exist, and their differences would not fit 64 bits
INCOMPLETE, TRUNCATED = 1, 2
PHASE_INHERITED, ANY_SOURCE, ERROR, WARM_UP, ANY_TAG = 2, 4, 8, 32, 64
# peers that are no rank
NO_PEER, ANY_SOURCE_PEER, PROC_NULL_PEER, UNKNOWN = -1, -2, -3, -4

HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("flags", "<u4"),
        ("rank", "<i4"),
        ("world_size", "<i4"),
        ("node", "<i4"),
        ("record_bytes", "<u4"),
        ("counter_count", "<u4"),
        ("call_site_count", "<u4"),
        ("detail_words", "<u4"),
        ("metadata_offset", "<u8"),
        ("metadata_bytes", "<u8"),
        ("strings_offset", "<u8"),
        ("strings_bytes", "<u8"),
        ("call_sites_offset", "<u8"),
        ("records_offset", "<u8"),
        ("record_count", "<u8"),
        ("file_bytes", "<u8"),
        ("start_ns", "<u8"),
        ("checksum", "<u8"),
    ]
)
RECORD_FIELDS = [
    ("time_in_ns", "<u8"),
    ("time_out_ns", "<u8"),
    ("bytes", "<u8"),
    ("bytes2", "<u8"),
    ("call_site", "<u4"),
    ("phase", "<u4"),
    ("communicator", "<i4"),
    ("peer", "<i4"),
    ("peer2", "<i4"),
    ("tag", "<i4"),
    ("requests", "<i4"),
    ("operation", "<u2"),
    ("flags", "<u2"),
    ("detail", "<u4"),
    ("request", "<i4"),
]
RECORD = np.dtype(RECORD_FIELDS)
# The columns of every table, in this order; the counters follow.
COLUMNS = (
    "rank", "node", "sequence", "operation", "call_site", "call_site_name", "communicator", "peer", "peer2", "bytes",
    "bytes2", "tag", "requests", "time_in_s", "time_out_s", "compute_s", "phase", "phase_inherited", "warm_up",
    "any_source", "any_tag", "error", "request", "detail",
)  # fmt: skip
END = np.dtype([("record_count", "<u8"), ("sum", "<u8"), ("magic", "S8")])
REMEDY = "record the run again; a copy made during writing, or a broken transfer, can cause this"


@dataclass(frozen=True)
class MarkerFile:
    """One rank's markers.

    ``metadata`` holds rank, world_size, node (or None), host, mpi, counters, counter_mode, counter_notes, incomplete,
    truncated, program, command and more; ``records`` has one row per MPI call, in order. ``details`` are the file's
    lists of numbers, one after the other, each behind its length; ``format.h`` says what they mean.
    """

    path: Path
    metadata: dict[str, Any]
    records: pd.DataFrame
    details: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def detail(self, offset: int) -> list[int]:
        """Return the detail of a row by its column ``detail``; without one (0) it is empty."""
        if offset == 0:
            return []
        return [int(word) for word in self.details[offset + 1 : offset + 1 + int(self.details[offset])]]


def read_marker_file(path: Path | str, *, resolve: bool = True) -> MarkerFile:
    """Return the markers of one rank; the file may be compressed by gzip.

    With ``resolve``, call sites are named by function, file and line if ``addr2line`` and debug information give them.
    Raises :class:`InputError` if the file is missing, cut off, damaged, of another version or not a marker file.
    """
    path = Path(path)
    data = input_file.read_unpacked(path, "a marker file", most_bytes=sys.maxsize)
    return parse_marker_bytes(data, path, resolve=resolve)


def parse_marker_bytes(data: bytes, path: Path, *, resolve: bool = True) -> MarkerFile:
    """Return the markers in ``data``; ``path`` is named in errors."""
    header = _check_header(data, path)
    metadata_end = int(header["metadata_offset"] + header["metadata_bytes"])
    metadata = _metadata(data[int(header["metadata_offset"]) : metadata_end], header, path)
    strings = data[int(header["strings_offset"]) : int(header["call_sites_offset"])]
    sites = np.frombuffer(data, CALL_SITE, int(header["call_site_count"]), int(header["call_sites_offset"]))
    details_offset = int(header["records_offset"]) - 8 * int(header["detail_words"])
    details = np.frombuffer(data, "<i8", int(header["detail_words"]), details_offset)
    record = np.dtype([*RECORD_FIELDS, ("counters", "<u8", (len(metadata["counters"]),))])
    raw = np.frombuffer(data, record, int(header["record_count"]), int(header["records_offset"]))
    _check_references(raw, sites, strings, metadata, path)
    _check_details(raw["detail"], details, path)
    site_names = name_call_sites(sites, strings, resolve=resolve)
    return MarkerFile(path, metadata, _table(raw, metadata, strings, site_names, header), details)


def read_marker_directory(directory: Path | str, *, complete: bool = True, resolve: bool = True) -> list[MarkerFile]:
    """Return the markers of all ranks in ``directory``, by rank.

    With ``complete``, every rank of MPI_COMM_WORLD must have a file. Nodes without a number from the library are
    numbered here, by host name in the order of the hosts' lowest ranks.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(
            "the folder of marker files does not exist",
            where=str(directory),
            remedy="run the program with MANYNODE_MARKERS_DIR set to this folder",
        )
    paths = sorted(directory.glob("rank-*.mnmk"))
    reasons = [
        f"{path.name}: {path.read_text(errors='replace').strip()}" for path in sorted(directory.glob("rank-*.error"))
    ]
    if not paths:
        raise InputError(
            "the folder contains no marker file",
            where=str(directory),
            allowed="rank-NNNNNN.mnmk, one per rank",
            remedy="preload the markers library for the program's MPI, and let the program reach MPI_Finalize",
            details="\n".join([*reasons, *not_followed(directory)]) or None,
        )
    files = sorted((read_marker_file(path, resolve=resolve) for path in paths), key=lambda f: f.metadata["rank"])
    _check_ranks(files, directory, complete, reasons)
    hosts: dict[str, int] = {}
    for file in files:
        if file.metadata["node"] is None:
            node = hosts.setdefault(file.metadata["host"], len(hosts))
            file.metadata["node"] = node
            file.records["node"] = np.int32(node)
    return files


def not_followed(directory: Path) -> list[str]:
    """Return what the ranks did that the markers do not follow, each thing once (``markers/unfollowed.c``).

    Such a recording is not that of the run: it lacks messages, or has those of somebody else.
    """
    try:
        text = (directory / "not-followed").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    return list(dict.fromkeys(text.splitlines()))


def concatenate(files: list[MarkerFile]) -> pd.DataFrame:
    """Return the records of all ranks in one table; missing counters are NaN."""
    return pd.concat([file.records for file in files], ignore_index=True)


def _damaged(path: Path, what: str, found: object = None, allowed: object = None) -> InputError:
    return InputError(what, where=str(path), found=found, allowed=allowed, remedy=REMEDY)


def _check_header(data: bytes, path: Path) -> np.void:
    """Check magic, version, checksum, every offset and both ends; return the header."""
    if len(data) < HEADER.itemsize or data[:8] != MAGIC:
        found = f"{len(data)} bytes, starting with {data[:8]!r}"
        raise _damaged(
            path, "this is not a marker file", found, f"at least {HEADER.itemsize} bytes, starting with {MAGIC!r}"
        )
    header: np.void = np.frombuffer(data, HEADER, 1)[0]
    if header["version"] != VERSION:
        raise InputError(
            "a marker file has another version",
            where=str(path),
            found=int(header["version"]),
            allowed=VERSION,
            remedy="record it again with the markers library of this manynode",
        )
    words = np.frombuffer(data, "<u8", HEADER.itemsize // 8 - 1)
    if np.add.reduce(words) != header["checksum"]:
        raise _damaged(path, "the header of a marker file is damaged", "its checksum does not fit")
    if header["file_bytes"] != len(data):
        raise _damaged(path, "a marker file is cut off", f"{len(data)} bytes", f"{int(header['file_bytes'])} bytes")
    # Python integers from here on: they do not wrap around
    h = {name: int(header[name]) for name in HEADER.names or () if name != "magic"}
    expected = {
        "header_bytes": HEADER.itemsize,
        "record_bytes": RECORD.itemsize + 8 * h["counter_count"],
        "metadata_offset": h["header_bytes"],
        "strings_offset": h["metadata_offset"] + h["metadata_bytes"],
        "call_sites_offset": h["strings_offset"] + h["strings_bytes"],
        "records_offset": h["call_sites_offset"] + CALL_SITE.itemsize * h["call_site_count"] + 8 * h["detail_words"],
        "file_bytes": h["records_offset"] + h["record_bytes"] * h["record_count"] + END.itemsize,
    }
    for name, value in expected.items():
        if h[name] != value:
            raise _damaged(path, f"{name} in a marker file's header does not fit", h[name], value)
    if h["counter_count"] > MAX_COUNTERS or h["strings_bytes"] < 1 or h["file_bytes"] % 8:
        raise _damaged(path, "the sizes in a marker file's header do not fit")
    if h["start_ns"] >= LARGEST:
        raise _damaged(path, "the start time in a marker file is impossible", h["start_ns"], f"< {LARGEST}")
    if not 0 <= h["rank"] < h["world_size"]:
        raise _damaged(path, "the rank in a marker file is impossible", h["rank"], f"0 to {h['world_size'] - 1}")
    end = np.frombuffer(data, END, 1, len(data) - END.itemsize)[0]
    body = np.frombuffer(data, "<u8", (len(data) - HEADER.itemsize - END.itemsize) // 8, HEADER.itemsize)
    if end["magic"] != MAGIC_END or end["record_count"] != h["record_count"]:
        raise _damaged(path, "the end of a marker file is damaged")
    if np.add.reduce(body, dtype="u8") != end["sum"]:
        raise _damaged(path, "the body of a marker file is damaged", "its checksum does not fit")
    return header


def _metadata(text: bytes, header: np.void, path: Path) -> dict[str, Any]:
    try:
        metadata: dict[str, Any] = json.loads(text)
        operations = {int(number): str(name) for number, name in metadata["operations"].items()}
        counters = [str(name) for name in metadata["counters"]]
        host = str(metadata["host"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, "the metadata of a marker file is damaged", str(error)) from None
    if len(counters) != header["counter_count"] or len({*counters, *COLUMNS}) != len(counters) + len(COLUMNS):
        raise _damaged(path, "the counters of a marker file are not named", counters, int(header["counter_count"]))
    flags = int(header["flags"])
    metadata.update(
        operations=operations,
        counters=counters,
        host=host,
        rank=int(header["rank"]),
        world_size=int(header["world_size"]),
        node=int(header["node"]) if header["node"] >= 0 else None,
        incomplete=bool(flags & INCOMPLETE),
        truncated=bool(flags & TRUNCATED),
        start_s=int(header["start_ns"]) * 1e-9,
    )
    return metadata


def _check_references(raw: np.ndarray, sites: np.ndarray, strings: bytes, metadata: dict[str, Any], path: Path) -> None:
    """Check that records and call sites refer only to content of the file."""
    if len(raw) and (not len(sites) or raw["call_site"].max() >= len(sites)):
        raise _damaged(path, "a record refers to a call site that is not in the file")
    offsets = [raw["phase"], sites["module"], sites["symbol"]]
    if strings[-1] != 0 or any(len(column) and column.max() >= len(strings) for column in offsets):
        raise _damaged(path, "a record refers to a string that is not in the file")
    unknown = set(np.unique(raw["operation"]).tolist()) - set(metadata["operations"])
    if unknown:
        raise _damaged(path, "a record has an operation without name", sorted(unknown))
    for name in ("time_in_ns", "time_out_ns", "bytes", "bytes2"):
        if (raw[name] >= LARGEST).any():
            raise _damaged(path, f"a record has an impossible value of {name}", int(raw[name].max()), f"< {LARGEST}")


def _check_details(offsets: np.ndarray, details: np.ndarray, path: Path) -> None:
    """Check that each detail that a record refers to lies in the section."""
    used = np.unique(offsets[offsets != 0]).astype(np.int64)
    if len(used) and used[-1] >= len(details):
        raise _damaged(path, "a record refers to a detail that is not in the file")
    lengths = details[used]
    if (lengths < 1).any() or (lengths >= len(details) - used).any():
        raise _damaged(path, "a detail in a marker file has an impossible length")


def _string_at(strings: bytes, offset: int) -> str:
    return strings[offset : strings.index(b"\0", offset)].decode("utf-8", "replace")


def _categories(codes: np.ndarray, name_of: Any) -> pd.Categorical:
    """Turn numbers into a categorical column: each number is named once."""
    numbers, inverse = np.unique(codes, return_inverse=True)
    names = [name_of(int(number)) for number in numbers]
    distinct = list(dict.fromkeys(names))
    position = np.array([distinct.index(name) for name in names], dtype=np.int64)
    return pd.Categorical.from_codes(position[inverse], pd.Index(distinct, dtype=object))


def _table(
    raw: np.ndarray, metadata: dict[str, Any], strings: bytes, site_names: list[str], header: np.void
) -> pd.DataFrame:
    start = int(header["start_ns"])
    time_in = (raw["time_in_ns"].astype(np.int64) - start) * 1e-9
    time_out = (raw["time_out_ns"].astype(np.int64) - start) * 1e-9
    compute = np.zeros(len(raw))
    compute[1:] = (raw["time_in_ns"][1:].astype(np.int64) - raw["time_out_ns"][:-1].astype(np.int64)) * 1e-9
    columns: dict[str, Any] = {
        "rank": np.full(len(raw), metadata["rank"], np.int32),
        "node": np.full(len(raw), -1 if metadata["node"] is None else metadata["node"], np.int32),
        "sequence": np.arange(len(raw), dtype=np.int64),
        "operation": _categories(raw["operation"], metadata["operations"].__getitem__),
        "call_site": raw["call_site"].astype(np.int64),
        "call_site_name": _categories(raw["call_site"], site_names.__getitem__),
    }
    for name in ("communicator", "peer", "peer2", "bytes", "bytes2", "tag", "requests"):
        columns[name] = raw[name].astype(np.int64)
    columns |= {
        "time_in_s": time_in,
        "time_out_s": time_out,
        "compute_s": compute,
        "phase": _categories(raw["phase"], lambda offset: _string_at(strings, offset)),
        "phase_inherited": (raw["flags"] & PHASE_INHERITED) != 0,
        "warm_up": (raw["flags"] & WARM_UP) != 0,
        "any_source": (raw["flags"] & ANY_SOURCE) != 0,
        "any_tag": (raw["flags"] & ANY_TAG) != 0,
        "error": (raw["flags"] & ERROR) != 0,
        "request": raw["request"].astype(np.int64),
        "detail": raw["detail"].astype(np.int64),
    }
    for index, counter in enumerate(metadata["counters"]):
        columns[counter] = raw["counters"][:, index].astype(np.float64)
    return pd.DataFrame(columns)


def _check_ranks(files: list[MarkerFile], directory: Path, complete: bool, reasons: list[str]) -> None:
    size = files[0].metadata["world_size"]
    ranks = [file.metadata["rank"] for file in files]
    if len(set(ranks)) != len(ranks) or any(file.metadata["world_size"] != size for file in files):
        raise InputError(
            "the marker files come from different runs",
            where=str(directory),
            found=f"world sizes {sorted({file.metadata['world_size'] for file in files})}, ranks {ranks[:20]}",
            remedy="use an empty folder for each run",
        )
    if complete and len(ranks) != size:
        missing = sorted(set(range(size)) - set(ranks))
        raise InputError(
            "marker files of ranks are missing",
            where=str(directory),
            found=f"{len(missing)} of {size} ranks missing: {missing[:20]}",
            allowed="one file per rank",
            remedy="a killed rank leaves no file; see the program's own output",
            details="\n".join(reasons) or None,
        )
