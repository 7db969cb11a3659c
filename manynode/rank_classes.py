"""Rank classes, schema ``rank-classes/1``: which ranks behave alike, and the class of a rank at another job size.

Phase 1 writes the file, phases 2 and 3 read it. This module checks it and assigns the classes of the profiled job to
any number of ranks. :func:`read_rank_classes` returns only valid content, which its callers need not check.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from manynode import seeds, tables
from manynode.errors import InputError

SCHEMA = "rank-classes/1"
_REMEDY = "classify the counters again (manynode profile classify)"


def read_rank_classes(path: Path) -> dict[str, Any]:
    """Return the document at ``path``; a damaged or inconsistent one is an :class:`InputError`."""
    content = tables.read_json(path, SCHEMA)
    check_rank_classes(content, str(path))
    return content


def single_class(ranks: int, nodes: int, node_of_rank: Mapping[int, int] | None = None) -> dict[str, Any]:
    """Return the rank classes of an application that was not profiled: all ranks are of class "0"."""
    if ranks < 1 or nodes < 1:
        raise InputError("rank classes need ranks", found=f"{ranks} ranks, {nodes} nodes", allowed="1 or more")
    return {
        "source": "none",
        "reference_nodes": nodes,
        "classes": [
            {"name": "0", "share": 1.0, "ranks": list(range(ranks)), "centroid": {}, "description": "all ranks"}
        ],
        "rank_class": {str(rank): "0" for rank in range(ranks)},
        "representative_nodes": [min(node_of_rank.values()) if node_of_rank else 0],
        "coverage": 1.0,
        "stability": {"stable": None, "reasons": ["the application was not profiled"]},
        "assignment": {"fixed": {}, "shares": {"0": 1.0}},
    }


def check_rank_classes(content: Mapping[str, Any], where: str) -> None:
    """Raise :class:`InputError` if ``content`` violates ``rank-classes/1``."""

    def need(holds: bool, key: str, found: object, allowed: str) -> None:
        if not holds:
            raise InputError(
                "a rank-classes file cannot be used",
                where=f"{where}: key '{key}'",
                found=repr(found)[:200],
                allowed=allowed,
                remedy=_REMEDY,
            )

    def entry(parent: Any, key: str, kind: type, path: str, allowed: str) -> Any:
        value = parent.get(key) if isinstance(parent, Mapping) else None
        need(isinstance(value, kind) and not (kind is int and isinstance(value, bool)), path, value, allowed)
        return value

    classes = entry(content, "classes", list, "classes", "a list of at least one class")
    need(len(classes) > 0, "classes", classes, "a list of at least one class")
    names: list[str] = []
    for i, item in enumerate(classes):
        names.append(entry(item, "name", str, f"classes[{i}].name", "a name"))
        need(_is_share(item.get("share")), f"classes[{i}].share", item.get("share"), "a number from 0 to 1")
    need(len(set(names)) == len(names), "classes", names, "every name once")
    known = f"one of the classes {', '.join(names)}"

    rank_class = entry(content, "rank_class", dict, "rank_class", "an object: rank -> class")
    need(
        len(rank_class) > 0 and set(rank_class) == {str(rank) for rank in range(len(rank_class))},
        "rank_class",
        sorted(rank_class)[:5],
        "every rank from 0 to N-1 once, and at least one",
    )
    for rank, name in rank_class.items():
        need(isinstance(name, str) and name in names, f"rank_class.{rank}", name, known)
    nodes = entry(content, "representative_nodes", list, "representative_nodes", "a list of node numbers")
    sound = len(nodes) > 0 and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in nodes)
    need(sound, "representative_nodes", nodes, "at least one node number from 0")

    assignment = entry(content, "assignment", dict, "assignment", "an object with 'fixed' and 'shares'")
    fixed = entry(assignment, "fixed", dict, "assignment.fixed", "an object: rank (negative: from the end) -> class")
    for rank, name in fixed.items():
        need(_is_position(rank), f"assignment.fixed.{rank}", rank, "a whole number; -1 is the last rank")
        need(isinstance(name, str) and name in names, f"assignment.fixed.{rank}", name, known)
    shares = entry(assignment, "shares", dict, "assignment.shares", "an object: class -> share")
    for name, share in shares.items():
        need(name in names, f"assignment.shares.{name}", name, known)
        need(_is_share(share), f"assignment.shares.{name}", share, "a number from 0 to 1")
    total = math.fsum(shares.values())
    need(abs(total - 1.0) <= 1e-6, "assignment.shares", total, "shares that add up to 1")


def classes_of_job(technique: str, path: Path, ranks: int, seed: int) -> list[str]:
    """Return the class of every rank of a job by ``technique``; ``path`` is the rank-classes file of phase 1."""
    if technique.startswith("ext"):
        return assign_classes(read_rank_classes(path), ranks, seed)
    # A node that ran alone is of one class: its ranks have no place in a larger job.
    return ["0"] * ranks


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _is_position(text: object) -> bool:
    if not isinstance(text, str) or not text.isascii():
        return False
    digits = text.removeprefix("-")
    return digits.isdigit() and len(digits) <= 9 and (text == digits or int(digits) > 0)


def assign_classes(rank_classes: Mapping[str, Any], ranks: int, seed: int) -> list[str]:
    """Return the class of every rank of a job with ``ranks`` ranks.

    A job of the profiled size gets the profiled classes. At any other size, ranks with a fixed class (the root of a
    tree, the last rank) keep it, counted first from the start, then from the end. The rest is drawn by share. The draw
    is stratified (systematic sampling, then a random order): every class gets its share rounded up or down, which is
    unbiased.
    """
    if ranks < 1:
        raise InputError("classes can only be given to ranks", found=f"{ranks} ranks", allowed="1 or more")
    profiled = rank_classes["rank_class"]
    if len(profiled) == ranks:
        return [str(profiled[str(rank)]) for rank in range(ranks)]
    result: list[str | None] = [None] * ranks
    rule = rank_classes["assignment"]
    for position, name in sorted(rule["fixed"].items(), key=lambda item: (int(item[0]) < 0, abs(int(item[0])))):
        rank = int(position) if int(position) >= 0 else ranks + int(position)
        if 0 <= rank < ranks and result[rank] is None:
            result[rank] = name
    free = [rank for rank in range(ranks) if result[rank] is None]
    names = sorted(rule["shares"])
    random = seeds.generator(seed, "rank classes", ranks)
    bounds = np.cumsum([rule["shares"][name] for name in names])
    points = (np.arange(len(free)) + random.random()) / max(1, len(free)) * bounds[-1]
    drawn = random.permutation(np.minimum(np.searchsorted(bounds, points, side="right"), len(names) - 1))
    for rank, index in zip(free, drawn, strict=True):
        result[rank] = names[int(index)]
    return [str(name) for name in result]
