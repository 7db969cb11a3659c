"""Leaves out repetitions that all ranks of all runs make alike, and puts them back into the skeleton's loops.

In: the columns of each run (:mod:`.recorded.columns`). Out: which of them stay, so that every loop still shows that it
is one, and how many repetitions each loop lacks. A derivation takes as long as there are calls; those of another
iteration that is equal, call by call, on each rank of each run, add nothing to it but the number of iterations.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from manynode.errors import InputError
from phase2_nodesim.derive.recorded.columns import Checksums, joined
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.derive.sequence.fold import Leaf, Loop, Node, folded, loops

_FEWEST = 3
"""Repetitions that stay: a loop of two shows no steps of tags."""
_DIFFER = "the repetitions that were left out are not those of one loop"


class LoopsDifferError(InputError):
    """What was left out cannot be put back."""


@dataclass(frozen=True)
class Region:
    """A loop over columns: the last columns of its kept repetitions, by number among those kept; how many it lacks."""

    ends: tuple[int, ...]
    lacking: int


@dataclass(frozen=True)
class Shortening:
    """``kept`` says of each column whether it stays."""

    kept: NDArray[np.bool_]
    regions: Sequence[Region]


@dataclass(frozen=True)
class Shortened:
    """Recordings without the repetitions that all have, and the loops that lack them."""

    recordings: list[Recording]
    regions: Sequence[Region] = ()


def shortened(recordings: Sequence[Recording]) -> Shortened:
    """Return recordings without what is repeated alike in all; as they are if they cannot be shorter."""
    columns = [own for one in recordings if (own := one.columns) is not None]
    if len(columns) == len(recordings) and len(set(map(len, columns))) == 1:
        found = shortening(joined(columns))
        if found.regions:
            shorter = [one.without_columns(found.kept) for one in recordings]
            whole = [one for one in shorter if one is not None]
            if len(whole) == len(recordings):
                return Shortened(whole, found.regions)
    return Shortened([*recordings])


def shortening(columns: Checksums) -> Shortening:
    """Return which columns stay of those of one run, or of several joined."""
    _, numbers = np.unique(columns, return_inverse=True)
    nothing = np.zeros(0, np.int64)
    tree = folded([Leaf([place], int(number), nothing) for place, number in enumerate(numbers)])
    stay = _stay(sorted({loop.count for loop in loops(tree)}))
    kept = np.zeros(len(columns), bool)
    for leaf, path in _with_loops(tree, ()):
        by_place = np.reshape(leaf.slots, [loop.count for loop in path])
        kept[by_place[tuple(slice(stay[loop.count]) for loop in path)]] = True
    among = np.cumsum(kept) - 1
    return Shortening(kept, [*_regions(tree, (), stay, among)])


def _stay(counts: Sequence[int]) -> dict[int, int]:
    """Return how many repetitions stay of each number of them: more of more, so that different loops stay different."""
    found: dict[int, int] = {}
    for count in counts:
        found[count] = min(count, max(_FEWEST, 1 + max(found.values(), default=0)))
    return found


def _regions(
    nodes: Sequence[Node], around: tuple[Loop, ...], stay: dict[int, int], among: NDArray[np.int64]
) -> Iterator[Region]:
    for node in nodes:
        if isinstance(node, Leaf):
            continue
        inside = (*around, node)
        yield from _regions(node.body, inside, stay, among)
        if stay[node.count] == node.count:
            continue
        last, path = list(_with_loops(node.body[-1:], inside))[-1]
        by_place = np.reshape(last.slots, [loop.count for loop in path])
        # Of loops inside the last column, the last repetition that stays.
        last_that_stays = tuple(slice(stay[loop.count] - 1, stay[loop.count]) for loop in path[len(inside) :])
        chosen = by_place[(*(slice(stay[loop.count]) for loop in inside), *last_that_stays)]
        outer = chosen.reshape(-1, stay[node.count])
        for ends in outer:
            yield Region(tuple(int(end) for end in among[ends]), node.count - stay[node.count])


@dataclass
class _Lacking:
    """What one loop of the skeleton lacks, by the repetition of the loops around it."""

    loop: Loop
    around: tuple[Loop, ...]
    found: dict[tuple[int, ...], int] = field(default_factory=lambda: defaultdict(int))


def note_lacking(tree: Sequence[Node], regions: Sequence[Region], slots: Sequence[int]) -> None:
    """Note in the loops of a skeleton how many repetitions they lack; ``slots`` are those of the columns' ends.

    Raises :class:`LoopsDifferError` if the repetitions of a region are not those of one loop.
    """
    place_of = {
        slot: (leaf, path, place)
        for leaf, path in _with_loops(tree, ())
        for place, slot in enumerate(leaf.slots)
    }  # fmt: skip
    lacking: dict[int, _Lacking] = {}
    for region in regions:
        by_leaf: dict[int, list[tuple[Leaf, tuple[Loop, ...], int]]] = defaultdict(list)
        for end in region.ends:
            leaf, path, place = place_of[slots[end]]
            by_leaf[id(leaf)].append((leaf, path, place))
        # A loop may begin in the middle of a repetition, and the last end is then behind it.
        ends = max(by_leaf.values(), key=len)
        path = ends[0][1]
        counts = tuple(loop.count for loop in path)
        digits = np.array([np.unravel_index(place, counts) for _, _, place in ends])
        steps = np.diff(digits, axis=0)
        moving = np.flatnonzero(steps.any(axis=0))
        if len(moving) != 1 or len(set(steps[:, moving[0]].tolist())) != 1:
            raise LoopsDifferError(_DIFFER)
        level = int(moving[0])
        step = int(steps[0, level])
        one = lacking.setdefault(id(path[level]), _Lacking(path[level], path[:level]))
        one.found[tuple(digits[0, :level].tolist())] += region.lacking * step
    for one in lacking.values():
        if len(set(one.found.values())) != 1 or len(one.found) != math.prod(loop.count for loop in one.around):
            raise LoopsDifferError(_DIFFER)
        one.loop.lacking = next(iter(one.found.values()))


def _with_loops(nodes: Sequence[Node], path: tuple[Loop, ...]) -> Iterator[tuple[Leaf, tuple[Loop, ...]]]:
    for node in nodes:
        if isinstance(node, Leaf):
            yield node, path
        else:
            yield from _with_loops(node.body, (*path, node))
