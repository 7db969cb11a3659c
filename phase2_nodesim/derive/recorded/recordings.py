"""The recordings that a skeleton is derived from, and the checks that they can be.

In: folders of marker files, or calls by rank. Out: :class:`Recording`, the number of ranks, the named parameters and
the calls of each rank. What cannot be derived from is an :class:`InputError` that says why: another program, a lost
file, one number of ranks only.
"""

from __future__ import annotations

import copy
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manynode.derived.call_forms import CALL_FORMS, COLLECTIVES
from manynode.errors import InputError
from manynode.markers import ANY_SOURCE_PEER, MarkerFile, read_marker_directory, read_marker_file
from phase2_nodesim.arrivals import in_one_order
from phase2_nodesim.communicators import WORLD, Member, cartesian_extents, communicators_as_made
from phase2_nodesim.derive.recorded.columns import Checksums, Ends, checksums, ends_of_columns, joined, without_columns
from phase2_nodesim.derive.recorded.places import call_at, mpi_name, placed
from phase2_nodesim.derive.recorded.tested import LaterWait, goes_on, later_waits, with_later_waits
from phase2_nodesim.recording import END, UNKNOWN_REQUEST, RecordedCall, check_whole, rank_calls

FEWEST_COUNTS = 3
# Of all runs to learn from: the search takes 4 GiB and three minutes for as many.
_MOST_CALLS = 2_500_000
# A rank whose calls no other rank makes in this order is normal in a small job, such as a cube of 3 x 3 x 3 ranks with
# messages to all sides, edges and corners; not in a larger one.
_MANY_RANKS = 28
_MOST_SEQUENCES = 0.8
_BY_NODE = "a communicator of the ranks that share memory (MPI_Comm_split_type) is another one on other nodes"
_REPLAY = "replay a recording at its number of ranks (application: recorded)"


@dataclass(frozen=True)
class Recording:
    """One run: ``calls`` by rank, each list ending with MPI_Finalize, and the problem's parameters by name.

    ``extents`` are those of the grid that the program itself made of all ranks (MPI_Cart_create), if it made one.
    ``groups`` has, for each rank, the members of its communicators but the world, used or not, by the numbers that its
    calls have; those of ``by_node`` follow from which ranks share memory.
    """

    calls: Sequence[Sequence[RecordedCall]]
    parameters: Mapping[str, int] = field(default_factory=dict)
    program: str = ""
    command: tuple[str, ...] = ()
    mpi: str = ""
    where: str = "a recording"
    labels: frozenset[str] = frozenset()
    extents: tuple[int, ...] = ()
    groups: Sequence[Mapping[int, tuple[int, ...]]] = ()
    by_node: frozenset[int] = frozenset()
    checksum: str = ""

    @property
    def ranks(self) -> int:
        return len(self.calls)

    def point(self) -> str:
        """Name the run as a person would."""
        words = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"{self.ranks} ranks" + (f" ({words})" if words else "")

    @cached_property
    def communicators(self) -> frozenset[int]:
        """The numbers of the communicators but the world that calls use."""
        return frozenset(number for calls in self.calls for call in calls if (number := call.communicator) > WORLD)

    @cached_property
    def digest(self) -> str:
        """A checksum of the calls, or of what their files say of them."""
        if self.checksum:
            return self.checksum
        return hashlib.sha256(repr([list(calls) for calls in self.calls]).encode()).hexdigest()[:16]

    @property
    def columns(self) -> Checksums | None:
        """Checksums of what all ranks do between collectives (:mod:`.columns`); None if the calls are not in files."""
        return self.calls.columns if isinstance(self.calls, CallsOfFiles) else None

    def without_columns(self, kept: NDArray[np.bool_]) -> Recording | None:
        """Return the recording with the columns ``kept``; None if the others cannot be left out."""
        calls = self.calls.without_columns(kept) if isinstance(self.calls, CallsOfFiles) else None
        return None if calls is None else replace(self, calls=calls)

    def of_all_ranks(self, rank: int, call: RecordedCall) -> bool:
        """Say whether a call is a collective of all ranks: a column ends with it."""
        own = call.communicator
        return call.operation in COLLECTIVES and (own == WORLD or len(self.groups[rank].get(own, ())) == self.ranks)


