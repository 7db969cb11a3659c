"""Finds the loops in the common sequence of slots.

In: slots. Out: a tree of :class:`Leaf` and :class:`Loop`. A part that follows itself with the same observations is a
loop, the shortest parts first. Tags may grow by the same step from one repetition to the next; two repetitions show no
step, so that this takes three.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np
from numpy.typing import NDArray

from phase2_nodesim.derive.sequence.slots import Slot

_FEWEST_STEPS = 3

Tags = NDArray[np.int64]
Node = Union["Leaf", "Loop"]


@dataclass
class Leaf:
    """One rule; ``slots`` are the slots that follow it, one for each repetition of the loops around it."""

    slots: list[int]
    shape: int
    tags: Tags


@dataclass
class Loop:
    """``count`` repetitions; ``steps`` is by how much each tag in the body grows from one to the next.

    ``lacking`` more were left out of the streams (:mod:`.shortened`).
    """

    count: int
    body: list[Node]
    steps: Tags
    shape: int
    lacking: int = 0

    @property
    def tags(self) -> Tags:
        return np.concatenate([node.tags for node in self.body])


def fold(slots: Sequence[Slot]) -> list[Node]:
    """Return the program as a tree."""
    numbers: dict[Hashable, int] = {}
    return folded(
        [
            Leaf([number], numbers.setdefault(slot.shape, len(numbers)), np.array(slot.tags, np.int64))
            for number, slot in enumerate(slots)
        ]
    )


def folded(leaves: Sequence[Leaf]) -> list[Node]:
    """Return leaves, whose shapes are numbers, as a tree."""
    nodes: list[Node] = [*leaves]
    shapes = _Shapes(1 + max((leaf.shape for leaf in leaves), default=0))
    while (shorter := _folded_once(nodes, shapes)) is not None:
        nodes = shorter
    return nodes


def leaves(nodes: Sequence[Node]) -> Iterator[Leaf]:
    """Yield the leaves in order."""
    for node in nodes:
        if isinstance(node, Leaf):
            yield node
        else:
            yield from leaves(node.body)


def loops(nodes: Sequence[Node]) -> Iterator[Loop]:
    """Yield the loops, outer ones first."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node
            yield from loops(node.body)


class _Shapes:
    """Numbers shapes from ``first`` on, so that comparing them is fast."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._numbers: dict[Hashable, int] = {}

    def of(self, shape: Hashable) -> int:
        return self._numbers.setdefault(shape, self._first + len(self._numbers))


def _folded_once(nodes: list[Node], shapes: _Shapes) -> list[Node] | None:
    """Return the nodes with all repetitions of the shortest repeated length folded, or None if there is none."""
    equal = np.array([shapes.of(("exact", node.shape, node.tags.tobytes())) for node in nodes])
    alike = np.array([node.shape for node in nodes])
    for length in range(1, len(nodes) // 2 + 1):
        for ids, steps in ((equal, False), (alike, True)):
            if (shorter := _folded(nodes, ids, length, shapes, steps=steps)) is not None:
                return shorter
    return None


def _folded(
    nodes: list[Node], ids: NDArray[np.int64], length: int, shapes: _Shapes, *, steps: bool
) -> list[Node] | None:
    result: list[Node] = []
    reached = 0
    for start in _repeated(ids, length).tolist():
        if start < reached:
            continue
        count = _repetitions(nodes, ids, start, length, steps=steps)
        if count < (_FEWEST_STEPS if steps else 2):
            continue
        result += nodes[reached:start]
        result.append(_loop(nodes[start : start + count * length], length, shapes))
        reached = start + count * length
    return result + nodes[reached:] if reached else None


def _repeated(ids: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Return where a part of this length is followed by an equal one."""
    if len(ids) < 2 * length:
        return np.zeros(0, np.int64)
    total = np.concatenate([[0], np.cumsum(ids[:-length] == ids[length:])])
    return np.flatnonzero(total[length:] - total[:-length] == length)


def _repetitions(nodes: list[Node], ids: NDArray[np.int64], start: int, length: int, *, steps: bool) -> int:
    """Return how often the part at ``start`` repeats, with tags that grow by the same step."""
    count = 1
    first = ids[start : start + length]
    while np.array_equal(ids[start + count * length : start + (count + 1) * length], first):
        count += 1
    if not steps:
        return count
    tags = [_tags(nodes[start + i * length : start + (i + 1) * length]) for i in range(count)]
    grown = [after - before for before, after in itertools.pairwise(tags)]
    return 1 + sum(1 for _ in itertools.takewhile(lambda step: np.array_equal(step, grown[0]), grown))


def _tags(nodes: Sequence[Node]) -> Tags:
    return np.concatenate([node.tags for node in nodes])


def _loop(nodes: list[Node], length: int, shapes: _Shapes) -> Loop:
    parts = [nodes[i : i + length] for i in range(0, len(nodes), length)]
    steps = _tags(parts[1]) - _tags(parts[0])
    shape = shapes.of(("loop", len(parts), tuple(node.shape for node in parts[0]), steps.tobytes()))
    body = parts[0]
    for part in parts[1:]:
        for node, other in zip(body, part, strict=True):
            _join(node, other)
    return Loop(len(parts), body, steps, shape)


def _join(node: Node, other: Node) -> None:
    """Add the slots of an equal node."""
    if isinstance(node, Leaf) and isinstance(other, Leaf):
        node.slots += other.slots
    elif isinstance(node, Loop) and isinstance(other, Loop):
        for own, others in zip(node.body, other.body, strict=True):
            _join(own, others)
