"""Files between the phases: Parquet tables and JSON documents that carry schema, version and provenance.

Every file is written whole under another name and then renamed: a reader never sees half a file, and a full disk keeps
the old file. Bytes depend only on the content: no time of writing, no path. Each file carries a checksum of all its
bytes (:mod:`manynode.seal`) and, in a results folder, its identity (:mod:`manynode.artefacts`); reading checks both.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manynode import artefacts, input_file, seal
from manynode.errors import InputError, OutputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_METADATA_KEY = b"manynode"
_AGAIN = "restore the file, or delete it and run again"
# Begins the comment in which a page says what it is of.
PAGE_MARK = "manynode artefact"
# What a file says of itself, beside its content.
_OWN = (seal.KEY, artefacts.OF, artefacts.MADE_FROM)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``; on success it replaces ``path``, on failure it is removed."""
    handle = None
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        temporary = Path(name)
        os.close(handle)
        yield temporary
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        # Steps name files below their own folder: which disk it is shows in the whole path.
        raise write_error(path.absolute(), error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def pack(path: Path) -> None:
    """Compress a file in place by gzip, the same content to the same bytes."""
    with replacing(path) as part:
        part.write_bytes(gzip.compress(path.read_bytes(), compresslevel=1, mtime=0))


def write_error(path: Path, error: OSError) -> OutputError:
    """Return the user's error for a write that the system refused."""
    remedies = {
        errno.ENOSPC: "free space on that disk, then run again: finished steps are kept",
        errno.EDQUOT: "free space under your quota, then run again: finished steps are kept",
        errno.EACCES: "make the folder writable or choose another one (--directory or --output)",
        errno.EROFS: "choose a folder that can be written (--directory or --output)",
    }
    return OutputError(
        "a result could not be written",
        where=str(path),
        found=error.strerror or str(error),
        remedy=remedies.get(error.errno or 0, "see the system's message above, then run again"),
    )


def write_json(path: Path, schema: str, content: Mapping[str, Any]) -> None:
    """Write ``content`` with its schema name, such as ``timing-profile/1``, as the first key."""
    document = {"schema": schema, seal.KEY: seal.BLANK, **artefacts.claims(path), **content}
    _write_sealed(path, json.dumps(document, indent=1, allow_nan=False).encode() + b"\n")


def named(schema: str) -> str:
    """Return the name of ``schema`` with its article, such as ``an experiment``."""
    name = schema.split("/")[0]
    return f"{'an' if name[0] in 'aeio' else 'a'} {name}"


def read_json(path: Path, schema: str, *, sealed: bool = True) -> dict[str, Any]:
    """Return the document at ``path``; a damaged one, or one of another schema or version, is an :class:`InputError`.

    Checksum and identity are checked and left out. With ``sealed`` False, a file outside the results of an experiment
    may lack a checksum: engines and people write such files.
    """
    what = f"{named(schema)} file cannot be used"
    raw = input_file.read_bytes(path, f"{named(schema)} file")
    try:
        content = json.loads(raw)
        if b"\\ud" in raw.lower():
            # Half of a surrogate pair: no page and no terminal can show it.
            json.dumps(content, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InputError(
            what, where=str(path), found=f"not valid JSON: {error}", remedy="make the file again with manynode"
        ) from None
    found = content.get("schema") if isinstance(content, dict) else None
    if found != schema:
        raise InputError(
            what,
            where=f"{path}: key 'schema'",
            found=repr(found),
            allowed=repr(schema),
            remedy="make the file again with this version of manynode, or use the version that wrote it",
        )
    if sealed or seal.KEY in content or artefacts.is_one(path):
        checksum = seal.check(raw, what, str(path), _AGAIN)
        artefacts.check(path, content.get(artefacts.OF), what)
        artefacts.record(path, checksum)
    return {key: value for key, value in content.items() if key not in _OWN}


def write_table(
    path: Path, schema: str, frame: pd.DataFrame | pa.Table, provenance: Mapping[str, Any] | None = None
) -> None:
    """Write ``frame`` as Parquet with its schema name, such as ``segments/1``, and provenance in the metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)
    told = {"schema": schema, "provenance": dict(provenance or {}), **artefacts.claims(path)}
    metadata = {_METADATA_KEY: json.dumps(told, sort_keys=True).encode(), seal.PARQUET_KEY: seal.BLANK.encode()}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    _write_sealed(path, sink.getvalue().to_pybytes())


def read_table(path: Path, schema: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Return the table at ``path``; another schema, a missing column or a damaged file is an :class:`InputError`."""
    table, _ = _read_parquet(path, schema)
    missing = sorted(set(columns) - set(table.column_names))
    if missing:
        raise InputError(
            f"{named(schema)} table cannot be used",
            where=str(path),
            found=f"no column {', '.join(missing)}",
            remedy="run the step again",
        )
    return table.to_pandas()


def read_provenance(path: Path, schema: str) -> dict[str, Any]:
    """Return the provenance that :func:`write_table` stored at ``path``, checked as :func:`read_table` does."""
    return dict(_read_parquet(path, schema)[1].get("provenance", {}))


def check_table(path: Path) -> None:
    """Raise :class:`InputError` if the table at ``path``, of any schema, is damaged or has a wrong identity."""
    what = "a table cannot be used"
    raw, _ = _sound_bytes(path, what)
    artefacts.check(path, metadata_of(raw).get(artefacts.OF), what)


def _read_parquet(path: Path, schema: str) -> tuple[pa.Table, dict[str, Any]]:
    """Return the table at ``path`` and its metadata, both checked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    what = f"{named(schema)} table cannot be used"
    raw, checksum = _sound_bytes(path, what)
    told = metadata_of(raw)
    if told.get("schema") != schema:
        raise InputError(
            what,
            where=str(path),
            found=repr(told.get("schema")),
            allowed=repr(schema),
            remedy="make the file again with this version of manynode",
        )
    artefacts.check(path, told.get(artefacts.OF), what)
    artefacts.record(path, checksum)
    return pq.read_table(pa.BufferReader(raw)), told


def _sound_bytes(path: Path, what: str) -> tuple[bytes, str]:
    """Return the bytes of a table and their checksum: Parquet's reader gets only unchanged bytes."""
    raw = input_file.read_bytes(path, what.removesuffix(" cannot be used"), most_bytes=sys.maxsize)
    return raw, seal.check(raw, what, str(path), _AGAIN)


def metadata_of(data: bytes) -> dict[str, Any]:
    """Return the metadata of the Parquet file with these bytes; the bytes must be undamaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    metadata = pq.read_schema(pa.BufferReader(data)).metadata or {}
    return dict(json.loads(metadata.get(_METADATA_KEY, b"{}")))


def write_page(path: Path, html: str) -> None:
    """Write an HTML page; in a results folder it carries its identity and checksum, as documents do."""
    claims = artefacts.claims(path)
    if not claims:
        with replacing(path) as part:
            part.write_text(html, encoding="utf-8", newline="\n")
        return
    # A comment ends at "-->".
    told = json.dumps({seal.KEY: seal.BLANK, **claims}).replace(">", "\\u003e")
    _write_sealed(path, html.replace("<head>\n", f"<head>\n<!-- {PAGE_MARK} {told} -->\n", 1).encode())


def _write_sealed(path: Path, data: bytes) -> None:
    """Write ``data``, in which the checksum is still blank."""
    whole = seal.sealed(data)
    with replacing(path) as part:
        part.write_bytes(whole)
    artefacts.record(path, str(seal.checksum(whole)))


def finite(value: float, where: str) -> float:
    """Return ``value``; a NaN or infinity is an :class:`InputError` at ``where``."""
    if not math.isfinite(value):
        raise InputError("a number is not finite", where=where, found=str(value), remedy="make the input again")
    return value
