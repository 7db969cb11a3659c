"""Reads a recording with other parameters by the structure that is known: how often each loop repeats in it.

In: the tree of the program with the rules of its leaves, and the streams of the recording. Out: the number of
repetitions of each loop, and for each rank the leaf of each of its events. A recording of another structure, or with
another number of repetitions on some ranks, is an :class:`InputError`: its parameters change what the program does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manynode.errors import InputError
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.recorded.events import Event, Stream, peers
from phase2_nodesim.derive.recorded.places import call_at
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.derive.rules.rules import Rule
from phase2_nodesim.derive.sequence.fold import Leaf, Loop, Node
from phase2_nodesim.derive.sequence.walks import grid_of, line, turns

Kind = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True)
class _Call:
    """A leaf on one rank, or those of a walk: each event by its leaf, and by what is the same with all parameters."""

    leaves: tuple[int, ...]
    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class _Loop:
    number: int
    body: tuple[_Call | _Loop, ...]
    grows: bool


_Part = _Call | _Loop


@dataclass(frozen=True)
class Parsed:
    """``repetitions`` by loop (in the order of :func:`.fold.loops`); ``leaves`` by rank: (leaf, is it the first)."""

    repetitions: dict[int, int]
    leaves: list[list[tuple[int, bool]]]


def parse_recording(recording: Recording, streams: Sequence[Stream], tree: Sequence[Node], rules: Sequence[Rule],
                    points: Points) -> Parsed:  # fmt: skip
    """Return how a recording follows the program; ``points`` are those of this recording alone."""
    numbered = _Numbered(rules, points)
    patterns = [numbered.parts(tree, rank) for rank in range(recording.ranks)]
    kinds = [[_kind(event) for event in stream] for stream in streams]
    tags = [[(event.call.tag, event.call.receive_tag) for event in stream] for stream in streams]
    # Ranks with the most loops first: they decide, the others must agree.
    order = sorted(range(recording.ranks), key=lambda rank: -len(set(kinds[rank])))
    repetitions: dict[int, int] = {}
    for rank in order:
        missing = [loop for loop in _loop_numbers(patterns[rank]) if loop not in repetitions]
        if not missing:
            continue
        found = _counts(patterns[rank], kinds[rank], tags[rank], repetitions)
        if found is None:
            raise _other_structure(recording, rank)
        repetitions |= found
    leaves = []
    for rank in range(recording.ranks):
        expanded = list(_expanded(patterns[rank], repetitions, True))
        if [kind for call, _ in expanded for kind in call.kinds] != kinds[rank]:
            raise _other_structure(recording, rank)
        leaves.append([(leaf, first) for call, first in expanded for leaf in call.leaves])
    return Parsed(repetitions, leaves)


def _other_structure(recording: Recording, rank: int) -> InputError:
    return InputError(
        "a recording with other parameters has another structure of calls",
        where=f"{recording.where}, rank {rank}",
        found=recording.point(),
        remedy="leave the parameter that changes it fixed, or record its values as programs of their own",
    )


def _kind(event: Event) -> Kind:
    return (event.operation, event.site, tuple(peers(event)))


class _Numbered:
    """Builds what each rank must do, with the numbers of leaves and loops in the order of the tree."""

    def __init__(self, rules: Sequence[Rule], points: Points) -> None:
        self.rules = rules
        self.points = points
        self.present = [self._truths(rule) for rule in rules]
        self.found_peers = [
            {} if rule.along else {number: self._values(texts[0]) for number, texts in rule.peers.items()}
            for rule in rules
        ]
        self.leaf = self.loop = 0

    def _truths(self, rule: Rule) -> np.ndarray:
        if rule.makers:
            there: np.ndarray = np.logical_or.reduce([self._truths(maker) for maker in rule.makers])
            return there
        found = self.points.truths(rule.when[0])
        assert found is not None
        return found

    def _values(self, text: str) -> np.ndarray:
        found = self.points.values(text)
        # Undefined somewhere; the calls are then compared without it.
        return np.full(self.points.size, -1) if found is None else found

    def parts(self, tree: Sequence[Node], rank: int) -> tuple[_Part, ...]:
        self.leaf = self.loop = 0
        return self._parts(tree, rank)

    def _parts(self, nodes: Sequence[Node], rank: int) -> tuple[_Part, ...]:
        found: list[_Part] = []
        for node in nodes:
            if isinstance(node, Leaf):
                number, self.leaf = self.leaf, self.leaf + 1
                if self.present[number][rank] and (walk := self.rules[number].slot.walk):
                    if walk[0] is self.rules[number].slot:
                        found.append(self._walk(range(number, number + len(walk)), rank))
                elif self.present[number][rank]:
                    found.append(_Call((number,), (self._kind(number, rank),)))
            else:
                number, self.loop = self.loop, self.loop + 1
                body = self._parts(node.body, rank)
                if body:
                    found.append(_Loop(number, body, bool(node.steps.any())))
        return tuple(found)

    def _walk(self, leaves: Sequence[int], rank: int) -> _Call:
        """Return all turns of a walk."""
        grid = grid_of(self.points.rule, self.points.runs[0][0])
        rules = [self.rules[leaf] for leaf in leaves]
        if not any(rule.along for rule in rules):
            raise InputError(
                "the number of turns of a loop follows the number of ranks, and may follow the parameters",
                where=call_at(*rules[0].slot.place[:2]),
                remedy="leave the parameters fixed",
            )
        to = {
            leaf: [line(grid, rank, rule.alongs(number)[0]) or () for number in range(len(rule.slot.alongs))]
            for leaf, rule in zip(leaves, rules, strict=True)
        }
        joins = [rule.slot.joins for rule in rules]
        number = max(len(peers) for found in to.values() for peers in found)
        order = turns(leaves, joins, number)
        seen: dict[int, int] = defaultdict(int)
        kinds = []
        for leaf in order:
            slot = self.rules[leaf].slot
            kinds.append((slot.operation, slot.site, tuple(peers[seen[leaf]] for peers in to[leaf])))
            seen[leaf] += 1
        return _Call(tuple(order), tuple(kinds))

    def _kind(self, number: int, rank: int) -> Kind:
        slot = self.rules[number].slot
        if not slot.is_message:
            return (slot.operation, slot.site, ())
        return (slot.operation, slot.site, tuple(int(one[rank]) for one in self.found_peers[number].values()))


def _loop_numbers(parts: Sequence[_Part]) -> Iterator[int]:
    for part in parts:
        if isinstance(part, _Loop):
            yield part.number
            yield from _loop_numbers(part.body)


_Tags = list[tuple[int, int]]
# (loop, repetitions) in the order in which loops end, as nested pairs.
_Trace = tuple[Any, ...]


def _counts(
    pattern: Sequence[_Part], kinds: Sequence[Kind], tags: _Tags, known: dict[int, int]
) -> dict[int, int] | None:
    """Return the repetitions of each loop on a rank, the same at each of its occurrences, or None."""
    for end, trace in _match(pattern, 0, 0, kinds, tags, known, ()):
        if end != len(kinds):
            continue
        found: dict[int, int] = {}
        while trace:
            trace, (number, count) = trace
            if found.setdefault(number, count) != count:
                break
        else:
            return found
    return None


def _match(
    pattern: Sequence[_Part], index: int, position: int, kinds: Sequence[Kind], tags: _Tags, known: dict[int, int],
    trace: _Trace,
) -> Iterator[tuple[int, _Trace]]:  # fmt: skip
    """Yield where the pattern from ``index`` on may end if it begins at ``position``; many repetitions first."""
    while index < len(pattern):
        part = pattern[index]
        if isinstance(part, _Loop):
            for end, after in _repeat(part, 0, position, position, kinds, tags, known, trace, ()):
                yield from _match(pattern, index + 1, end, kinds, tags, known, after)
            return
        width = len(part.kinds)
        if tuple(kinds[position : position + width]) != part.kinds:
            return
        position += width
        index += 1
    yield position, trace


def _repeat(
    loop: _Loop, count: int, start: int, position: int, kinds: Sequence[Kind], tags: _Tags, known: dict[int, int],
    trace: _Trace, grown: tuple[tuple[int, int], ...],
) -> Iterator[tuple[int, _Trace]]:  # fmt: skip
    """Yield the ends of a loop of which ``count`` repetitions are matched, the last from ``start`` to ``position``.

    Tags of a repetition are those before plus the same steps, or none in a loop whose tags do not grow.
    """
    if loop.number in known and count == known[loop.number]:
        yield position, (trace, (loop.number, count))
        return
    for end, after in _match(loop.body, 0, position, kinds, tags, known, trace):
        if end == position:
            continue
        steps: tuple[tuple[int, int], ...] = ()
        if count:
            if end - position != position - start:
                continue
            pairs = zip(tags[start:position], tags[position:end], strict=True)
            steps = tuple((b[0] - a[0], b[1] - a[1]) for a, b in pairs)
            moved = any(step != (0, 0) for step in steps)
            if (moved and not loop.grows) or (count > 1 and steps != grown):
                continue
        yield from _repeat(loop, count + 1, position, end, kinds, tags, known, after, steps)
    if loop.number not in known:
        yield position, (trace, (loop.number, count))


def _expanded(parts: Sequence[_Part], repetitions: dict[int, int], first: bool) -> Iterator[tuple[_Call, bool]]:
    for part in parts:
        if isinstance(part, _Call):
            yield part, first
            continue
        for number in range(repetitions[part.number]):
            yield from _expanded(part.body, repetitions, first and number == 0)


def loop_of(nodes: Sequence[Node]) -> list[Loop]:
    """Return the loops in the order of their numbers."""
    found: list[Loop] = []
    for node in nodes:
        if isinstance(node, Loop):
            found.append(node)
            found += loop_of(node.body)
    return found
