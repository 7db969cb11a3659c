"""Which calls of different ranks are the same one: all streams are laid onto one sequence of slots.

In: a list of :class:`Token` for each rank of each run. Out: the slots in order, and for each stream the slot of each of
its tokens. Tokens that all streams have in the same order divide the streams into short pieces; equal sets of pieces,
such as those of the iterations, are aligned once. Pieces are merged by their longest common subsequence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from phase2_nodesim.derive.recorded.identity import Place
from phase2_nodesim.derive.recorded.recordings import TooMuchError

# Pairs of calls, in one alignment: what has a common order needs a hundredth of it, more takes minutes.
_MOST_COMPARED = 300_000_000

Key = TypeVar("Key", bound=Hashable)
Labels = frozenset[Hashable]


class Token(NamedTuple):
    """What identifies a call. ``labels`` says, for each peer, which relations it may be; None fits all."""

    place: Place
    size: int | None
    labels: tuple[Labels | None, ...]


def fits(a: Token, b: Token) -> bool:
    return (
        a.place == b.place
        and (a.size is None or b.size is None or a.size == b.size)
        and all(
            one is None or other is None or bool(one & other) for one, other in zip(a.labels, b.labels, strict=True)
        )
    )


def merged(a: Token, b: Token) -> Token:
    labels = tuple(
        other if one is None else one if other is None else one & other
        for one, other in zip(a.labels, b.labels, strict=True)
    )
    return Token(a.place, b.size if a.size is None else a.size, labels)


def align(streams: Mapping[Key, Sequence[Token]]) -> tuple[list[Token], dict[Key, list[int]]]:
    """Return the slots, and the slot of each token of each stream; the slots of a stream ascend."""
    sequences = list(dict.fromkeys(tuple(tokens) for tokens in streams.values()))
    anchors = _anchors(sequences)
    pieces = [_pieces(sequence, anchors) for sequence in sequences]
    slots: list[Token] = []
    places: list[list[int]] = [[] for _ in sequences]
    known: dict[tuple[tuple[Token, ...], ...], tuple[list[Token], list[list[int]]]] = {}
    left = _MOST_COMPARED
    for column in zip(*pieces, strict=True):
        if column not in known:
            found, where, left = _aligned(column, left)
            known[column] = found, where
        found, where = known[column]
        for place, indices in zip(places, where, strict=True):
            place += [len(slots) + index for index in indices]
        slots += found
    by_sequence = dict(zip(sequences, places, strict=True))
    return slots, {key: by_sequence[tuple(tokens)] for key, tokens in streams.items()}


def _pieces(sequence: tuple[Token, ...], anchors: frozenset[Place]) -> list[tuple[Token, ...]]:
    """Cut a sequence into anchors, which are pieces of one token, and what is between them."""
    pieces: list[tuple[Token, ...]] = []
    between: list[Token] = []
    for token in sequence:
        if token.place in anchors:
            pieces += [tuple(between), (token,)]
            between = []
        else:
            between.append(token)
    return [*pieces, tuple(between)]


def _anchors(sequences: Sequence[tuple[Token, ...]]) -> frozenset[Place]:
    """Return places whose tokens all sequences have equally often, in the same order, and fitting."""
    counts = [Counter(token.place for token in sequence) for sequence in sequences]
    equal = [place for place in counts[0] if all(found[place] == counts[0][place] for found in counts)]
    # The rarest first: they divide most surely. A place that breaks the common order is no anchor.
    anchors: frozenset[Place] = frozenset()
    candidate = frozenset(equal)
    if _common(sequences, candidate):
        return candidate
    for place in sorted(equal, key=lambda place: (counts[0][place], str(place))):
        if _common(sequences, anchors | {place}):
            anchors |= {place}
    return anchors


def _common(sequences: Sequence[tuple[Token, ...]], anchors: frozenset[Place]) -> bool:
    slots = [token for token in sequences[0] if token.place in anchors]
    for sequence in sequences[1:]:
        found = [token for token in sequence if token.place in anchors]
        if len(found) != len(slots) or not all(map(fits, slots, found)):
            return False
        slots = list(map(merged, slots, found))
    return True


class _Slot:
    __slots__ = ("token",)

    def __init__(self, token: Token) -> None:
        self.token = token


def _aligned(sequences: Sequence[tuple[Token, ...]], left: int) -> tuple[list[Token], list[list[int]], int]:
    """Return the slots of sequences, and the slots of each; the richest sequence first, the others merged into it.

    ``left`` is how many pairs of calls may be compared; what is left of it then is returned, too.
    """
    where: dict[tuple[Token, ...], list[_Slot]] = {}
    slots: list[_Slot] = []
    for sequence in sorted(dict.fromkeys(sequences), key=lambda found: (-len(set(found)), -len(found))):
        left -= len(slots) * len(sequence)
        if left < 0:
            raise TooMuchError(
                "no common order of the calls of all ranks was found",
                found=f"more than {_MOST_COMPARED:,} pairs of calls to compare, in {len(sequences)} sequences",
                remedy="record fewer numbers of ranks, or replay a recording at its number of ranks",
            )
        slots, where[sequence] = _merged_into(slots, sequence)
    index = {id(slot): number for number, slot in enumerate(slots)}
    places = [[index[id(slot)] for slot in where[sequence]] for sequence in sequences]
    return [slot.token for slot in slots], places, left


def _merged_into(slots: list[_Slot], sequence: tuple[Token, ...]) -> tuple[list[_Slot], list[_Slot]]:
    pairs = dict(_common_subsequence([slot.token for slot in slots], sequence))
    taken = {number: slot for slot, number in pairs.items()}
    result: list[_Slot] = []
    own: list[_Slot] = []
    reached = 0
    for number, token in enumerate(sequence):
        if number in taken:
            slot = slots[taken[number]]
            result += slots[reached : taken[number] + 1]
            reached = taken[number] + 1
            slot.token = merged(slot.token, token)
        else:
            slot = _Slot(token)
            result.append(slot)
        own.append(slot)
    return result + slots[reached:], own


def _common_subsequence(a: Sequence[Token], b: Sequence[Token]) -> list[tuple[int, int]]:
    """Return index pairs of a longest common subsequence of fitting tokens."""
    if not a or not b:
        return []
    if len(a) == len(b) and all(map(fits, a, b)):
        return [(i, i) for i in range(len(a))]
    numbers: dict[Token, int] = {}
    columns = np.array([numbers.setdefault(token, len(numbers)) for token in b])
    distinct = list(numbers)
    rows: dict[Token, np.ndarray] = {}
    length = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    table = np.zeros((len(a), len(b)), bool)
    for i, token in enumerate(a):
        if token not in rows:
            rows[token] = np.array([fits(token, other) for other in distinct])
        table[i] = rows[token][columns]
        best = np.maximum(length[i, 1:], length[i, :-1] + table[i])
        length[i + 1, 1:] = np.maximum.accumulate(best)
    pairs = []
    i, j = len(a), len(b)
    while i and j:
        if length[i - 1, j] == length[i, j]:
            i -= 1
        elif length[i, j - 1] == length[i, j]:
            j -= 1
        else:
            pairs.append((i - 1, j - 1))
            i, j = i - 1, j - 1
    return pairs[::-1]
