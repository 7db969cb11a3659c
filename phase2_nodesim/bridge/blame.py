"""Who is to blame when a bridged job fails: exit codes and outputs in, one culprit out.

When one party dies, the others follow: guests end with a code of their own when their proxy is gone, the launcher ends
all ranks when one is lost. The first of these that is true tells the culprit: a simulator or guest that ended by itself
in another way; a proxy that says why it gave up; the rank that died first.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from manynode.process import LAST_LINES, Completed

PROXY_GONE, REFUSED = 86, 87
"""Exit codes of guests (wire.h)."""

_APPLICATION = "run the application natively with all ranks; if it fails there as well, mend it first"
_PROXY_SAYS = re.compile(r"^manynode-bridge-proxy: rank (-?\d+): (.*)$", re.MULTILINE)
_GUEST_SAYS = re.compile(r"^manynode bridge: rank \d+: (.*)$", re.MULTILINE)
# A rank whose MPI library gave up: it tells the launcher, which may end all ranks before this one.
_MPICH_GAVE_UP = re.compile(r"^Abort\(-?\d+\) on node (\d+) .*?: (.*)$", re.MULTILINE)
_OPENMPI_GAVE_UP = re.compile(r"\*\*\* (An error occurred in \w+)\n.*reported by process \[\d+,(\d+)\]")


@dataclass(frozen=True)
class Verdict:
    """The culprit, what is known of its end, and how to go on."""

    culprit: str
    found: str
    remedy: str
    details: str = ""


@dataclass(frozen=True)
class Death:
    """A rank of the MPI job that ended badly: its code as :mod:`subprocess` has it."""

    rank: int
    code: int


def first_death(ends: str) -> Death | None:
    """Return the first rank that ended badly, from what ``manynode-bridge-rank`` noted, or None."""
    for line in ends.splitlines():
        if match := re.fullmatch(r"(\d+) (-?\d+)", line):
            return Death(int(match[1]), int(match[2]))
    return None


@dataclass(frozen=True)
class EndedProcess:
    """A process of guests: its exit code (None: it had to be ended) and what it left."""

    name: str
    ranks: Sequence[int]
    code: int | None
    left: Completed | None
    explain: Callable[[str], Verdict | None] | None = None


def judge(
    launcher_code: int | None,
    log: str,
    processes: Sequence[EndedProcess],
    simulated: range,
    first: Death | None,
) -> Verdict:
    """Return who is to blame; ``log`` is the output of the MPI job, of which ``first`` was the first rank to die."""
    for process in processes:
        output = process.left.output if process.left else ""
        if process.explain is not None and (verdict := process.explain(output)) is not None:
            return verdict
        if process.code not in (None, 0, PROXY_GONE):
            return _of_guest(process, output)
    if launcher_code is not None and launcher_code < 0:
        return Verdict("the launcher of the MPI job", _end(launcher_code), "start the job again", _tail(log))
    if said := _PROXY_SAYS.search(log):
        rank, words = int(said[1]), said[2]
        if "its guest" in words:
            return Verdict(f"the guest of rank {rank}", words.replace("its guest", "it"), _APPLICATION, _tail(log))
        return Verdict(f"the proxy of rank {rank}", words, "see the message", _tail(log))
    if given_up := _MPICH_GAVE_UP.search(log):
        return _of_rank(int(given_up[1]), given_up[2], simulated, log)
    if given_up := _OPENMPI_GAVE_UP.search(log):
        return _of_rank(int(given_up[2]), given_up[1], simulated, log)
    if first is not None:
        return _of_rank(first.rank, _end(first.code), simulated, log)
    return Verdict("the MPI job", _end(launcher_code or 0), _APPLICATION, _tail(log))


def _of_rank(rank: int, found: str, simulated: range, log: str) -> Verdict:
    kind = "the proxy of rank" if rank in simulated else "external rank"
    return Verdict(f"{kind} {rank}", found, _APPLICATION, _tail(log))


def _of_guest(process: EndedProcess, output: str) -> Verdict:
    said = _GUEST_SAYS.search(output)
    if said is None:
        return Verdict(process.name, _end(process.code or 0), _APPLICATION, _tail(output))
    refused = process.code == REFUSED
    return Verdict(process.name, said[1], "change the application as the message says" if refused else _APPLICATION)


def _end(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"killed by signal {-code}"


def _tail(output: str) -> str:
    return "\n".join(output.splitlines()[-LAST_LINES:])
