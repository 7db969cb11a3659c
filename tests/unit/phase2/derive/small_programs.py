"""Small parallel programs as the calls that a recording of them would have, at any number of ranks.

Each is a function of a rank and parameters. Tests derive a skeleton from small jobs of a program and compare it with
large ones; variants of a program differ from it in one habit, such as an edge that wraps around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from manynode.derived.grids import Grid, extents
from manynode.markers import PROC_NULL_PEER
from phase2_nodesim.derive.recorded.recordings import Recording
from phase2_nodesim.recording import RecordedCall

COUNTS = (4, 8, 12, 18, 24, 27, 32)

Parameters = Mapping[str, int]

# Cells of all parts, number of parts, which part -> cells of that part.
Deal = Callable[[int, int, int], int]
DEALS: dict[str, Deal] = {
    "first larger": lambda cells, parts, part: cells // parts + (part < cells % parts),
    "last larger": lambda cells, parts, part: cells // parts + (part >= parts - cells % parts),
    "rounded down": lambda cells, parts, part: cells * (part + 1) // parts - cells * part // parts,
    "rounded up": lambda cells, parts, part: min(-(-cells // parts), max(0, cells - part * -(-cells // parts))),
}


class Rank:
    """Notes the calls of one rank; each has a site unless the program has no debug information."""

    def __init__(self, rank: int, ranks: int, *, sites: bool = True) -> None:
        self.rank = rank
        self.ranks = ranks
        self.sites = sites
        self.noted: list[RecordedCall] = []
        self.phase = ""
        self.made = 0
        self.open: list[int] = []
        self.groups: dict[int, tuple[int, ...]] = {}

    def compute(self, name: str) -> None:
        self.phase = f"{self.phase}+{name}" if self.phase else name

    def note(self, call: RecordedCall, site: str) -> None:
        self.noted.append(call.but(phase=self.phase, site=site if self.sites else ""))
        self.phase = ""

    def message(self, operation: str, peer: int, size: int, tag: int) -> None:
        size = 0 if peer == PROC_NULL_PEER else size
        request = -1
        if operation.startswith("MPI_I"):
            request, self.made = self.made, self.made + 1
            self.open.append(request)
        call = RecordedCall(operation, "", peer, bytes=size, tag=tag, communicator=0, request=request)
        self.note(call, operation)

    def isend(self, peer: int, size: int, tag: int = 0) -> None:
        self.message("MPI_Isend", peer, size, tag)

    def irecv(self, peer: int, size: int, tag: int = 0) -> None:
        self.message("MPI_Irecv", peer, size, tag)

    def send(self, peer: int, size: int, tag: int = 0) -> None:
        self.message("MPI_Send", peer, size, tag)

    def recv(self, peer: int, size: int, tag: int = 0) -> None:
        self.message("MPI_Recv", peer, size, tag)

    def sendrecv(self, to: int, source: int, size: int, tag: int = 0) -> None:
        self.note(RecordedCall("MPI_Sendrecv", "", to, source, size, size, tag, tag, 0), "sendrecv")

    def waitall(self) -> None:
        self.note(RecordedCall("MPI_Waitall", "", completes=tuple(self.open)), "waitall")
        self.open = []

    def collective(self, operation: str, size: int = 0, root: int = -1, communicator: int = 0) -> None:
        self.note(RecordedCall(operation, "", root, bytes=size, communicator=communicator), operation)

    def with_counts(
        self, operation: str, size: int, root: int = -1, communicator: int = 0, **blocks: list[int]
    ) -> None:
        """Make a collective with counts; ``blocks`` (``sent``, ``received``) are known to a root alone."""
        known = blocks if root in (-1, self.rank) else {}
        lists = {side: tuple(sizes) for side, sizes in known.items()}
        call = RecordedCall(operation, "", root, bytes=size, communicator=communicator)
        self.note(call.but(**lists), operation)

    def split(self, number: int, place: Callable[[int], tuple[int, int]]) -> None:
        """Make the communicator of a number; ``place`` gives the color and the key of a rank."""
        color = place(self.rank)[0]
        together = [rank for rank in range(self.ranks) if place(rank)[0] == color]
        if color >= 0:
            self.groups[number] = tuple(sorted(together, key=lambda rank: (place(rank)[1], rank)))

    def calls(self) -> list[RecordedCall]:
        return [*self.noted, RecordedCall("MPI_Finalize", self.phase)]


Program = Callable[[Rank, Parameters], None]


def run(program: Program, ranks: int, parameters: Parameters | None = None, *, sites: bool = True) -> Recording:
    """Return the recording of a program."""
    made = [Rank(number, ranks, sites=sites) for number in range(ranks)]
    for rank in made:
        program(rank, parameters or {})
    groups = [rank.groups for rank in made]
    return Recording([rank.calls() for rank in made], dict(parameters or {}), program="small", groups=groups)


def runs(program: Program, counts: Sequence[int] = COUNTS, *, sites: bool = True, **parameters: int) -> list[Recording]:
    """Return the recordings of a program at several numbers of ranks."""
    return [run(program, ranks, parameters, sites=sites) for ranks in counts]


def grid_of(ranks: int, dimensions: int = 3, rule: str = "least-surface") -> Grid:
    return Grid(extents(rule, ranks, dimensions, "ascending"), (False,) * dimensions, "first-fastest")


def place(grid: Grid, rank: int) -> list[int]:
    return [rank // stride % extent for stride, extent in zip(grid.strides, grid.extents, strict=True)]


def neighbour(grid: Grid, rank: int, axis: int, step: int, *, around: bool = False) -> int:
    """Return the rank a step away along an axis, or MPI_PROC_NULL."""
    here = place(grid, rank)[axis]
    there = here + step
    if not 0 <= there < grid.extents[axis]:
        if not around or grid.extents[axis] == 1:
            return PROC_NULL_PEER
        there %= grid.extents[axis]
    return rank + (there - here) * grid.strides[axis]


FACES = ((0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1))


def halo(
    rank: Rank,
    parameters: Parameters,
    *,
    around: Sequence[int] = (),
    order: Sequence[tuple[int, int]] = FACES,
    size: Callable[[int, int], int] | None = None,
    rule: str = "least-surface",
    tags: bool = False,
    nobody: bool = False,
    extra: Callable[[Rank, int], None] | None = None,
) -> None:
    """Exchange faces with the neighbours of a 3-D grid in each iteration, then sum up.

    ``nobody``: edges send to MPI_PROC_NULL instead of not at all.
    """
    grid = grid_of(rank.ranks, rule=rule)
    n = parameters.get("n", 10)
    found = [(axis, step, neighbour(grid, rank.rank, axis, step, around=axis in around)) for axis, step in order]
    if not nobody:
        found = [one for one in found if one[2] != PROC_NULL_PEER]
    rank.compute("setup")
    rank.collective("MPI_Barrier")
    for iteration in range(parameters.get("iterations", 4)):
        for axis, step, peer in found:
            rank.irecv(peer, size(axis, rank.ranks) if size else 8 * n * n, 2 * axis + (step > 0) if tags else 0)
        for axis, step, peer in found:
            rank.isend(peer, size(axis, rank.ranks) if size else 8 * n * n, 2 * axis + (step < 0) if tags else 0)
        rank.waitall()
        rank.compute("work")
        if extra is not None:
            extra(rank, iteration)
        rank.collective("MPI_Allreduce", 8)
    rank.compute("end")