class CallsOfFiles(Sequence[Sequence[RecordedCall]]):
    """The calls of each rank, read from its marker file when they are asked for.

    ``members`` are the communicators of each rank. ``named``: sites are the places by which phases are named.
    """

    def __init__(self, files: Sequence[MarkerFile], members: Sequence[Mapping[int, Member]], *, named: bool) -> None:
        self._paths = [file.path for file in files]
        self._members = members
        self._named = named
        self._read: dict[int, list[RecordedCall]] = {}
        self.number = sum(len(file.records) for file in files)
        """At least as many calls as the ranks make."""
        self.tests_and_goes_on = named and any(map(goes_on, files))
        self._tests: Mapping[str, LaterWait] = {}
        of_all = [frozenset(own for own, one in known.items() if _of_all(one, len(files))) for known in members]
        self._ends: list[Ends] = list(map(ends_of_columns, files, of_all))
        self._sums = list(map(checksums, files, self._ends))
        self.digest = hashlib.sha256(b"".join(one.tobytes() for one in self._sums)).hexdigest()[:16]
        self.columns: Checksums | None = joined(self._sums) if len(set(map(len, self._sums))) == 1 else None

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, rank: Any) -> Any:
        if isinstance(rank, slice):
            return [self[number] for number in range(len(self))[rank]]
        if rank not in self._read:
            self._read[rank] = self._calls(rank, self._file(rank))
        return self._read[rank]

    def with_later_waits(self, tests: Mapping[str, LaterWait]) -> CallsOfFiles:
        """Return the calls with each test that a wait follows elsewhere in vain (:mod:`.tested`)."""
        found = copy.copy(self)
        found._tests = tests
        found._read = {rank: with_later_waits(calls, tests) for rank, calls in self._read.items()}
        return found

    def without_columns(self, kept: NDArray[np.bool_]) -> list[list[RecordedCall]] | None:
        """Return the calls in the columns ``kept``; None if the others cannot be left out."""
        found = []
        for rank, (ends, sums) in enumerate(zip(self._ends, self._sums, strict=True)):
            shorter = without_columns(self._file(rank), ends, sums, kept)
            if shorter is None:
                return None
            found.append(self._calls(rank, shorter))
        return found

    def _file(self, rank: int) -> MarkerFile:
        return read_marker_file(self._paths[rank], resolve=self._named)

    def _calls(self, rank: int, file: MarkerFile) -> list[RecordedCall]:
        """Return the calls of a rank, with the numbers of communicators that are the same at all of their ranks."""
        known = self._members[rank]
        calls = [
            call.but(communicator=known[call.communicator].number) if call.communicator > WORLD else call
            for call in in_one_order(rank_calls(file, matched=True))
        ]
        return with_later_waits(placed(calls, file), self._tests) if self._named else calls


def with_tests_in_vain(
    runs: Sequence[Recording], others: Sequence[Recording]
) -> tuple[list[Recording], list[Recording], list[str]]:
    """Return runs and others as if each test had been in vain that only moves a wait in ``runs``; and their places."""
    learned = [one.calls for one in runs if isinstance(one.calls, CallsOfFiles) and one.calls.tests_and_goes_on]
    tests = later_waits(calls for one in learned for calls in one)

    def moved(one: Recording) -> Recording:
        calls = one.calls
        return replace(one, calls=calls.with_later_waits(tests)) if tests and isinstance(calls, CallsOfFiles) else one

    return [moved(one) for one in runs], [moved(one) for one in others], sorted(tests)


def _of_all(member: Member, ranks: int) -> bool:
    return len(member.members) == ranks and not member.inter


