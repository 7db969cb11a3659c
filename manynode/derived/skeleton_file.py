"""Reads, checks and compiles the file of a derived skeleton.

In: a YAML file ``derived-skeleton/1`` (docs/reference/derived-skeletons.md). Out: a checked
:class:`~manynode.derived.skeleton_model.DerivedSkeleton`; the values of its names on all ranks of a job
(:func:`scope_of`); the JSON file that the C++ skeleton ``derived`` reads (:func:`compile`, :func:`write_compiled`).
A mistake is an :class:`InputError` with its place, such as ``body/5/do/0/bytes``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from manynode import input_file, tables
from manynode.config import yaml_text
from manynode.derived.arithmetic import LEAST, MOST, Value
from manynode.derived.call_forms import BLOCKS
from manynode.derived.expression import Expression, Scope, may_name, parse
from manynode.derived.grids import Grid, coordinate_names, grid_of_rule
from manynode.derived.skeleton_model import WORLD, Approximate, DerivedSkeleton, Distribution, Drawn, GridSection, Item
from manynode.errors import InputError, OutputError, nearest

COMPILED_SCHEMA = "derived-program/1"

_EXPRESSIONS = ("when", "repeat", "peer", "source", "bytes", "receive_bytes", "tag", "receive_tag", "take")
_LISTS = ("sources", "destinations")


def read(path: Path) -> DerivedSkeleton:
    """Return the checked skeleton of a YAML file."""
    return checked(content_of(path), str(path))


def content_of(path: Path) -> Any:
    """Return what a YAML file holds, not checked yet."""
    text = input_file.read_text(path, "a derived skeleton", most_bytes=yaml_text.MOST_CHARACTERS)
    try:
        return yaml_text.parse(text)
    except ValueError as error:
        raise InputError(_UNUSABLE, where=str(path), found=str(error), remedy="correct that file") from None


_UNUSABLE = "a derived skeleton cannot be used"


def checked(content: Any, where: str) -> DerivedSkeleton:
    """Return the checked skeleton of what a YAML file holds; ``where`` names the file in messages."""
    try:
        skeleton = DerivedSkeleton.model_validate(content)
    except ValidationError as error:
        mistakes = "\n".join(_mistake(item) for item in error.errors(include_url=False))
        raise InputError(_UNUSABLE, where=where, found=mistakes, remedy="correct that file") from None
    _check(skeleton, where)
    return skeleton


def _mistake(item: Any) -> str:
    """Return one finding of pydantic with its place, and for an unknown key the nearest known one."""
    # Members of unions are places to pydantic, not to a reader of the file.
    unions = ("str", "int", "constrained-int", "Drawn", "[key]")
    place = "/".join(str(part) for part in item["loc"] if part not in unions) or "the whole file"
    if item["type"] == "missing":
        return f"{place}: this key is missing"
    if item["type"] == "extra_forbidden":
        known = Item.model_fields if place.startswith("body/") else DerivedSkeleton.model_fields
        near = nearest(str(item["loc"][-1]), known)
        # YAML splits entries in braces at commas.
        hint = "; put quotes around an expression with a comma" if set("()") & set(str(item["loc"][-1])) else ""
        return f"{place}: unknown key" + (f"; did you mean {near!r}?" if near else hint)
    return f"{place}: {item['msg'].removeprefix('Value error, ')}"


def _check(skeleton: DerivedSkeleton, where: str) -> None:
    """Raise :class:`InputError` for expressions, phases, communicators and distributions that are not right."""
    axes = 0 if skeleton.grid is None else skeleton.grid.axes
    known = {"P", "rank", *skeleton.parameters, *(f"{kind}{axis}" for kind in "cd" for axis in range(axes))}
    # Both ends of a message draw its size: the mean must be the same on all ranks.
    everywhere = known - {"rank"} - {f"c{axis}" for axis in range(axes)}
    for name, distribution in skeleton.distributions.items():
        for text in [] if distribution.mean is None else [distribution.mean, *distribution.others]:
            parse(text, f"{where}: distributions/{name}/mean").check(everywhere, axes)
    for name, text in skeleton.definitions.items():
        parse(text, f"{where}: definitions/{name}").check(known, axes)
        known.add(name)
    for index, communicator in enumerate(skeleton.communicators):
        for field in ("color", "key"):
            place = f"{where}: communicators/{index}/{field}"
            parse(getattr(communicator, field), place).check(known, axes)
    for place, item, indices in items(skeleton.body):
        _check_item(skeleton, item, f"{where}: {place}", known, indices, axes)


def _check_item(
    skeleton: DerivedSkeleton, item: Item, where: str, known: set[str], indices: tuple[str, ...], axes: int
) -> None:
    names = known | set(indices)
    for field, text in expressions(item):
        parse(text, f"{where}/{field}").check(names | {"k"} if field in BLOCKS else names, axes)
    if item.index is not None and (not may_name(item.index) or item.index in names):
        raise InputError("a loop's index has a name that is taken", where=f"{where}/index", found=item.index)
    sizes = (item.bytes, item.receive_bytes, item.sent, item.received)
    drawn = [size.draw for size in sizes if isinstance(size, Drawn)]
    if item.site is not None and item.site >= len(skeleton.sites):
        raise InputError(
            "a derived skeleton has no such site",
            where=f"{where}/site",
            found=item.site,
            allowed=f"0 to {len(skeleton.sites) - 1}, the entries of 'sites'",
        )
    for field, given, allowed in (
        ("compute", [item.compute], skeleton.phases),
        ("communicator", [item.communicator], [WORLD, *(one.name for one in skeleton.communicators)]),
        ("bytes", drawn, list(skeleton.distributions)),
    ):
        for name in given:
            if name is not None and name not in allowed:
                near = nearest(name, allowed)
                raise InputError(
                    "a derived skeleton uses a name that it does not have",
                    where=f"{where}/{field}",
                    found=name,
                    allowed=", ".join(allowed) or "none",
                    remedy=f"did you mean {near!r}?" if near else None,
                )


def items(
    body: list[Item], place: str = "body", indices: tuple[str, ...] = ()
) -> Iterator[tuple[str, Item, tuple[str, ...]]]:
    """Yield each item, also of loops and groups, with its place and the indices of the loops around it."""
    for number, item in enumerate(body):
        here = f"{place}/{number}"
        yield here, item, indices
        if item.do is not None:
            yield from items(item.do, f"{here}/do", (*indices, item.index) if item.index else indices)


def expressions(item: Item) -> Iterator[tuple[str, str | int]]:
    """Yield the fields of an item that are expressions, lists as ``sources/0``, with their texts."""
    for field in (*_EXPRESSIONS, *BLOCKS):
        value = getattr(item, field)
        if isinstance(value, str | int):
            yield field, value
    for field in _LISTS:
        for index, value in enumerate(getattr(item, field) or []):
            yield f"{field}/{index}", value


def values_of(skeleton: DerivedSkeleton, given: Mapping[str, int]) -> dict[str, int]:
    """Return all parameters, with the defaults of those not given; an unknown or wrong one is an error."""
    for name, value in given.items():
        if name not in skeleton.parameters:
            near = nearest(name, skeleton.parameters)
            raise InputError(
                f"unknown parameter of {skeleton.name}",
                where=name,
                allowed=", ".join(skeleton.parameters) or "none",
                remedy=f"did you mean {near!r}?" if near else None,
            )
        if isinstance(value, bool) or not isinstance(value, int) or not LEAST <= value <= MOST:
            raise InputError(f"a parameter of {skeleton.name} is no whole number", where=name, found=repr(value))
    return {name: given.get(name, parameter.default) for name, parameter in skeleton.parameters.items()}


def grid_of(section: GridSection | None, ranks: int) -> Grid | None:
    """Return the grid of so many ranks, or None for a skeleton without one."""
    if section is None:
        return None
    periodic = tuple(section.periodic or [False] * section.axes)
    if ranks in section.extents:
        return Grid(tuple(section.extents[ranks]), periodic, section.layout)
    if section.rule is None:
        raise InputError(
            "the grid of a derived skeleton has no extents for this number of ranks",
            where="grid/extents",
            found=ranks,
            allowed=", ".join(map(str, section.extents)),
            remedy="state them, or give a rule",
        )
    return grid_of_rule(
        section.rule,
        ranks,
        section.axes,
        order=section.order,
        ties=section.ties,
        layout=section.layout,
        periodic=periodic,
    )


def scope_of(skeleton: DerivedSkeleton, ranks: int, parameters: Mapping[str, int] | None = None) -> Scope:
    """Return the values of all names on all ranks of a job, for :meth:`Expression.evaluate`."""
    numbers = np.arange(ranks, dtype=np.int64)
    values: dict[str, Value] = {"P": ranks, "rank": numbers, **values_of(skeleton, parameters or {})}
    grid = grid_of(skeleton.grid, ranks)
    if grid is not None:
        values |= coordinate_names(grid, numbers)
    return Scope(values, grid=grid, definitions=definitions_of(skeleton))


def definitions_of(skeleton: DerivedSkeleton) -> dict[str, Expression]:
    """Return the parsed definitions."""
    return {name: parse(text, f"definitions/{name}") for name, text in skeleton.definitions.items()}


def compile(skeleton: DerivedSkeleton, parameters: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return the JSON for the C++ skeleton: what it needs and nothing else, with ``parameters`` as the defaults."""
    grid = skeleton.grid and skeleton.grid.model_dump(mode="json", exclude_none=True)
    return {
        "schema": COMPILED_SCHEMA,
        "name": skeleton.name,
        "parameters": values_of(skeleton, parameters or {}),
        **({"grid": grid} if grid else {}),
        "communicators": [
            {"name": one.name, "color": str(one.color), "key": str(one.key)} for one in skeleton.communicators
        ],
        # A list, because their order matters.
        "definitions": [[name, str(text)] for name, text in skeleton.definitions.items()],
        "phases": list(skeleton.phases),
        "sites": list(skeleton.sites),
        "distributions": {name: _distribution(one) for name, one in skeleton.distributions.items()},
        "body": [_compiled(item) for item in skeleton.body],
        **({} if skeleton.approximate is None else {"approximate": _lifted(skeleton.approximate)}),
    }


