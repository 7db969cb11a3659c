"""Finds the culprit when a bridged job fails: exit codes and outputs in, one culprit out.

When one party dies, the others follow: guests end with a special code when their proxy is gone, and the launcher ends
all ranks when one is lost. The culprit is the first of these: a simulator or guest that ended in another way; a proxy
that reports why it gave up; the rank that died first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from manynode.process import Completed
from manynode.rank_ends import LAST_LINES, Death, deaths, end_words, gave_up

PROXY_GONE, REFUSED = 86, 87
"""Exit codes of guests (wire.h)."""

_APPLICATION = "run the application natively with all ranks; if it fails there as well, mend it first"
_PROXY_SAYS = re.compile(r"^manynode-bridge-proxy: rank (-?\d+): (.*)$", re.MULTILINE)
_GUEST_SAYS = re.compile(r"^manynode bridge: rank \d+: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Verdict:
    """The culprit, how it ended, and how to continue."""

    culprit: str
    found: str
    remedy: str
    details: str = ""


def first_death(ends: str) -> Death | None:
    """Return the first failed rank from the record of ``manynode-rank``, or None."""
    return next(iter(deaths(ends)), None)


@dataclass(frozen=True)
class EndedProcess:
    """A process of guests: its exit code (None: it had to be ended) and its result."""

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
        return Verdict("the launcher of the MPI job", end_words(launcher_code), "start the job again", _tail(log))
    if said := _PROXY_SAYS.search(log):
        rank, words = int(said[1]), said[2]
        if "its guest" in words:
            return Verdict(f"the guest of rank {rank}", words.replace("its guest", "it"), _APPLICATION, _tail(log))
        return Verdict(f"the proxy of rank {rank}", words, "see the message", _tail(log))
    if library := gave_up(log):
        return _of_rank(*library, simulated, log)
    if first is not None:
        return _of_rank(first.rank, end_words(first.code), simulated, log)
    return Verdict("the MPI job", end_words(launcher_code or 0), _APPLICATION, _tail(log))


def _of_rank(rank: int, found: str, simulated: range, log: str) -> Verdict:
    kind = "the proxy of rank" if rank in simulated else "external rank"
    return Verdict(f"{kind} {rank}", found, _APPLICATION, _tail(log))


def _of_guest(process: EndedProcess, output: str) -> Verdict:
    said = _GUEST_SAYS.search(output)
    if said is None:
        return Verdict(process.name, end_words(process.code or 0), _APPLICATION, _tail(output))
    refused = process.code == REFUSED
    return Verdict(process.name, said[1], "change the application as the message says" if refused else _APPLICATION)


def _tail(output: str) -> str:
    return "\n".join(output.splitlines()[-LAST_LINES:])
