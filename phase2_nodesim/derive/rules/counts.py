"""Sizes of the blocks of collectives with counts, such as MPI_Alltoallv: expressions of ``k``, the block's rank.

In: by point, the bytes of each block. Out: all expressions that fit, or none. The blocks of a rank are equal, or they
are those of a range that the ranks of the communicator divide, times a size of the rank's own: a transpose of a matrix
whose rows and columns are both divided has products of two parts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from phase2_nodesim.derive.grids.points import Values
from phase2_nodesim.derive.rules.blocks import sides
from phase2_nodesim.derive.rules.divided import DEALS, LARGEST, MOST, Deal
from phase2_nodesim.derive.rules.formulas import Formulas

Blocks = Mapping[int, tuple[int, ...]]
# A number at points -> the expressions that fit it.
Fit = Callable[[Mapping[int, int]], list[str]]

BLOCK = "k"


def block_texts(blocks: Blocks, formulas: Formulas, fit: Fit) -> list[str]:
    """Return the expressions that fit; ``fit`` finds those for a number of the rank's own."""
    if all(len(set(sizes)) == 1 for sizes in blocks.values()):
        return fit({point: sizes[0] for point, sizes in blocks.items()})
    found = []
    for parts in _parts(blocks, formulas):
        for shares, text in _dealt(blocks, parts, formulas):
            own = _own(blocks, shares)
            found += [_product(one, text) for one in (fit(own) if own else ())]
    return found if len(found) <= MOST else []


def _parts(blocks: Blocks, formulas: Formulas) -> list[str]:
    """Return the names of the number of blocks."""
    found = []
    for name in formulas.sizes:
        values = formulas.points.values(name)
        if values is not None and all(values[point] == len(sizes) for point, sizes in blocks.items()):
            found.append(name)
    return found


def _dealt(blocks: Blocks, parts: str, formulas: Formulas) -> Iterator[tuple[Blocks, str]]:
    """Yield ranges whose parts are to each other as the blocks of each rank are: the parts by point, the expression."""
    kinds = frozenset(
        (len(sizes), tuple(size // gcd for size in sizes)) for sizes in blocks.values() if (gcd := math.gcd(*sizes))
    )
    for deal, form in DEALS:
        for side in sides(formulas):
            # Smaller jobs have fewer blocks.
            texts = [form.format(n=f"({side})", d=parts, c=k) for k in (BLOCK, f"min({BLOCK}, {parts} - 1)")]
            if not side.isdigit() and (shares := _values(blocks, texts[1], formulas)) is not None:
                yield shares, texts[0]
        for cells in _ranges(kinds, deal):
            one = np.array([cells], np.int64)
            of = {count: tuple(int(deal(one, count, k)[0]) for k in range(count)) for count, _ in kinds}
            shares = {point: of.get(len(sizes), ()) for point, sizes in blocks.items()}
            yield shares, form.format(n=cells, d=parts, c=BLOCK)


def _values(blocks: Blocks, text: str, formulas: Formulas) -> Blocks | None:
    """Return the values of an expression of ``k`` for the blocks of each point."""
    columns = [formulas.points.values(text, **{BLOCK: k}) for k in range(max(map(len, blocks.values())))]
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return None
    return {point: tuple(int(known[k][point]) for k in range(len(sizes))) for point, sizes in blocks.items()}


@functools.lru_cache(maxsize=64)
def _ranges(kinds: frozenset[tuple[int, tuple[int, ...]]], deal: Deal) -> tuple[int, ...]:
    """Return the numbers of cells whose parts are to each other as the sizes of each kind of list.

    Several calls of a program have the same lists.
    """
    cells: Values = np.arange(1, LARGEST, dtype=np.int64)
    for count, sizes in sorted(kinds, key=lambda kind: len(set(kind[1])) == 1):  # equal parts tell least
        largest = sizes.index(max(sizes))
        for k, size in enumerate(sizes):
            most = deal(cells, count, largest)
            cells = cells[(most > 0) & (deal(cells, count, k) * sizes[largest] == most * size)]
    return tuple(int(one) for one in cells)


def _own(blocks: Blocks, shares: Blocks) -> dict[int, int] | None:
    """Return the number at each point that a rank's parts are multiplied with to give its blocks, if there is one."""
    found = {}
    for point, sizes in blocks.items():
        if not any(sizes):
            found[point] = 0
            continue
        parts = shares[point]
        largest = sizes.index(max(sizes))
        factor, rest = divmod(sizes[largest], parts[largest]) if parts[largest] > 0 else (0, 1)
        if rest or any(factor * part != size for part, size in zip(parts, sizes, strict=True)):
            return None
        found[point] = factor
    return found


def _product(own: str, part: str) -> str:
    if own == "1":
        return part
    return f"{own} * {part}" if own.isidentifier() or own.isdigit() else f"({own}) * {part}"
