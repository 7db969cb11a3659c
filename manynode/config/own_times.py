"""Compute times that the user knows already, in place of phases 1 and 2: the section ``own_times`` of an experiment.

The rows are in the file, or in a CSV table that the loader reads (:func:`with_own_times`). The resolved experiment
holds the rows themselves: a changed time is a changed experiment.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_serializer, model_validator

from manynode import input_file
from manynode.config.quantities import PositiveInt, Quantity, Section, written
from manynode.errors import InputError, nearest

_COLUMNS = ("phase", "mean", "spread", "between_ranks", "class")
_NEEDED = ("phase", "mean")
INSIDE = "the experiment itself"

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def _or_path(schema: dict[str, Any]) -> None:
    """Let editors accept the path of a CSV file in place of its rows."""
    kept = {key: schema.pop(key) for key in ("items", "type") if key in schema}
    schema["anyOf"] = [{"type": "string"}, kept]


class OwnPhase(Section):
    """The times of one compute phase: on all ranks, or on those of one class."""

    phase: Annotated[str, Field(min_length=1)] = Field(description="Compute phase, as the skeleton names it")
    mean: Annotated[float, Quantity("time")] = Field(
        description="Mean time of an execution, with its unit; 0 s for a phase that takes no time or does not occur"
    )
    spread: Annotated[float, Field(ge=0, le=3, allow_inf_nan=False)] = Field(
        default=0.0, description="Standard deviation of the times over their mean; 0: constant"
    )
    between_ranks: Share = Field(
        default=0.0, description="Share of the variance that lies between ranks: each rank keeps its part of it"
    )
    class_: str | None = Field(default=None, alias="class", description="Class of ranks; empty: all classes")

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in ("phase", "mean", "spread", "between_ranks")}
        return {**values, "class": self.class_}

    @model_validator(mode="after")
    def _only_what_varies_has_parts(self) -> OwnPhase:
        if self.between_ranks > 0 and self.spread == 0:
            raise ValueError(
                "between_ranks: without a spread there is no variance to share; give spread, or leave it out"
            )
        if self.mean == 0 and self.spread > 0:
            raise ValueError("spread: a phase that takes no time has none; leave it out, or give a mean")
        return self


class OwnClass(Section):
    """A class of ranks: its share of them, and the ranks that always belong to it."""

    share: Share = Field(description="Share of the ranks without a fixed class; the shares add up to 1")
    ranks: list[Annotated[int, Field(ge=-(10**9), lt=10**9)]] = Field(
        default_factory=list, description="Ranks of this class in a job of any size; -1 is the last one"
    )


class OwnTimesSection(Section):
    """Compute times of the main job in place of phases 1 and 2, for machines that were measured already."""

    phases: list[OwnPhase] = Field(
        default_factory=list,
        description="Times beside external ranks, for the techniques ext-*: a CSV file (phase, mean, and optionally "
        "spread, between_ranks, class), or its rows",
        json_schema_extra=_or_path,
    )
    alone: list[OwnPhase] = Field(
        default_factory=list,
        description="Times of a node that runs alone, for the techniques no-ext-*: a CSV file or rows, without class",
        json_schema_extra=_or_path,
    )
    classes: dict[Annotated[str, Field(min_length=1, max_length=80)], OwnClass] = Field(
        default_factory=dict, description="Classes of ranks that the rows name; default: all ranks are alike"
    )
    nodes: PositiveInt | None = Field(
        default=None, description="Nodes of the job in which the times were measured; empty: not known"
    )
    machine: str | None = Field(default=None, description="Name of the measured machine, if it is not the experiment's")
    source: str = Field(default=INSIDE, description="Where the times come from; a CSV file's name is put here")

    @model_validator(mode="after")
    def _belongs_together(self) -> OwnTimesSection:
        if not self.phases and not self.alone:
            raise ValueError("give 'phases' (times beside external ranks) or 'alone' (times of a node that runs alone)")
        shares = sum(entry.share for entry in self.classes.values())
        if self.classes and abs(shares - 1) > 1e-6:
            raise ValueError(f"classes: the shares add up to {shares:g}; allowed is 1")
        owner: dict[int, str] = {}
        for name, entry in self.classes.items():
            for rank in entry.ranks:
                if rank in owner:
                    raise ValueError(f"classes: {name}: ranks: rank {rank} is also of class {owner[rank]!r}")
                owner[rank] = name
        _check_rows(self.phases, "phases", list(self.classes))
        if named := [row for row in self.alone if row.class_ is not None]:
            raise ValueError(
                f"alone: {named[0].phase}: class: a node that runs alone has no classes (found {named[0].class_!r}); "
                "leave it out"
            )
        _check_rows(self.alone, "alone", [])
        return self

    def rows(self, external: bool) -> list[OwnPhase]:
        """Return the rows of a mode of phase 2."""
        return self.phases if external else self.alone

    def named_phases(self, external: bool) -> list[str]:
        """Return the phases of a mode, each once, in the order of the rows."""
        return list(dict.fromkeys(row.phase for row in self.rows(external)))

    def check_techniques(self, techniques: list[str]) -> None:
        """Raise :class:`ValueError` for techniques whose times are not given."""
        for key, external, prefix in (("phases", True, "ext-"), ("alone", False, "no-ext-")):
            wanting = [name for name in techniques if name.startswith(prefix)]
            if wanting and not self.rows(external):
                what = "beside external ranks" if external else "of a node that runs alone"
                raise ValueError(
                    f"own_times: {key}: the technique {wanting[0]} needs times {what}, which are not given; add them, "
                    f"or leave {', '.join(wanting)} out of 'techniques'"
                )


def machine_of(content: Mapping[str, Any]) -> str:
    """Return the name of the machine whose compute times a resolved experiment (JSON) has."""
    own = content.get("own_times") or {}
    return str(own.get("machine") or content["machine"]["name"])


def _check_rows(rows: list[OwnPhase], key: str, classes: list[str]) -> None:
    """Raise :class:`ValueError` for classes that do not exist, repeated rows and phases that some class lacks."""
    given: dict[str, set[str | None]] = {}
    for row in rows:
        if row.class_ is not None and row.class_ not in classes:
            near = nearest(row.class_, classes)
            known = ", ".join(classes) if classes else "none: 'classes' declares them"
            raise ValueError(
                f"{key}: {row.phase}: class: {row.class_!r} does not exist (allowed: {known})"
                + (f"; did you mean {near!r}?" if near else "")
            )
        of = given.setdefault(row.phase, set())
        if row.class_ in of:
            whom = f"class {row.class_!r}" if row.class_ else "all classes"
            raise ValueError(f"{key}: {row.phase} is given twice for {whom}; keep one row")
        of.add(row.class_)
    for phase, of in given.items():
        if None in of and len(of) > 1:
            raise ValueError(f"{key}: {phase} is given for all classes and for a class too; give it for each class")
        if None not in of and (lacking := [name for name in classes if name not in of]):
            raise ValueError(
                f"{key}: {phase} has no row for class {lacking[0]!r}; add it (mean: 0 s if it takes no time)"
            )


def with_own_times(section: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return the section ``own_times`` with the rows of the CSV files that it names, relative to ``base``."""
    filled = dict(section)
    named = []
    for key in ("phases", "alone"):
        name = filled.get(key)
        if isinstance(name, str):
            found = input_file.existing(
                base,
                name,
                "a table of compute times",
                where=f"own_times: {key}",
                kind="a CSV file",
                remedy="correct the path, or write the rows into the experiment",
            )
            filled[key] = read_own_times(found)
            named.append(name)
    if named:
        filled.setdefault("source", ", ".join(dict.fromkeys(named)))
    return filled


