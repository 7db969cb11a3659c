"""Whether a job of a derived skeleton matches itself: a check that needs no recording.

In: a skeleton at a number of ranks. Out: what does not match, or None. Each message has its receive, in order, with
room for its bytes; all ranks make the same collectives in the same order; all requests are completed; all peers exist.
What a rank computes between two calls is known from a recording.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manynode.derived.call_forms import WAITS_FOR_ONE, block_fields
from manynode.derived.expression import ExpressionError
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.judging.interpret import Job, Members, Step, draw_of
from phase2_nodesim.derive.recorded.events import POINT_TO_POINT, RECEIVES, SENDS
from phase2_nodesim.derive.rules.groups import together

# Repetitions of a loop that are checked: the first, one after another repetition, and one more.
_REPETITIONS = 3
# Collectives whose blocks all ranks know.
_KNOWN = ("llgatherv", "educe_scatter")
# Collectives in which all ranks give the same bytes.
_SAME_BYTES = ("llreduce", "Reduce", "reduce", "cast", "can", "lltoall", "Barrier", "barrier")

_Array = NDArray[np.int64]


_MOST_KINDS = 1 << 20
"""Of tags and communicators; with two ranks of a million each they are one number of 64 bits."""


class _Sides(NamedTuple):
    """The messages of one step that are sent and those that are received."""

    sent: _Array
    received: _Array


class _Messages:
    """The messages of a job, each side as rows of channel, bytes, distribution (-1: none) in the order of the program.

    A channel is sender, receiver, tag and communicator as one number.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.sides: list[_Sides] = []
        self._known: dict[object, _Sides] = {}
        self._kinds: dict[tuple[int, int], int] = {}

    def add(self, step: Step, call: str) -> str | None:
        """Add the messages of a step; return what is wrong with one, or None."""
        if step.key not in self._known:
            made = self._made(step, call)
            if isinstance(made, str):
                return made
            self._known[step.key] = made
        self.sides.append(self._known[step.key])
        return None

    def sorted(self, side: int) -> _Array:
        """Return the rows of a side by channel, those of one channel in their order."""
        rows = np.concatenate([both[side] for both in self.sides]) if self.sides else np.zeros((0, 3), np.int64)
        found: _Array = rows[np.argsort(rows[:, 0], kind="stable")]
        return found

    def channel(self, row: _Array) -> tuple[int, int, int]:
        """Return sender, receiver and tag of a row."""
        pair, kind = divmod(int(row[0]), _MOST_KINDS)
        return (*divmod(pair, self.job.ranks), list(self._kinds)[kind][0])

    def _made(self, step: Step, call: str) -> _Sides | str:
        job, number = self.job, self.job.communicator(step.item)
        for field in ("peer", "source") if call == "MPI_Sendrecv" else ("peer",):
            peers = step.number(field)
            wrong = (peers != PROC_NULL_PEER) & ((peers < 0) | (peers >= job.ranks))
            if wrong.any():
                lane = int(np.flatnonzero(wrong)[0])
                return f"rank {int(step.lanes[lane])} has peer {int(peers[lane])} ({step.item.where})"
            if (stranger := _strangers(step, peers, job.colors[number])) is not None:
                return stranger
        sizes, tags = step.number("bytes"), step.number("tag")
        if (sizes < 0).any():
            return f"a message has {int(sizes.min())} bytes ({step.item.where})"
        draw, back = (_number_of(draw_of(step.item.content, field), job) for field in ("bytes", "receive_bytes"))
        none = np.zeros((0, 3), np.int64)
        if call in RECEIVES:
            return _Sides(none, self._rows(step.number("peer"), step.lanes, tags, number, sizes, draw))
        sent = self._rows(step.lanes, step.number("peer"), tags, number, sizes, draw)
        if call in SENDS:
            return _Sides(sent, none)
        tags, sizes = step.number("receive_tag"), step.number("receive_bytes")
        return _Sides(sent, self._rows(step.number("source"), step.lanes, tags, number, sizes, back))

    def _rows(
        self, sender: _Array, receiver: _Array, tags: _Array, communicator: int, sizes: _Array, draw: int
    ) -> _Array:
        real = (sender != PROC_NULL_PEER) & (receiver != PROC_NULL_PEER)
        distinct, place = np.unique(tags, return_inverse=True)
        kinds = [self._kinds.setdefault((tag, communicator), len(self._kinds)) for tag in distinct.tolist()]
        if max(len(self._kinds), self.job.ranks >> 1) > _MOST_KINDS:
            raise ExpressionError(f"a job of {self.job.ranks:,} ranks and {len(self._kinds):,} tags is too large")
        channel = (sender * self.job.ranks + receiver) * _MOST_KINDS + np.array(kinds, np.int64)[place]
        rows: _Array = np.stack(np.broadcast_arrays(channel, sizes, draw), axis=1)[real]
        return rows


