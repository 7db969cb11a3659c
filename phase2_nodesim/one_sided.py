"""Calls on windows in the form of a skeleton, for all ranks of a job.

In: the recorded calls of each rank (:mod:`phase2_nodesim.recording`) and its communicators. Out: the same calls, where

- a window is named by its communicator and its number among the windows of that communicator, the same at all ranks;
- making and freeing a window are barriers, and so is the end of the run for a window that is not freed;
- MPI_Fetch_and_op and MPI_Compare_and_swap are MPI_Get_accumulate; a flush of local completion is a flush; the calls
  for all ranks (``..._all``) are those for one, without a peer;
- the ends of an epoch name its group; the MPI_Win_test that ends one is MPI_Win_wait, others are left out;
- operations with a request that a call ends, before the program waits for them, are waited for just before that call.

All functions here are pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from manynode.errors import InputError
from manynode.markers import UNKNOWN
from phase2_nodesim.communicators import Member
from phase2_nodesim.recording import RecordedCall

_MAKES = ("MPI_Win_create", "MPI_Win_create_dynamic", "MPI_Win_allocate", "MPI_Win_allocate_shared")
_AS = {
    "MPI_Fetch_and_op": "MPI_Get_accumulate", "MPI_Compare_and_swap": "MPI_Get_accumulate",
    "MPI_Win_lock_all": "MPI_Win_lock", "MPI_Win_unlock_all": "MPI_Win_unlock", "MPI_Win_flush_all": "MPI_Win_flush",
    "MPI_Win_flush_local": "MPI_Win_flush", "MPI_Win_flush_local_all": "MPI_Win_flush", "MPI_Win_test": "MPI_Win_wait",
}  # fmt: skip
# The calls after which operations of their window are complete, in their form of a skeleton.
_ENDS = ("MPI_Win_fence", "MPI_Win_complete", "MPI_Win_unlock", "MPI_Win_flush", "MPI_Win_free")

# Of the rank whose recording cannot be replayed, and what was found there.
Refusal = Callable[[int, str], InputError]


def with_windows(
    calls: Sequence[list[RecordedCall]], members: Sequence[dict[int, Member]], refused: Refusal
) -> list[list[RecordedCall]]:
    """Return the calls of each rank in the form above; ``window`` is then the window's number, then its group.

    Groups are ranks of the communicator. A window that the markers do not know, and one whose ranks do not make the
    same collective calls or do not post and start for each other, raises what ``refused`` returns.
    """
    if not any(call.window for ranks in calls for call in ranks):
        return [list(ranks) for ranks in calls]
    ranks = [
        _Rank(rank, known, refused).translated(own)
        for rank, (own, known) in enumerate(zip(calls, members, strict=True))
    ]
    _check_agreement(ranks, refused)
    return [rank.calls for rank in ranks]


@dataclass
class _Window:
    communicator: int  # the rank's own number
    number: int
    member: Member
    post: tuple[int, ...] = ()
    start: tuple[int, ...] = ()
    collective: Counter[str] = field(default_factory=Counter)  # collective calls by name
    open_requests: dict[int, int] = field(default_factory=dict)  # request of an operation -> its target

    @property
    def identity(self) -> tuple[int, int]:
        """What names the window at all of its ranks."""
        return self.member.identity, self.number


class _Rank:
    def __init__(self, rank: int, members: dict[int, Member], refused: Refusal) -> None:
        self.rank = rank
        self.members = members
        self.refused = refused
        self.calls: list[RecordedCall] = []
        self.windows: dict[int, _Window] = {}  # by the rank's own number; freed ones too
        self.made: Counter[int] = Counter()  # windows of a communicator
        self.waited: set[int] = set()  # requests that were waited for earlier than in the program
        self.pairs: Counter[tuple[tuple[int, int], str, int, int]] = Counter()  # window, call, origin, target

    def translated(self, calls: list[RecordedCall]) -> _Rank:
        ends = _tests_that_end(calls)
        left_out: list[RecordedCall] = []
        for place, recorded in enumerate(calls):
            call = _after(left_out, recorded)
            if call.operation == "MPI_Win_test" and place not in ends:
                left_out = [call]
                continue
            left_out = []
            if place == len(calls) - 1:
                call = self._end(call)
            self.calls += self._of(call)
        return self

    def _of(self, call: RecordedCall) -> list[RecordedCall]:
        if call.completes:
            return [self._without_waited(call)]
        if not call.window:
            return [call]
        if call.operation in _MAKES:
            return [self._makes(call)]
        window = self.windows.get(call.window[0])
        if window is None:
            raise self.refused(self.rank, f"{call.operation} on a window that the markers do not know")
        named = call.but(
            operation=_AS.get(call.operation, call.operation), communicator=window.communicator,
            bytes=call.bytes2 if "et_accumulate" in call.operation else call.bytes, bytes2=0,
        )  # fmt: skip
        return [*self._early_wait(named, window), self._on(named, window)]

    def _makes(self, call: RecordedCall) -> RecordedCall:
        number = self.made[call.communicator]
        self.made[call.communicator] += 1
        window = _Window(call.communicator, number, self.members[call.communicator])
        self.windows[call.window[0]] = window
        return call.but(operation="MPI_Barrier", bytes=0, window=())

    def _on(self, call: RecordedCall, window: _Window) -> RecordedCall:
        group: tuple[int, ...] = ()
        if call.operation in ("MPI_Win_fence", "MPI_Win_free"):
            window.collective[call.operation] += 1
        if call.operation == "MPI_Win_free":
            return call.but(operation="MPI_Barrier", window=())
        if call.operation in ("MPI_Win_post", "MPI_Win_start"):
            if UNKNOWN in call.window[2:]:
                raise self.refused(self.rank, f"{call.operation} for a process that is no rank of the job")
            group = tuple(window.member.rank_of(rank) for rank in call.window[2:])
            if call.operation == "MPI_Win_post":
                window.post = group
            else:
                window.start = group
        elif call.operation == "MPI_Win_wait":
            group = window.post
        elif call.operation == "MPI_Win_complete":
            group = window.start
        own = window.member.rank_of(self.rank)
        for other in group:
            targets = call.operation in ("MPI_Win_post", "MPI_Win_wait")  # this rank is one
            pair = (other, own) if targets else (own, other)
            self.pairs[window.identity, call.operation, *pair] += 1
        if call.request >= 0:
            window.open_requests[call.request] = call.peer
        return call.but(window=(window.number, *group))

    def _early_wait(self, call: RecordedCall, window: _Window) -> list[RecordedCall]:
        """Return the wait for operations with a request that this call ends, and give them up to it."""
        if call.operation not in _ENDS:
            return []
        ended = [number for number, target in window.open_requests.items() if call.peer in (-1, target)]
        if not ended:
            return []
        for number in ended:
            del window.open_requests[number]
        self.waited.update(ended)
        return [RecordedCall("MPI_Waitall", "", completes=tuple(ended))]

    def _without_waited(self, call: RecordedCall) -> RecordedCall:
        for window in self.windows.values():
            for number in call.completes:
                window.open_requests.pop(number, None)
        left = tuple(number for number in call.completes if number not in self.waited)
        if len(left) == len(call.completes):
            return call
        return call.but(operation="MPI_Waitall", completes=left)

    def _end(self, call: RecordedCall) -> RecordedCall:
        """Add barriers for windows that are still there before the last call."""
        for window in self.windows.values():
            if not window.collective["MPI_Win_free"]:
                self.calls.append(RecordedCall("MPI_Barrier", "", communicator=window.communicator))
        return call


def _tests_that_end(calls: list[RecordedCall]) -> set[int]:
    """Return the places of the MPI_Win_test that end an epoch: the last one, if no MPI_Win_wait follows it."""
    ends = set()
    ended: set[int] = set()
    for place in reversed(range(len(calls))):
        call = calls[place]
        if call.operation == "MPI_Win_post":
            ended.discard(call.window[0])
        elif call.operation in ("MPI_Win_wait", "MPI_Win_test") and call.window[0] not in ended:
            ended.add(call.window[0])
            ends.add(place)
    return ends


def _after(left_out: list[RecordedCall], call: RecordedCall) -> RecordedCall:
    """Return a call with the compute phases of the call before it that was left out."""
    for before in left_out:
        labels = "+".join(label for label in (before.phase, call.phase) if label)
        call = call.but(phase=labels, gaps=before.gaps + call.gaps)
    return call


def _check_agreement(ranks: list[_Rank], refused: Refusal) -> None:
    by_identity: dict[tuple[int, int], dict[int, _Window]] = {}
    for rank in ranks:
        for window in rank.windows.values():
            by_identity.setdefault(window.identity, {})[rank.rank] = window
    for windows in by_identity.values():
        first, window = next(iter(windows.items()))
        missing = sorted(set(window.member.members) - set(windows))
        if missing:
            raise refused(first, f"a window of {len(window.member.members)} ranks that rank {missing[0]} did not make")
        for number, other in windows.items():
            for name in ("MPI_Win_fence", "MPI_Win_free"):
                if other.collective[name] != window.collective[name]:
                    found = f"{other.collective[name]} calls of {name} on a window, on rank {first} "
                    raise refused(number, found + str(window.collective[name]))
    pairs = sum((rank.pairs for rank in ranks), Counter())
    members = {identity: next(iter(windows.values())).member for identity, windows in by_identity.items()}
    opposite = {
        "MPI_Win_post": "MPI_Win_start", "MPI_Win_start": "MPI_Win_post",
        "MPI_Win_complete": "MPI_Win_wait", "MPI_Win_wait": "MPI_Win_complete",
    }  # fmt: skip
    for (identity, name, origin, target), count in pairs.items():
        matching = pairs[identity, opposite[name], origin, target]
        if matching != count:
            world = members[identity].members
            blamed = world[target if name in ("MPI_Win_post", "MPI_Win_wait") else origin]
            raise refused(
                blamed,
                f"{name} {count} times, but {opposite[name]} {matching} times, with origin {world[origin]} and target "
                f"{world[target]}",
            )
