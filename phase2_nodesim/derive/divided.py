"""Sizes of messages that follow a range which the ranks divide among themselves.

A program deals N cells to the ranks, or to those along an axis; a message has as many bytes as its block has cells,
times those of a cell, plus a border. N need not be named: it follows from where the larger blocks are and how much they
shrink. In: bytes at points. Out: expressions such as ``8 * block(768, d0, c0) + 16``, all that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from phase2_nodesim.derive.formulas import FEWEST_VALUES, Formulas, Observed
from phase2_nodesim.derive.points import Values

_LARGEST = 1 << 17
"""Ranges up to this many cells are looked for; longer ones if they are a number of the command."""
_MOST = 8
"""Expressions that are kept; more say that the runs leave the range open."""

# Cells of each range, parts and number of the part -> cells of the part.
_Deal = Callable[[Values, int, int], Values]


def _first_larger(cells: Values, parts: int, part: int) -> Values:
    return cells // parts + (part < cells % parts)


def _rounded_down(cells: Values, parts: int, part: int) -> Values:
    return cells * (part + 1) // parts - cells * part // parts


def _last_larger(cells: Values, parts: int, part: int) -> Values:
    return cells // parts + (part >= parts - cells % parts)


def _rounded_up(cells: Values, parts: int, part: int) -> Values:
    size = -(-cells // parts)
    return np.minimum(np.maximum(cells - part * size, 0), size)


# The usual ways to deal cells, and the expressions for them.
_DEALS: tuple[tuple[_Deal, str], ...] = (
    (_first_larger, "block({n}, {d}, {c})"),
    (_rounded_down, "({n} * ({c} + 1) // {d} - {n} * {c} // {d})"),
    (_last_larger, "block({n}, {d}, {d} - 1 - {c})"),
    (_rounded_up, "max(0, min(ceil_div({n}, {d}), {n} - {c} * ceil_div({n}, {d})))"),
)


@dataclass(frozen=True)
class _Part:
    """A size that was seen: of one part of so many."""

    parts: int
    part: int
    size: int


@dataclass(frozen=True)
class _Range:
    """``unit`` bytes for each of ``cells``, and a border."""

    cells: int
    unit: int
    border: int


def divided_sizes(observed: Sequence[Observed], formulas: Formulas) -> list[str]:
    """Return the expressions that fit, those of named numbers and without a border first; none if too many do."""
    if len(observed) != 1 or observed[0].bound:
        return []
    named = sorted({value for _, parameters in formulas.points.runs for value in parameters.values()})
    found: list[tuple[tuple[bool, bool, int, int], str]] = []
    for parts, part in _axes(formulas):
        seen = _seen(observed[0], parts, part, formulas)
        for deal, form in _DEALS if seen else ():
            for one in _ranges(seen, deal, named):
                block = form.format(n=one.cells, d=parts, c=part)
                text = f"{one.unit} * {block}" if one.unit != 1 else block
                sign = "+" if one.border > 0 else "-"
                text = f"{text} {sign} {abs(one.border)}" if one.border else text
                found.append(((one.cells not in named, one.border != 0, abs(one.border), one.cells), text))
    texts = list(dict.fromkeys(text for _, text in sorted(found)))
    return texts if len(texts) <= _MOST else []


def _axes(formulas: Formulas) -> Iterator[tuple[str, str]]:
    """Yield how many parts there are and which one a rank has: along each axis, then among all ranks."""
    rule = formulas.points.rule
    for axis in range(rule.dimensions if rule else 0):
        yield f"d{axis}", f"c{axis}"
    if rule is None or rule.dimensions > 1:
        yield "P", "rank"


def _seen(one: Observed, parts: str, part: str, formulas: Formulas) -> list[_Part]:
    """Return the distinct sizes by part; empty if they are no function of it, or too few to say anything."""
    many, which = formulas.points.values(parts), formulas.points.values(part)
    if many is None or which is None:
        return []
    rows = np.unique(np.stack([many, which, one.values], axis=1)[one.where], axis=0)
    if len(np.unique(rows[:, :2], axis=0)) < len(rows) or len(np.unique(rows[:, 0])) < FEWEST_VALUES:
        return []
    if len(np.unique(rows[:, 2])) < FEWEST_VALUES:
        return []
    return [_Part(*row) for row in rows.tolist()]


def _ranges(seen: Sequence[_Part], deal: _Deal, named: Sequence[int]) -> Iterator[_Range]:
    """Yield the ranges whose parts have the sizes seen."""
    least = min(seen, key=lambda one: one.size)
    most = max(seen, key=lambda one: one.size)
    largest = max(one.parts for one in seen)
    # Programs refuse to deal fewer cells than there are parts.
    candidates = [np.arange(largest, _LARGEST), np.array([n for n in named if n >= _LARGEST], np.int64)]
    cells = np.concatenate(candidates)
    small, large = (deal(cells, one.parts, one.part) for one in (least, most))
    more = large - small
    fits = (more > 0) & ((most.size - least.size) % np.maximum(more, 1) == 0)
    cells, small, more = cells[fits], small[fits], more[fits]
    unit = (most.size - least.size) // more
    border = least.size - unit * small
    for one in seen:
        fits = unit * deal(cells, one.parts, one.part) + border == one.size
        cells, unit, border = cells[fits], unit[fits], border[fits]
    for values in zip(cells.tolist(), unit.tolist(), border.tolist(), strict=True):
        yield _Range(*values)