class _Blocks:
    """Whether what ranks send to each other in collectives with counts is what they receive.

    The sizes are multiplied with two random vectors, by sender and by receiver, and added: equal sums are those of
    equal sizes but for one case in 2**60.
    """

    def __init__(self, ranks: int) -> None:
        draw = np.random.default_rng(ranks)
        self._by_sender, self._by_receiver = draw.integers(1 << 62, size=(2, ranks), dtype=np.uint64) | np.uint64(1)
        self._known: dict[object, tuple[_Array, NDArray[np.uint64]]] = {}
        self._sum = np.zeros(1, np.uint64)

    def add(self, step: Step, members: Members, colors: _Array) -> _Array:
        """Add the blocks of a call; return a number for each rank that must be the same on all."""
        if step.key not in self._known:
            self._known[step.key] = self._added(step, members, colors)
        known, added = self._known[step.key]
        self._sum += added
        return known

    def wrong(self) -> bool:
        return bool(self._sum[0])

    def _added(self, step: Step, members: Members, colors: _Array) -> tuple[_Array, NDArray[np.uint64]]:
        call, lanes = str(step.item.call), step.lanes
        none = np.zeros(len(lanes), np.int64)
        if any(word in call for word in _KNOWN):
            return self._list(step, "received", members, self._by_sender).astype(np.int64), np.zeros(1, np.uint64)
        # Ranks of one place in different communicators are told apart by the color.
        place, color = members.places[lanes], colors[lanes].astype(np.uint64) * np.uint64(2) + np.uint64(1)
        roots = step.number("peer") if "peer" in step.item.numbers else lanes
        sums = []
        for side, own, other in (
            ("sent", self._by_sender, self._by_receiver),
            ("received", self._by_receiver, self._by_sender),
        ):
            if side in block_fields(call):
                total = np.where(lanes == roots, self._list(step, side, members, other), np.uint64(0))
            else:  # what every rank gives to the root, or gets from it
                total = step.number("bytes").astype(np.uint64) * other[members.places[roots]]
            sums.append((total * own[place] * color).sum(keepdims=True))
        return none, sums[0] - sums[1]

    @staticmethod
    def _list(step: Step, side: str, members: Members, weights: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the weighted sum of the blocks that each rank knows."""
        total = np.zeros(len(step.lanes), np.uint64)
        for weight, sizes in zip(weights, step.blocks(side, members), strict=False):
            total += sizes.astype(np.uint64) * weight
        return total


def mismatch(job: Job) -> str | None:
    """Return what of a job does not match, or None."""
    messages = _Messages(job)
    collectives = [np.zeros(job.ranks, np.uint64) for _ in job.colors]
    codes: dict[tuple[str, int, int], int] = {}
    blocks = _Blocks(job.ranks)
    open_: dict[str, _Array] = defaultdict(lambda: np.zeros(job.ranks, np.int64))
    for step in job.steps(most_repetitions=_REPETITIONS):
        call = step.item.call
        for name in step.item.content.get("free", ()):
            open_[name][step.lanes] = 0
        if call is None:
            continue
        if (wrong := _requests(step, call, open_)) is not None:
            return wrong
        number = job.communicator(step.item)
        if (job.colors[number][step.lanes] < 0).any():
            return f"a rank calls {call} in a communicator that it is not in ({step.item.where})"
        if call in POINT_TO_POINT:
            if (wrong := messages.add(step, call)) is not None:
                return wrong
        elif not call.startswith("MPI_Wait"):
            if block_fields(call):
                sizes = blocks.add(step, job.members(number), job.colors[number])
            else:
                sizes = step.number("bytes") if any(word in call for word in _SAME_BYTES) else np.zeros_like(step.lanes)
            roots = step.number("peer", -1)
            keys = [codes.setdefault((call, *pair), len(codes) + 1) for pair in _pairs(roots, sizes)]
            made = collectives[number]
            made[step.lanes] = made[step.lanes] * np.uint64(1_000_003) + np.array(keys, np.uint64)
            if (wrong := _strangers(step, roots, job.colors[number])) is not None:
                return wrong
    for colors, made in zip(job.colors, collectives, strict=True):
        first = together(colors)
        others = np.flatnonzero((first >= 0) & (made != made[first]))
        if len(others):
            return f"ranks {int(first[others[0]])} and {int(others[0])} make different collectives"
    if blocks.wrong():
        return "a rank sends blocks of other sizes than another one receives"
    for name, numbers in open_.items():
        if numbers.any():
            return f"rank {int(np.flatnonzero(numbers)[0])} never completes a request of {name}"
    return _unmatched(messages)


def _strangers(step: Step, peers: _Array, colors: _Array) -> str | None:
    """Return a peer that is not in the communicator of its call; ``colors`` are those of all ranks."""
    lanes, there = step.lanes[peers >= 0], peers[peers >= 0]
    other = np.flatnonzero(colors[there] != colors[lanes])
    if not len(other):
        return None
    return f"rank {int(lanes[other[0]])} has peer {int(there[other[0]])} in another communicator ({step.item.where})"


def _pairs(a: _Array, b: _Array) -> list[tuple[int, int]]:
    return list(zip(a.tolist(), b.tolist(), strict=True))


def _number_of(distribution: str | None, job: Job) -> int:
    return -1 if distribution is None else list(job.means).index(distribution)


def _requests(step: Step, call: str, open_: dict[str, _Array]) -> str | None:
    """Count requests made and completed; a wait for one that finds none is a mismatch."""
    content = step.item.content
    if "request" in content:
        open_[content["request"]][step.lanes] += 1
    if not call.startswith("MPI_Wait"):
        return None
    one = call in WAITS_FOR_ONE and not content.get("each")
    take = step.number("take", 1 if one else np.iinfo(np.int64).max)
    found = np.zeros_like(take)
    for name in content["requests"]:
        taken = np.minimum(open_[name][step.lanes], take - found)
        open_[name][step.lanes] -= taken
        found = found + taken
    if ("take" in content or one) and (found < take).any():
        return f"rank {int(step.lanes[np.flatnonzero(found < take)[0]])} waits for no request ({step.item.where})"
    return None


def _unmatched(messages: _Messages) -> str | None:
    sends, receives = messages.sorted(0), messages.sorted(1)
    if len(sends) != len(receives) or not np.array_equal(sends[:, 0], receives[:, 0]):
        return _first_difference(messages, sends, receives)
    short = np.flatnonzero(receives[:, 1] < sends[:, 1])
    if len(short):
        sender, receiver, tag = messages.channel(sends[short[0]])
        room, size = int(receives[short[0], 1]), int(sends[short[0], 1])
        return f"rank {receiver} receives {room} bytes from rank {sender} (tag {tag}), which sends {size}"
    other = np.flatnonzero(receives[:, 2] != sends[:, 2])
    if len(other):
        sender, receiver, tag = messages.channel(sends[other[0]])
        return f"ranks {sender} and {receiver} do not draw the size of their message (tag {tag}) from one distribution"
    return None


def _first_difference(messages: _Messages, sends: _Array, receives: _Array) -> str:
    common = min(len(sends), len(receives))
    different = np.flatnonzero(sends[:common, 0] != receives[:common, 0])
    index = int(different[0]) if len(different) else common
    lacks_receive = index == len(receives) or (index < len(sends) and sends[index, 0] < receives[index, 0])
    sender, receiver, tag = messages.channel(sends[index] if lacks_receive else receives[index])
    if lacks_receive:
        return f"rank {receiver} receives no message that rank {sender} sends it (tag {tag})"
    return f"rank {sender} sends no message that rank {receiver} receives from it (tag {tag})"


def unknown_phase(job: Job, content: Mapping[str, Any]) -> str | None:
    """Return a phase between two calls that no recording has and the job would execute, or None."""
    sites: Sequence[str] = content.get("sites", [])
    known = set(content.get("phases", []))
    before = np.full(job.ranks, -1, np.int64)
    for step in job.steps(most_repetitions=2):
        if "compute" in step.item.content:
            before[step.lanes] = -1
        site = step.item.content.get("site")
        if site is None:
            continue
        for number in np.unique(before[step.lanes]).tolist():
            name = f"{sites[number]} -> {sites[site]}"
            if number >= 0 and name not in known:
                return f"what a rank computes between two calls was never recorded: {name}"
        before[step.lanes] = site
    return None
