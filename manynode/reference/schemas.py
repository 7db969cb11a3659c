"""The registry of schemas (``schemas.yaml``) and the page of result files that is made from it.

In: the YAML file beside this module, and that of each study in its folder. Out: :class:`Schema` objects by name, such
as ``projection/1``, and Markdown.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from manynode.config.study_section import study_folders

REGISTRY = Path(__file__).with_name("schemas.yaml")
# The unit of a column is the end of its name; the longest end that fits counts.
_UNITS = {"_s": "s", "_Bps": "B/s", "bytes": "B", "_w": "W", "_kwh": "kWh", "_pct": "%", "_per_s": "1/s"}
_SECONDS = "seconds"


@dataclass(frozen=True)
class Schema:
    """A table or document: its file, what a row stands for, and its columns with their meaning (none: a document)."""

    name: str
    file: str
    rows: str = ""
    text: str = ""
    more: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


@cache
def groups() -> Mapping[str, tuple[Schema, ...]]:
    """Return the schemas by group, in the order of the files.

    A column without a meaning and a group that the YAML file beside this module lacks are a :class:`KeyError`.
    """
    content = yaml.safe_load(REGISTRY.read_text(encoding="utf-8"))
    common: dict[str, str] = content["columns"]
    for file, group, members in _of_studies():
        if group not in content["groups"]:
            raise KeyError(f"{file}: there is no group {group!r} of tables; groups are {', '.join(content['groups'])}")
        content["groups"][group] = {**members, **content["groups"][group]}
    found: dict[str, tuple[Schema, ...]] = {}
    for group, members in content["groups"].items():
        schemas = []
        for name, given in members.items():
            columns = {column: words or common[column] for column, words in given.pop("columns", {}).items()}
            schemas.append(Schema(name, columns=columns, **given))
        found[group] = tuple(schemas)
    return found


def _of_studies() -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """Yield file, group and described tables of each study, the last folder first."""
    for package in study_folders():
        folder = Path(importlib.import_module(package).__path__[0])
        for file in sorted(folder.rglob(REGISTRY.name), reverse=True):
            for group, members in yaml.safe_load(file.read_text(encoding="utf-8")).items():
                yield file, group, members


@cache
def registry() -> Mapping[str, Schema]:
    """Return every schema by its name."""
    return {schema.name: schema for members in groups().values() for schema in members}


def unit(column: str) -> str:
    """Return the unit of a column, empty for counts, shares and texts."""
    if column == _SECONDS:
        return "s"
    ends = [end for end in _UNITS if column.endswith(end)]
    return _UNITS[max(ends, key=len)] if ends else ""


def page() -> str:
    """Return the reference page of result files (Markdown)."""
    lines = [
        "# Result files",
        "",
        "Generated from `manynode/reference/schemas.yaml` and the studies' own by `manynode config generate`.",
        "Every file carries the name and version of its schema, its provenance and a checksum. Paths are relative to",
        "`results/NAME`. `MODE` is `ext` or `no-ext`. Intervals have the experiment's confidence.",
    ]
    for group, members in groups().items():
        lines += ["", f"## {group}", "", "| schema | file | one row |", "|---|---|---|"]
        lines += [f"| [`{one.name}`](#{anchor(one)}) | `{one.file}` | {one.rows or 'document'} |" for one in members]
        for one in members:
            lines += ["", *_section(one)]
    return "\n".join(lines) + "\n"


def anchor(schema: Schema) -> str:
    """Return the anchor of a schema's section."""
    return schema.name.replace("/", "-")


def _section(schema: Schema) -> Iterator[str]:
    yield f"### {schema.name} {{ #{anchor(schema)} }}"
    yield ""
    if schema.text:
        yield schema.text
        return
    yield "| column | unit | meaning |"
    yield "|---|---|---|"
    for column, meaning in schema.columns.items():
        yield f"| `{column}` | {unit(column)} | {meaning} |"
    if schema.more:
        yield f"| … | | {schema.more} |"
