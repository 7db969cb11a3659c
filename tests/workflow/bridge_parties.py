"""The processes of a running bridged job: which is which, and whether they are gone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from manynode.process_tree import descendants

ENOUGH_S = 10.0
"""In which everything must have ended."""


def started_by(pid: int) -> list[int]:
    """The processes of the job that ``pid`` runs; not the fork server, which all tests share."""
    return [process for process in descendants(pid) if process != pid and not is_fork_server(process)]


def is_fork_server(pid: int) -> bool:
    try:
        return b"manynode.fork_server.server" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def variable(pid: int, name: str) -> str | None:
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((e.partition(b"=")[2].decode() for e in entries if e.startswith(name.encode() + b"=")), None)


def program(pid: int) -> str:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def a_guest(pids: Sequence[int]) -> int:
    return next(pid for pid in pids if variable(pid, "MANYNODE_BRIDGE_RANK") == "1" and program(pid).endswith("guest"))


def a_proxy(pids: Sequence[int]) -> int:
    return next(pid for pid, rank in ranks(pids).items() if rank == 2)


def an_external_rank(pids: Sequence[int]) -> int:
    return next(pid for pid, rank in ranks(pids).items() if rank == 3)


def the_launcher(pids: Sequence[int]) -> int:
    return next(pid for pid in pids if program(pid) in ("mpiexec.hydra", "mpiexec", "orterun", "mpiexec.mpich"))


def ranks(pids: Sequence[int]) -> dict[int, int]:
    """Return process -> rank of proxies and external ranks, without the launcher's processes."""
    found = {}
    for pid in pids:
        rank = variable(pid, "PMI_RANK") or variable(pid, "OMPI_COMM_WORLD_RANK")
        if rank is not None and program(pid) not in ("env", "manynode-rank"):
            found[pid] = int(rank)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(what: Callable[[], bool], limit_s: float = 30.0) -> bool:
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.05)
    return False