def _lifted(section: Approximate) -> dict[str, Any]:
    runs = [run.model_dump(mode="json") for run in section.runs]
    return {"phases": list(section.phases), "runs": runs, **({} if section.only is None else {"only": section.only})}


def _distribution(one: Distribution) -> dict[str, Any]:
    mean = {} if one.mean is None else {"mean": str(one.mean)}
    return {"values": list(one.values), "persistence": one.persistence, **mean}


def _compiled(item: Item) -> dict[str, Any]:
    content = item.model_dump(mode="json", exclude_none=True, exclude={"do"})
    for field in (*_EXPRESSIONS, *BLOCKS):
        if isinstance(content.get(field), int):
            content[field] = str(content[field])
    for field in _LISTS:
        if field in content:
            content[field] = [str(entry) for entry in content[field]]
    if item.do is not None:
        content["do"] = [_compiled(one) for one in item.do]
    return content


def write_compiled(path: Path, skeleton: DerivedSkeleton, parameters: Mapping[str, int] | None = None) -> str:
    """Write the JSON of :func:`compile` and return its digest, the parameter ``digest`` of the C++ skeleton.

    A file that has this content already stays: engines may be reading it. One that is no compiled skeleton is an
    :class:`OutputError`.
    """
    text = json.dumps(compile(skeleton, parameters), indent=1, ensure_ascii=True) + "\n"
    there = path.read_bytes() if path.is_file() else None
    if there is not None and f'"schema": "{COMPILED_SCHEMA}"'.encode() not in there[:100]:
        raise OutputError(
            "the compiled skeleton would overwrite another file",
            where=str(path),
            allowed="a compiled skeleton, or no file",
            remedy="give the skeleton (.yaml) another name, or move this file away",
        )
    if there != text.encode("ascii"):
        with tables.replacing(path) as part:
            part.write_text(text, encoding="ascii")
    return digest_of(text)


def digest_of(text: str) -> str:
    """Return the digest of a compiled file's content: SHA-256, 16 digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