def read_recording(folder: Path | str, parameters: Mapping[str, int] | None = None) -> Recording:
    """Return the recording in a folder of marker files, one for each rank; ``parameters`` are the run's."""
    files = read_marker_directory(folder, resolve=False)
    labels = frozenset(str(label) for file in files for label in file.records["phase"].unique())
    if labels == {""}:
        # Phase 2 names what is computed between two calls by their places: as people read them.
        files = read_marker_directory(folder)
    check_whole(files, "a skeleton cannot be derived from a recording")
    members = communicators_as_made(files)
    calls = CallsOfFiles(files, members, named=labels == {""})
    others = [[one for one in known.values() if one.number != WORLD and not one.inter] for known in members]
    first = files[0].metadata
    return Recording(
        calls,
        dict(parameters or {}),
        program=str(first.get("program", "")),
        command=tuple(map(str, first.get("command", []) or [])),
        mpi=str(first.get("mpi", "")),
        where=str(folder),
        labels=labels,
        extents=_extents(files),
        groups=[{member.number: member.members for member in known} for known in others],
        by_node=frozenset(member.number for known in others for member in known if member.by_node),
        checksum=calls.digest,
    )


def _extents(files: Sequence[MarkerFile]) -> tuple[int, ...]:
    found = {cartesian_extents(file) for file in files}
    return found.pop() if len(found) == 1 else ()


def check_size(recordings: Sequence[Recording]) -> None:
    """Raise :class:`TooMuchError` for recordings that take the derivation too long, and too much memory."""
    calls = [one.calls for one in recordings]
    found = sum(one.number if isinstance(one, CallsOfFiles) else sum(map(len, one)) for one in calls)
    if found > _MOST_CALLS:
        raise TooMuchError(
            "the recordings have too many calls for an exact skeleton",
            found=f"{found:,}",
            allowed=f"{_MOST_CALLS:,}, without iterations that are equal on all ranks of all runs",
            remedy="record fewer iterations",
        )


def check_recordings(trained: Sequence[Recording], held_out: Sequence[Recording] = ()) -> None:
    """Raise :class:`InputError` for runs that no skeleton can be derived from, whatever their calls are."""
    if not trained:
        raise InputError("there is no recording to derive from", allowed=f"at least {FEWEST_COUNTS} numbers of ranks")
    _check_same("programs", [recording.program for recording in [*trained, *held_out]])
    _check_same("MPI libraries", [recording.mpi for recording in [*trained, *held_out]])
    _check_same("sets of parameters", [", ".join(sorted(recording.parameters)) for recording in [*trained, *held_out]])
    counts = sorted({recording.ranks for recording in trained})
    if len(counts) < FEWEST_COUNTS:
        raise InputError(
            "too few numbers of ranks to derive a skeleton from",
            found=", ".join(map(str, counts)),
            allowed=f"at least {FEWEST_COUNTS} different ones, with the same parameters",
            remedy="record more numbers of ranks; such as 4, 8, 12, 18, 27 and 32 show grids of two to four dimensions",
        )


def check_calls_of(trained: Sequence[Recording], held_out: Sequence[Recording]) -> None:
    """Raise :class:`InputError` for recordings with calls that no skeleton can be derived from, or too many."""
    check_size([*trained, *held_out])
    for recording in [*trained, *held_out]:
        check_calls(recording)
    _check_alike(max(trained, key=lambda recording: recording.ranks))


def communicates(recording: Recording) -> bool:
    """Say whether a rank exchanges anything with others; a program may end at once, and without an error."""
    return any(mpi_name(call.operation) in CALL_FORMS for calls in recording.calls for call in calls)


