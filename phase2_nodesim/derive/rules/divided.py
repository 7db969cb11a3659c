"""Sizes of messages that follow a range which the ranks divide among themselves.

A program deals N cells to the ranks, or to those along an axis; a message has as many bytes as its block has cells,
times those of a cell, plus a border; a face in three dimensions is the product of two such blocks. N need not be named:
it follows from where the larger blocks are and how much they shrink. In: bytes at points. Out: expressions such as
``8 * block(768, d0, c0) + 16``, all that fit.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from phase2_nodesim.derive.grids.points import Values
from phase2_nodesim.derive.rules.formulas import FEWEST_VALUES, Formulas, Observed, fits

LARGEST = 1 << 17
"""Ranges up to this many cells are looked for; longer ones if they are a number of the command."""
_LARGEST_SIDE = 1 << 12
"""The same, of a side of a face."""
_MOST_SIDES = 64
_BORDERS = (0, 1, 2, -1, -2, 3, 4, 5, 6, 8, 10)
MOST = 24
"""Expressions that are kept; more say that the runs leave the range open."""
# Ranges and numbers of parts in the expressions of :data:`DEALS`.
_DEALT = re.compile(r"(?:block|ceil_div)\((\d+), (d\d|P)|(\d+) (?:\* \(\w+ \+ 1\) )?// (d\d|P)")

# The names of the number of parts, and of the own part.
_Axis = tuple[str, str]
# Cells of each range, parts and number of the part -> cells of the part.
Deal = Callable[[Values, int, int], Values]


def _first_larger(cells: Values, parts: int, part: int) -> Values:
    return cells // parts + (part < cells % parts)


def _rounded_down(cells: Values, parts: int, part: int) -> Values:
    return cells * (part + 1) // parts - cells * part // parts


def _last_larger(cells: Values, parts: int, part: int) -> Values:
    return cells // parts + (part >= parts - cells % parts)


def _rounded_up(cells: Values, parts: int, part: int) -> Values:
    size = -(-cells // parts)
    found: Values = np.minimum(np.maximum(cells - part * size, 0), size)
    return found


def _all_down(cells: Values, parts: int, part: int) -> Values:
    return cells // parts


def _all_up(cells: Values, parts: int, part: int) -> Values:
    return -(-cells // parts)


# The usual ways to deal cells, and the expressions for them.
DEALS: tuple[tuple[Deal, str], ...] = (
    (_first_larger, "block({n}, {d}, {c})"),
    (_rounded_down, "({n} * ({c} + 1) // {d} - {n} * {c} // {d})"),
    (_last_larger, "block({n}, {d}, {d} - 1 - {c})"),
    (_rounded_up, "max(0, min(ceil_div({n}, {d}), {n} - {c} * ceil_div({n}, {d})))"),
)


def _edged(edges: tuple[bool, bool], more: int, deal: Deal, form: str) -> tuple[Deal, str]:
    """Return a way to deal cells in which the first part, the last one, or both have one more, or lack one."""
    first, last = edges
    sign = "+" if more > 0 else "-"
    words = f" {sign} ({{c}} == 0)" * first + f" {sign} ({{c}} == {{d}} - 1)" * last

    def dealt(cells: Values, parts: int, part: int) -> Values:
        return deal(cells, parts, part) + more * ((first and part == 0) + (last and part == parts - 1))

    return dealt, f"({form}{words})"


_BOTH, _FIRST, _LAST = (True, True), (True, False), (False, True)
# A range has one more point than cells, which runs with even parts alone do not tell from the cells of another range.
_POINTS = tuple(_edged(edges, 1, *one) for edges in (_FIRST, _LAST) for one in DEALS)
# Values at the boundary may be given: those parts do without them.
_EDGED = tuple(_edged(edges, -1, *one) for edges in (_BOTH, _FIRST, _LAST) for one in DEALS)


# All parts are equal; no message tells of what is left over or lacking. Small ranges of large cells explain any three
# sizes.
_EQUAL = ((_all_down, "({n} // {d})"), (_all_up, "ceil_div({n}, {d})"))


# One after the other until one fits; points are tried beside cells. With how many numbers of parts there must be.
_TRIED: tuple[tuple[Sequence[tuple[Deal, str]], int], ...] = (
    (DEALS, FEWEST_VALUES), (_POINTS, FEWEST_VALUES), (_EDGED, FEWEST_VALUES), (_EQUAL, FEWEST_VALUES + 1),
)  # fmt: skip


@dataclass(frozen=True)
class _Range:
    """``unit`` bytes for each of ``cells``, and a border."""

    cells: int
    unit: int
    border: int

    def text(self, form: str, axis: _Axis) -> str:
        """Return the expression for the size of a part along an axis."""
        parts, part = axis
        block = form.format(n=self.cells, d=parts, c=part)
        text = f"{self.unit} * {block}" if self.unit != 1 else block
        return f"{text} {'+' if self.border > 0 else '-'} {abs(self.border)}" if self.border else text


def divided_sizes(observed: Sequence[Observed], formulas: Formulas) -> list[str]:
    """Return the expressions that fit, those of named numbers and without a border first."""
    if len(observed) != 1 or observed[0].bound:
        return []
    named = sorted({value for _, parameters in formulas.points.runs for value in parameters.values()})
    found: list[tuple[tuple[int, ...], str]] = []
    for number, (deals, fewest) in enumerate(_TRIED):
        for axis in [] if found and deals is not _POINTS else _axes(formulas):
            seen = _seen(observed[0], (axis,), formulas)
            if seen is not None and len(np.unique(seen[:, 0])) >= fewest:
                found += [((number, *order), text) for order, text in _alone(seen, axis, named, deals)]
    texts = list(dict.fromkeys(text for _, text in sorted(found)))
    if not texts:
        for axes in itertools.combinations(_axes(formulas, ranks=False), 2):
            if (seen := _seen(observed[0], axes, formulas)) is not None:
                texts += _with_each_side(_faces(seen, axes, named))
    return texts if len(texts) <= MOST else _open(texts, observed, formulas)


def _open(texts: Sequence[str], observed: Sequence[Observed], formulas: Formulas) -> list[str]:
    """Return some of many expressions, and one that differs from the first wherever a part is uneven.

    Parts that were even in all runs leave the range open. A run with uneven ones decides.
    """
    dealt = dict.fromkeys(_DEALT.findall(texts[0]))
    other = f"{texts[0]} + ({' or '.join(f'{n or m} % {d or e} != 0' for n, d, m, e in dealt)})"
    return [*texts[:MOST], other] if fits(other, observed, formulas.points) else []


def _alone(
    seen: Values, axis: _Axis, named: Sequence[int], deals: Iterable[tuple[Deal, str]] = DEALS, largest: int = LARGEST
) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield ranges whose parts have the sizes seen, as (what is believed first, expression)."""
    for deal, form in deals:
        for one in _ranges(seen.tolist(), deal, named, largest):
            text = one.text(form, axis)
            yield (int(one.cells not in named), int(one.border != 0), abs(one.border), one.cells), text


