"""Finds which rank of an MPI job failed, and how, from recorded rank ends and the output of MPI libraries.

When one rank is lost, launchers end all others. MPICH then often reports one of those, and gives no rank number.
Therefore ``manynode-rank`` (``manynode/rank/main.c``), which runs around each rank, records all ends in order. A rank
that calls MPI_Abort, or whose MPI library gives up, prints a message before it ends.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

LAST_LINES = 20
_MOST_NAMED = 5

# Launchers pass on what a rank has written so far: all these messages may begin after half a line of a rank.

# A rank whose MPI library gave up: it tells the launcher, which may end all ranks before this one.
_MPICH_GAVE_UP = re.compile(r"Abort\(-?\d+\) on node (\d+) .*?: (.*)$", re.MULTILINE)
_OPENMPI_GAVE_UP = re.compile(r"\*\*\* (An error occurred in \w+)\n.*reported by process \[\d+,(\d+)\]")
# In another communicator the rank has another number there.
_OPENMPI_ABORTED = re.compile(r"MPI_ABORT was invoked on rank (\d+) in communicator MPI_COMM_WORLD\n?.*code (-?\d+)")
# What Open MPI's launcher says of the first rank that it lost.
_OPENMPI_SIGNAL = re.compile(r"process rank (\d+) with PID \d+ on node \S+ exited on signal (\d+)")
_OPENMPI_CODE = re.compile(r"Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code: +(\d+)")
_OPENMPI_UNFINISHED = re.compile(r"process rank (\d+) with PID \d+ on\s+node \S+ exiting improperly")

# The launchers' own words, which push those of the program out of the last lines.
_MPICH_BANNER = re.compile(
    r"^=+\n=   BAD TERMINATION.*?(?:^Please see the FAQ page[^\n]*\n?|\Z)", re.MULTILINE | re.DOTALL
)
_OPENMPI_BANNER = re.compile(
    r"-{70,}\n(?:Primary job|(?:mpi|orte|prte)\S+ (?:noticed|detected|has exited)|MPI_ABORT was).*?^-{70,}\n?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Death:
    """A failed rank of an MPI job, with its return code as in :mod:`subprocess`."""

    rank: int
    code: int


def deaths(ends: str) -> list[Death]:
    """Return the failed ranks in order, from the record of ``manynode-rank``."""
    return [death for death in _ends(ends) if death.code != 0]


def ended(ends: str) -> int:
    """Return how many ranks have ended, well or badly."""
    return len({death.rank for death in _ends(ends)})


def _ends(ends: str) -> list[Death]:
    # The last line may be half written.
    found = (re.fullmatch(r"(\d+) (-?\d+)", line) for line in ends.split("\n")[:-1])
    return [Death(int(match[1]), int(match[2])) for match in found if match]


def end_words(code: int) -> str:
    """Return an exit code in words: ``exit code 3``, ``killed by signal 11 (SIGSEGV)``."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"killed by signal {-code}"


def gave_up(log: str) -> tuple[int, str] | None:
    """Return the rank whose MPI library ended the job, and its message, or None."""
    if said := _MPICH_GAVE_UP.search(log):
        return int(said[1]), said[2]
    if said := _OPENMPI_ABORTED.search(log):
        return int(said[1]), f"called MPI_Abort with error code {said[2]}"
    if said := _OPENMPI_GAVE_UP.search(log):
        return int(said[2]), said[1]
    return None


def culprits(noted: Sequence[Death], log: str) -> str | None:
    """Return text on the ranks that failed by themselves, and how; None if it is not known.

    ``noted`` are the failures in order, ``log`` is the output of the job. Ranks that the launcher ended after the first
    failure are left out.
    """
    if library := gave_up(log):
        rank, words = library
        own = next((death for death in noted if death.rank == rank), None)
        return f"rank {rank}: {words}" + (f" ({end_words(own.code)})" if own else "")
    if noted:
        first, *others = noted
        also = [death for death in others if -death.code not in (signal.SIGTERM, signal.SIGKILL)]
        named = [f"rank {death.rank}: {end_words(death.code)}" for death in [first, *also][:_MOST_NAMED]]
        rest = len(also) + 1 - len(named)
        return "; ".join(named) + (f"; and {rest} more" if rest else "")
    if said := _OPENMPI_SIGNAL.search(log):
        return f"rank {said[1]}: {end_words(-int(said[2]))}"
    if said := _OPENMPI_CODE.search(log):
        return f"rank {said[1]}: {end_words(int(said[2]))}"
    if said := _OPENMPI_UNFINISHED.search(log):
        return f"rank {said[1]}: it ended without MPI_Finalize"
    return None


def program_lines(output: str) -> str:
    """Return the last lines of the program itself: ``output`` without the launchers' messages."""
    own = _OPENMPI_BANNER.sub("", _MPICH_BANNER.sub("", output))
    return "\n".join([line for line in own.splitlines() if line.strip()][-LAST_LINES:])