def with_most_counts(trained: Sequence[Recording]) -> tuple[list[Recording], list[Recording]]:
    """Return the recordings with the parameters of which there are most numbers of ranks, by number, and the others."""
    groups: dict[tuple[tuple[str, int], ...], dict[int, Recording]] = {}
    for recording in trained:
        group = groups.setdefault(tuple(sorted(recording.parameters.items())), {})
        twin = group.setdefault(recording.ranks, recording)
        # Tests in vain, and whose message came first, are in the digest of files, not in the calls.
        if twin.digest != recording.digest and [*map(list, twin.calls)] != [*map(list, recording.calls)]:
            raise InputError(
                "two recordings of the same run differ: what the program does depends on more than its parameters",
                where=f"{twin.where} and {recording.where}",
                found=recording.point(),
                remedy="write the skeleton by hand",
            )
    chosen = max(groups.values(), key=len)
    if len(chosen) < FEWEST_COUNTS:
        raise InputError(
            "too few numbers of ranks with the same parameters",
            found=", ".join(map(str, sorted(chosen))),
            allowed=f"at least {FEWEST_COUNTS}",
            remedy="record more numbers of ranks; only afterwards change parameters",
        )
    others = [recording for group in groups.values() if group is not chosen for recording in group.values()]
    return [chosen[ranks] for ranks in sorted(chosen)], others


def _check_same(what: str, found: list[str]) -> None:
    different = sorted(set(found))
    if len(different) > 1:
        raise InputError(f"the recordings are of different {what}", found="; ".join(different), allowed="one")


class NotDerivedError(InputError):
    """The recordings are sound, and no exact skeleton can be derived from them."""

    @classmethod
    def of(cls, error: InputError) -> NotDerivedError:
        """Return the error of a derivation as one."""
        if isinstance(error, NotDerivedError):
            return error
        return cls(
            error.what, where=error.where, found=error.found, allowed=error.allowed, remedy=error.remedy,
            details=error.details,
        )  # fmt: skip


class TooMuchError(NotDerivedError):
    """The derivation would take minutes, or too much memory; with other recordings of the same runs as well."""


class OfTheNodeError(NotDerivedError):
    """The program communicates by which ranks share a node: on other nodes it does something else."""

    def __init__(self, what: str = _BY_NODE, **facts: Any) -> None:
        super().__init__(what, **facts)


def check_calls(recording: Recording) -> None:
    """Raise :class:`NotDerivedError` for such calls, and :class:`InputError` for a recording that is not whole."""
    if recording.ranks == 0:
        raise InputError("a recording has no ranks", where=recording.where)
    for rank, calls in enumerate(recording.calls):
        where = f"{recording.where}, rank {rank}"
        if not calls or calls[-1].operation != END:
            raise InputError("the calls of a rank do not end with MPI_Finalize", where=where, remedy="record again")
        for call in calls:
            _check_call(call, where, recording.by_node)


def _check_call(call: RecordedCall, where: str, by_node: frozenset[int]) -> None:
    remedy: str | None = _REPLAY
    if ANY_SOURCE_PEER in (call.peer, call.peer2):
        what = "a receive takes messages from any source, and the recording does not know whose"
        remedy = f"give the receive its source, or {_REPLAY}"
    elif call.operation == "MPI_Start" or UNKNOWN_REQUEST in call.completes:
        what, remedy = "the recording does not know which request a call completes", None
    elif call.communicator in by_node:
        raise OfTheNodeError(where=where, found=call_at(call.operation, call.site), remedy=remedy)
    elif "eighbor" in call.operation:
        what = "the neighbours of a collective over neighbours cannot be derived yet"
    else:
        return
    raise NotDerivedError(what, where=where, found=call_at(call.operation, call.site), remedy=remedy)


def _check_alike(recording: Recording) -> None:
    """Refuse at once where nearly every rank has a sequence of its own: communication follows the data."""
    kinds = Counter(tuple((call.operation, call.site) for call in calls) for calls in recording.calls)
    lengths = [len(calls) for calls in recording.calls]
    if recording.ranks >= _MANY_RANKS and len(kinds) > _MOST_SEQUENCES * recording.ranks:
        raise NotDerivedError(
            "nearly every rank has a sequence of calls of its own: communication depends on data",
            where=recording.where,
            found=f"{len(kinds)} sequences on {recording.ranks} ranks, of {min(lengths)} to {max(lengths)} calls",
            remedy="write the skeleton by hand",
        )
