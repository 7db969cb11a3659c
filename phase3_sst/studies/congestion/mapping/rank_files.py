"""Writes rank files, which tell an MPI launcher where to start each rank.

In: the host of each rank and its number among the ranks there. Out: the text of a file in the launcher's format, and
the command to use it. All formats use the host names of the user's host file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from manynode.errors import UsageError


@dataclass(frozen=True)
class Seat:
    """Where a rank is: its host, and its number on it; ``slot`` is its number among the slots of all hosts."""

    host: str
    number: int
    slot: int


def _openmpi(seats: Sequence[Seat], cores_per_rank: int) -> list[str]:
    return [
        f"rank {rank}={seat.host} slot={_cores(seat.number * cores_per_rank, cores_per_rank)}"
        for rank, seat in enumerate(seats)
    ]


def _cores(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first + count - 1}"


def _mpich(seats: Sequence[Seat], _cores_per_rank: int) -> list[str]:
    # Hydra reads the lines in order and puts the next ranks on each.
    return [f"{host}:{len(list(run))}" for host, run in groupby(seat.host for seat in seats)]


def _slurm(seats: Sequence[Seat], _cores_per_rank: int) -> list[str]:
    return [seat.host for seat in seats]


def _cray(seats: Sequence[Seat], _cores_per_rank: int) -> list[str]:
    if sorted(seat.slot for seat in seats) != list(range(len(seats))):
        raise UsageError(
            "a rank order of Cray's fills host after host, and this mapping leaves empty slots between hosts",
            where="--format",
            found="cray",
            remedy="give hosts with as many slots as there are ranks, or choose another format",
        )
    return [",".join(str(rank) for rank, _ in sorted(enumerate(seats), key=lambda entry: entry[1].slot))]


@dataclass(frozen=True)
class Format:
    """The writer of a launcher's file, and the command that uses it (``{file}``, ``{ranks}``)."""

    lines: Callable[[Sequence[Seat], int], list[str]]
    command: str
    note: str = ""


FORMATS: Mapping[str, Format] = {
    "openmpi": Format(_openmpi, "mpirun -n {ranks} --rankfile {file} ./application"),
    "mpich": Format(
        _mpich,
        "mpiexec -f {file} -n {ranks} ./application",
        "hydra takes hosts that are not in one piece for several nodes: ranks there do not share memory; under Slurm, "
        "--format slurm keeps them together",
    ),
    "slurm": Format(_slurm, "SLURM_HOSTFILE={file} srun -n {ranks} --distribution=arbitrary ./application"),
    "cray": Format(
        _cray,
        "MPICH_RANK_REORDER_METHOD=3 with {file} as MPICH_RANK_ORDER in the working directory",
        "the hosts are those of the host file in its order, filled one after the other",
    ),
}


def rank_file(name: str, seats: Sequence[Seat], cores_per_rank: int = 1) -> str:
    """Return the text of a rank file; ``cores_per_rank`` is for formats that bind ranks to cores (openmpi)."""
    return "".join(f"{line}\n" for line in format_of(name).lines(seats, cores_per_rank))


def format_of(name: str) -> Format:
    """Return a format by name; an unknown one is a :class:`UsageError`."""
    if name not in FORMATS:
        raise UsageError("unknown format of rank files", where="--format", found=name, allowed=", ".join(FORMATS))
    return FORMATS[name]


def split_hosts(seats: Sequence[Seat]) -> list[str]:
    """Return the hosts with non-consecutive ranks."""
    runs = [host for host, _ in groupby(seat.host for seat in seats)]
    return sorted({host for host in runs if runs.count(host) > 1})
