"""Files between the phases: Parquet tables and JSON documents that carry schema, version and provenance.

Every file is written whole under another name and then renamed, so that a reader never meets half a file; a full disk
leaves the old file as it was. Bytes depend on the content alone: no time of writing, no path.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manynode import input_file
from manynode.errors import InputError, OutputError

if TYPE_CHECKING:
    import pandas as pd

_METADATA_KEY = b"manynode"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``; on success it takes ``path``'s place, on failure it goes."""
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
        raise write_error(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_error(path: Path, error: OSError) -> OutputError:
    """Return the user's error for a write that the system refused."""
    remedies = {
        errno.ENOSPC: "free space on that disk, then run again: finished steps are kept",
        errno.EDQUOT: "free space under your quota, then run again: finished steps are kept",
        errno.EACCES: "make the folder writable or choose another one with --directory",
        errno.EROFS: "choose a folder that can be written with --directory",
    }
    return OutputError(
        "a result could not be written",
        where=str(path),
        found=error.strerror or str(error),
        remedy=remedies.get(error.errno or 0, "see the system's message above, then run again"),
    )


def write_json(path: Path, schema: str, content: Mapping[str, Any]) -> None:
    """Write ``content`` with its schema name, such as ``timing-profile/1``, as the first key."""
    text = json.dumps({"schema": schema, **content}, indent=1, allow_nan=False)
    with replacing(path) as part:
        part.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path, schema: str) -> dict[str, Any]:
    """Return the document at ``path``; a file of another schema or version is an :class:`InputError`."""
    what = f"a {schema.split('/')[0]} file cannot be used"
    raw = input_file.read_bytes(path, f"a {schema.split('/')[0]} file")
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError(
            what, where=str(path), found=f"no valid JSON: {error}", remedy="make the file again with manynode"
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
    return content  # type: ignore[no-any-return]


def write_table(path: Path, schema: str, frame: pd.DataFrame, provenance: Mapping[str, Any] | None = None) -> None:
    """Write ``frame`` as Parquet with its schema name, such as ``segments/1``, and provenance in the metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    metadata = json.dumps({"schema": schema, "provenance": dict(provenance or {})}, sort_keys=True).encode()
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _METADATA_KEY: metadata})
    with replacing(path) as part:
        pq.write_table(table, part, compression="zstd")


def read_table(path: Path, schema: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Return the table at ``path``; another schema, a missing column or a damaged file is an :class:`InputError`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    what = f"a {schema.split('/')[0]} table cannot be used"
    input_file.check(path, f"a {schema.split('/')[0]} table", most_bytes=sys.maxsize)
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            what, where=str(path), found=str(error).splitlines()[0], remedy="delete the file and run again"
        ) from None
    try:
        found = json.loads((table.schema.metadata or {}).get(_METADATA_KEY, b"{}")).get("schema")
    except (ValueError, AttributeError):
        found = None
    if found != schema:
        raise InputError(
            what,
            where=str(path),
            found=repr(found),
            allowed=repr(schema),
            remedy="make the file again with this version of manynode",
        )
    missing = sorted(set(columns) - set(table.column_names))
    if missing:
        raise InputError(what, where=str(path), found=f"no column {', '.join(missing)}", remedy="run the step again")
    return table.to_pandas()


def read_provenance(path: Path) -> dict[str, Any]:
    """Return the provenance that ``write_table`` stored at ``path``, or an empty mapping."""
    import pyarrow.parquet as pq

    metadata = pq.read_schema(path).metadata or {}
    return dict(json.loads(metadata.get(_METADATA_KEY, b"{}")).get("provenance", {}))


def finite(value: float, where: str) -> float:
    """Return ``value``; a NaN or infinity is an :class:`InputError` at ``where``."""
    if not math.isfinite(value):
        raise InputError("a number is not finite", where=where, found=str(value), remedy="make the input again")
    return value
