"""The recordings that a skeleton is derived from, and the checks that they can be.

In: folders of marker files, or calls by rank. Out: :class:`Recording`, the number of ranks, the named parameters and
the calls of each rank. What cannot be derived from is an :class:`InputError` that says why: another program, a lost
file, one number of ranks only.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from manynode.errors import InputError
from manynode.markers import ANY_SOURCE_PEER, MarkerFile, read_marker_directory
from phase2_nodesim.communicators import WORLD, Member, cartesian_extents, communicators_as_made
from phase2_nodesim.derive.places import call_at, placed
from phase2_nodesim.recording import END, UNKNOWN_REQUEST, RecordedCall, check_whole, in_order_of_sources, rank_calls

FEWEST_COUNTS = 3
# Of all runs to learn from: the search takes 4 GiB and three minutes for as many.
MOST_BYTES = 256 * 2**20
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
        """A checksum of the calls, which repeats for the same calls."""
        return hashlib.sha256(repr([list(calls) for calls in self.calls]).encode()).hexdigest()[:16]


def read_recording(folder: Path | str, parameters: Mapping[str, int] | None = None) -> Recording:
    """Return the recording in a folder of marker files, one for each rank; ``parameters`` are the run's."""
    files = read_marker_directory(folder, resolve=False)
    labels = frozenset(str(label) for file in files for label in file.records["phase"].unique())
    if labels == {""}:
        # Phase 2 names what is computed between two calls by their places: as people read them.
        files = read_marker_directory(folder)
    check_whole(files, "a skeleton cannot be derived from a recording")
    members = communicators_as_made(files)
    # One rank after the other: calls are many, and equal ones of a rank become one object.
    ranks = [_calls(file, known, named=labels == {""}) for file, known in zip(files, members, strict=True)]
    others = [[one for one in known.values() if one.number != WORLD and not one.inter] for known in members]
    first = files[0].metadata
    return Recording(
        ranks,
        dict(parameters or {}),
        program=str(first.get("program", "")),
        command=tuple(map(str, first.get("command", []) or [])),
        mpi=str(first.get("mpi", "")),
        where=str(folder),
        labels=labels,
        extents=_extents(files),
        groups=[{member.number: member.members for member in known} for known in others],
        by_node=frozenset(member.number for known in others for member in known if member.by_node),
    )


def _calls(file: MarkerFile, known: Mapping[int, Member], *, named: bool) -> list[RecordedCall]:
    """Return the calls of a rank, with the numbers of communicators that are the same at all of their ranks.

    ``named``: with the places by which phases are named.
    """
    calls = [
        call.but(communicator=known[call.communicator].number) if call.communicator > WORLD else call
        for call in in_order_of_sources(rank_calls(file, matched=True))
    ]
    return placed(calls, file) if named else calls


def _extents(files: Sequence[MarkerFile]) -> tuple[int, ...]:
    found = {cartesian_extents(file) for file in files}
    return found.pop() if len(found) == 1 else ()


def check_size(folders: Sequence[Path]) -> None:
    """Raise :class:`NotDerivedError` for recordings that take the derivation too long, and too much memory."""
    found = sum(file.stat().st_size for folder in folders for file in folder.glob("rank-*.mnmk"))
    if found > MOST_BYTES:
        raise NotDerivedError(
            "the recordings are too large for an exact skeleton",
            found=f"{found / 2**20:,.0f} MiB",
            allowed=f"{MOST_BYTES / 2**20:,.0f} MiB",
            remedy="record fewer iterations",
        )


def check_recordings(trained: Sequence[Recording], held_out: Sequence[Recording] = ()) -> None:
    """Raise :class:`InputError` for recordings that no skeleton can be derived from."""
    if not trained:
        raise InputError("there is no recording to derive from", allowed=f"at least {FEWEST_COUNTS} numbers of ranks")
    for recording in [*trained, *held_out]:
        check_calls(recording)
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
    largest = max(trained, key=lambda recording: recording.ranks)
    _check_alike(largest)


def with_most_counts(trained: Sequence[Recording]) -> tuple[list[Recording], list[Recording]]:
    """Return the recordings with the parameters of which there are most numbers of ranks, by number, and the others."""
    groups: dict[tuple[tuple[str, int], ...], dict[int, Recording]] = {}
    for recording in trained:
        group = groups.setdefault(tuple(sorted(recording.parameters.items())), {})
        twin = group.setdefault(recording.ranks, recording)
        if twin is not recording and twin.digest != recording.digest:
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
        return cls(
            error.what, where=error.where, found=error.found, allowed=error.allowed, remedy=error.remedy,
            details=error.details,
        )  # fmt: skip


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
