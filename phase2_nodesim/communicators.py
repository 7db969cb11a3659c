"""The communicators of a recorded job: each known by one number at all of its ranks.

In: the marker files of all ranks, where each rank numbers its communicators on its own. Out: for each rank a
:class:`Member` per communicator that its calls used. Two ranks mean the same communicator where its parent, its members
and its place among those alike are the same: MPI makes communicators collectively, in one order. All functions are
pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from manynode.errors import InputError
from manynode.markers import PROC_NULL_PEER, UNKNOWN, MarkerFile
from phase2_nodesim.recording import RecordedCall

WORLD, SELF = 0, 1  # their numbers in every recording
NEIGHBOUR = "eighbor_"  # in the names of collectives over neighbours
_CARTESIAN, _GRAPH, _INTER = 1, 2, 3
_MAKER = re.compile("_(?:Comm|Cart|Graph|Dist_graph|Intercomm)_")
_SHARED = "MPI_Comm_split_type"
_MOST = 32_767  # numbers that the engines can tell apart


@dataclass(frozen=True)
class Member:
    """A communicator as one of its ranks sees it.

    ``identity`` is the same at all members, ``number`` as well; the world is 0, and communicators without a common rank
    may share one. ``members`` are ranks of MPI_COMM_WORLD in the order of the communicator,
    ``sources`` and ``destinations`` the neighbours of its topology as ranks of the communicator, MPI_PROC_NULL among
    them. ``by_node``: its members are ranks that share memory, or follow from such a communicator.
    """

    identity: int
    members: tuple[int, ...]
    number: int = WORLD
    sources: tuple[int, ...] = ()
    destinations: tuple[int, ...] = ()
    inter: bool = False
    by_node: bool = False

    def rank_of(self, world_rank: int) -> int:
        """Return the rank in this communicator; what is no rank (any source, MPI_PROC_NULL) stays as it is."""
        return world_rank if world_rank < 0 else self.members.index(world_rank)

    def without_nobody(self, call: RecordedCall) -> RecordedCall:
        """Return a collective over neighbours without the blocks of MPI_PROC_NULL, which nobody sends or gets."""
        sent, received = (
            tuple(size for size, rank in zip(blocks, ranks if blocks else (), strict=True) if rank != PROC_NULL_PEER)
            for blocks, ranks in ((call.sent, self.destinations), (call.received, self.sources))
        )
        return call.but(bytes=sum(sent) if call.sent else call.bytes, sent=sent, received=received)


@dataclass
class _Identities:
    known: dict[tuple[int, tuple[int, ...], int], int] = field(default_factory=dict)

    def of(self, parent: int, members: tuple[int, ...], ordinal: int) -> int:
        return self.known.setdefault((parent, members, ordinal), len(self.known) + 1)


def communicators(files: list[MarkerFile]) -> list[dict[int, Member]]:
    """Return, for each rank, the communicators that its calls use by the rank's own numbers.

    One that the recording does not describe, and more than the engines can tell apart, is an :class:`InputError`.
    """
    identities = _Identities()
    made = [_of_rank(file, identities) for file in sorted(files, key=lambda file: file.metadata["rank"])]
    used = [_used(file, members) for file, members in zip(files, made, strict=True)]
    return _numbered(used, files)


def communicators_as_made(files: list[MarkerFile]) -> list[dict[int, Member]]:
    """Return, for each rank, all its communicators by the rank's own numbers, used or not.

    Their ``number`` is that of the call that made them among the rank's calls that make communicators, from 2 on; the
    world is 0 and MPI_COMM_SELF 1. It is the same at all numbers of ranks. Ranks that make a communicator by different
    calls, and what :func:`communicators` refuses, are an :class:`InputError`.
    """
    identities = _Identities()
    known = [_of_rank(file, identities) for file in files]
    used = {one.identity for file, members in zip(files, known, strict=True) for one in _used(file, members).values()}
    numbers: dict[int, int] = {}
    for file, members in zip(files, known, strict=True):
        for member in members.values():
            if member.identity in used and numbers.setdefault(member.identity, member.number) != member.number:
                raise InputError(
                    "the ranks of a communicator make it in different orders",
                    where=str(file.path),
                    found=f"communicator {member.number} of rank {file.metadata['rank']}, elsewhere "
                    f"{numbers[member.identity]}",
                )
    return known


def _of_rank(file: MarkerFile, identities: _Identities) -> dict[int, Member]:
    rank, size = file.metadata["rank"], file.metadata["world_size"]
    world = tuple(range(size))
    known = {WORLD: Member(0, world), SELF: Member(identities.of(SELF, (rank,), -1), (rank,), SELF)}
    alike: dict[tuple[int, tuple[int, ...]], int] = {}
    rows = file.records[_makes(file) & (file.records["detail"] != 0)]
    columns = (rows["operation"], rows["communicator"], rows["detail"])
    for made, (operation, parent, offset) in enumerate(zip(*columns, strict=True), start=SELF + 1):
        detail = file.detail(int(offset))
        if len(detail) < 4 or detail[0] < 0:
            continue  # a call that makes none, or none for this rank
        number, topology, comm_size, listed = detail[:4]
        members = tuple(detail[4 : 4 + listed]) if listed else world[:comm_size]
        origin = known.get(int(parent))
        # The two sides of an intercommunicator see different members of it.
        above = -1 if origin is None or origin.inter else origin.identity
        ordinal = alike.get((above, members), 0)
        alike[above, members] = ordinal + 1
        by_node = operation == _SHARED or (origin is not None and origin.by_node)
        identity = identities.of(above, members, ordinal)
        member = Member(identity, members, made, inter=topology == _INTER, by_node=by_node)
        known[number] = _with_neighbours(member, topology, detail[4 + listed :])
    return known


def cartesian_extents(file: MarkerFile) -> tuple[int, ...]:
    """Return the extents of the grid that a rank arranges the whole job in, if it makes one such grid; else nothing.

    Its ranks must be numbered as those of the job, the last axis fastest, as MPI_Cart_create without reordering does.
    """
    rank, size = file.metadata["rank"], file.metadata["world_size"]
    found = set()
    rows = file.records[_makes(file) & (file.records["detail"] != 0)]
    for offset in rows["detail"]:
        detail = file.detail(int(offset))
        if len(detail) < 4 or detail[0] < 0 or detail[1] != _CARTESIAN or detail[2] != size:
            continue
        words = detail[4 + detail[3] :]
        extents, _, own = np.reshape(np.array(words[1 : 1 + 3 * words[0]], np.int64), (3, words[0]))
        in_order = int(np.ravel_multi_index(tuple(own), tuple(extents))) == rank
        found.add(tuple(map(int, extents)) if in_order else ())
    return found.pop() if len(found) == 1 else ()


def _makes(file: MarkerFile) -> pd.Series:
    """Say of each record whether its call makes or frees communicators."""
    operations = file.records["operation"]
    return operations.isin([name for name in operations.unique() if _MAKER.search(str(name))])


def _with_neighbours(member: Member, topology: int, words: list[int]) -> Member:
    if topology == _GRAPH:
        sources = tuple(words[2 : 2 + words[0]])
        return replace(member, sources=sources, destinations=tuple(words[2 + words[0] : 2 + words[0] + words[1]]))
    if topology == _CARTESIAN:
        extents, periods, own = np.reshape(np.array(words[1 : 1 + 3 * words[0]], np.int64), (3, words[0]))
        neighbours: list[int] = []
        for axis, extent in enumerate(extents):
            for step in (-1, 1):
                there = own.copy()
                there[axis] += step
                if periods[axis]:
                    there[axis] %= extent
                inside = 0 <= there[axis] < extent
                neighbours.append(int(np.ravel_multi_index(tuple(there), tuple(extents))) if inside else PROC_NULL_PEER)
        return replace(member, sources=tuple(neighbours), destinations=tuple(neighbours))
    return member


def _used(file: MarkerFile, known: dict[int, Member]) -> dict[int, Member]:
    used = {}
    for number in sorted(set(map(int, file.records.loc[~_makes(file), "communicator"].unique()))):
        if number < 0:
            continue  # a call without communicator
        member = known.get(number)
        if member is None or UNKNOWN in member.members:
            raise InputError(
                "a recording does not say which ranks a communicator has",
                where=str(file.path),
                found=f"communicator {number} of rank {file.metadata['rank']}",
                allowed="communicators of this job's ranks, made by MPI_Comm_*, MPI_Cart_*, MPI_Graph_* or "
                "MPI_Dist_graph_*",
            )
        if member.inter:
            raise InputError(
                "skeletons have no intercommunicators",
                where=str(file.path),
                found=f"calls on communicator {number} of rank {file.metadata['rank']}",
            )
        used[number] = member
    return used


def _numbered(used: list[dict[int, Member]], files: list[MarkerFile]) -> list[dict[int, Member]]:
    """Give each communicator the smallest number that none of its ranks has for another."""
    taken: list[set[int]] = [{WORLD} for _ in range(files[0].metadata["world_size"])]
    number_of = {0: WORLD}
    for members in used:
        for member in members.values():
            if member.identity not in number_of:
                number = next(n for n in range(1, _MOST + 2) if not any(n in taken[rank] for rank in member.members))
                if number > _MOST:
                    raise InputError(
                        "a recording has too many communicators",
                        where="the recording",
                        found=f"more than {_MOST} on rank {member.members[0]}",
                        allowed=f"at most {_MOST}",
                    )
                number_of[member.identity] = number
                for rank in member.members:
                    taken[rank].add(number)
    return [
        {own: replace(member, number=number_of[member.identity]) for own, member in members.items()} for members in used
    ]