def _with_each_side(found: Iterable[tuple[tuple[int, ...], str, str]]) -> list[str]:
    """Return products that have each of the sides found; of the many pairs of them the others differ where these do."""
    sides: set[tuple[int, str]] = set()
    texts = []
    for _, one, other in sorted(found):
        if not {(0, one), (1, other)} <= sides:
            sides |= {(0, one), (1, other)}
            texts.append(f"({one}) * ({other})")
    return texts


def _faces(seen: Values, axes: Sequence[_Axis], named: Sequence[int]) -> Iterator[tuple[tuple[int, ...], str, str]]:
    """Yield pairs of ranges whose parts, each with a border, have products of the sizes seen."""
    sides = np.array(sorted({*range(int(seen[:, 0].max()), _LARGEST_SIDE), *named}), np.int64)
    _, groups = np.unique(seen[:, 2:4], axis=0, return_inverse=True)
    for (deal, form), border in itertools.product(DEALS, _BORDERS):
        cells = sides
        for group in range(int(groups.max()) + 1):
            rows = seen[groups == group].tolist()
            parts, part, _, _, first_size = rows[0]
            first = deal(cells, parts, part) + border
            for parts, part, _, _, size in rows:
                side = deal(cells, parts, part) + border
                fits = (side > 0) & (size % np.maximum(side, 1) == 0) & (size * first == first_size * side)
                cells, first = cells[fits], first[fits]
        if len(cells) > _MOST_SIDES:
            continue  # no two parts of the first axis have the same of the second
        for n in cells.tolist():
            one = np.array([n], np.int64)
            others = [
                (d, c, size // int(deal(one, parts, part)[0] + border)) for parts, part, d, c, size in seen.tolist()
            ]
            block = _Range(n, 1, border).text(form, axes[0])
            rest = np.unique(np.array(others, np.int64), axis=0)
            for order, text in _alone(rest, axes[1], named, largest=_LARGEST_SIDE):
                yield (*order, abs(border), n), block, text


def _axes(formulas: Formulas, *, ranks: bool = True) -> Iterator[_Axis]:
    """Yield how many parts there are and which one a rank has: along each axis, then among all ranks."""
    rule = formulas.points.rule
    for axis in range(rule.dimensions if rule else 0):
        yield f"d{axis}", f"c{axis}"
    if ranks and (rule is None or rule.dimensions > 1):
        yield "P", "rank"


def _seen(one: Observed, axes: Sequence[_Axis], formulas: Formulas) -> Values | None:
    """Return the distinct rows of parts and part (along each axis) and size; None if sizes do not follow from them."""
    columns = [formulas.points.values(name) for axis in axes for name in axis]
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return None
    rows: Values = np.unique(np.stack([*known, one.values], axis=1)[one.where], axis=0)
    if len(np.unique(rows[:, :-1], axis=0)) < len(rows) or len(np.unique(rows[:, -1])) < FEWEST_VALUES:
        return None
    return rows


def _ranges(seen: Sequence[tuple[int, int, int]], deal: Deal, named: Sequence[int], largest: int) -> Iterator[_Range]:
    """Yield the ranges whose parts have the sizes seen: rows of parts, part and size."""
    *small_part, least = min(seen, key=lambda row: row[2])
    *large_part, most = max(seen, key=lambda row: row[2])
    fewest = max(parts for parts, _, _ in seen)
    # Programs refuse to deal fewer cells than there are parts.
    candidates = [np.arange(fewest, largest), np.array([n for n in named if n >= largest], np.int64)]
    cells = np.concatenate(candidates)
    small = deal(cells, *small_part)
    more = deal(cells, *large_part) - small
    fits = (more > 0) & ((most - least) % np.maximum(more, 1) == 0)
    cells, small, more = cells[fits], small[fits], more[fits]
    unit = (most - least) // more
    border = least - unit * small
    for parts, part, size in seen:
        fits = unit * deal(cells, parts, part) + border == size
        cells, unit, border = cells[fits], unit[fits], border[fits]
    for values in zip(cells.tolist(), unit.tolist(), border.tolist(), strict=True):
        yield _Range(*values)