def read_own_times(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the CSV file ``path`` as the experiment's file would have them; their values are not checked.

    Lines that start with ``#`` are comments. An empty cell is left out.
    """
    text = input_file.read_text(path, "a table of compute times")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#"]
    rows: list[dict[str, Any]] = []
    header: list[str] = []
    for number, line in lines:
        cells = [cell.strip() for cell in next(csv.reader([line]))]
        if not header:
            header = cells
            _check_header(header, f"{path}:{number}")
            continue
        if len(cells) != len(header):
            raise InputError(
                "a row and the header have different lengths",
                where=f"{path}:{number}",
                found=f"{len(cells)} values",
                allowed=f"{len(header)}: {', '.join(header)}",
            )
        rows.append(_row(dict(zip(header, cells, strict=True)), f"{path}:{number}"))
    if not rows:
        raise InputError(
            "a table of compute times has no rows", where=str(path), found="0 rows", allowed="at least one"
        )
    return rows


def _check_header(header: list[str], where: str) -> None:
    for name in header:
        if name not in _COLUMNS or header.count(name) > 1:
            near = nearest(name, _COLUMNS)
            raise InputError(
                "unknown column" if name not in _COLUMNS else "a column is given twice",
                where=where,
                found=repr(name),
                allowed=", ".join(_COLUMNS),
                remedy=f"did you mean {near!r}?" if near and name not in _COLUMNS else None,
            )
    for name in _NEEDED:
        if name not in header:
            raise InputError("a column is missing", where=where, found=", ".join(header), allowed=f"also {name!r}")


def _row(cells: Mapping[str, str], where: str) -> dict[str, Any]:
    row: dict[str, Any] = {key: value for key, value in cells.items() if value}
    for name in _NEEDED:
        if name not in row:
            raise InputError("a row has a gap", where=f"{where}, column {name}", found="nothing", allowed="a value")
    for name in ("spread", "between_ranks"):
        if name in row:
            row[name] = _number(row[name], f"{where}, column {name}")
    # Checked here as well: the model knows the row, but not its line.
    try:
        OwnPhase.model_validate(row)
    except ValueError as error:
        raise InputError(
            "a row of compute times cannot be used",
            where=where,
            found=_first(error),
            remedy=f"write a time with its unit, such as '{written('1.2 ms')}', and shares as numbers",
        ) from None
    return row


def _first(error: ValueError) -> str:
    found = error.errors()[0] if hasattr(error, "errors") else {"loc": (), "msg": str(error)}
    place = ": ".join(str(part) for part in found["loc"])
    message = str(found["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _number(text: str, where: str) -> float:
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise InputError(
            "a share cannot be used", where=where, found=repr(text), allowed="a number such as 0.03, or 3 %"
        ) from None
