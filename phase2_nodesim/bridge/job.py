"""The mixed MPI job: proxies of the simulated ranks in one block, external ranks around it, and the guests beside it.

In: the commands of the guest and the external ranks, the simulated ranks, and how to start guests (natively for tests;
by a simulator in an engine). Out: the marker files of all ranks; those of simulated ranks have the guests' times. FIFOs
and the state file are in a private temporary folder, which is removed after the job.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from manynode import process
from manynode.errors import EngineFailedError, ManynodeError, UsageError
from manynode.launch import Block, Flavour, job_command, job_environment, watched
from manynode.paths import native_library, native_program
from phase2_nodesim.bridge.blame import EndedProcess, Verdict, first_death, judge
from phase2_nodesim.bridge.guest_program import check_guest_program

Inject = Literal["none", "flush", "nic"]
STATE_READY, STATE_RUNNING, STATE_WAITING, STATE_FINISHED = 1, 2, 3, 4

_GRACE_S = 3.0
"""How long the others of a failed job have to end by themselves, so that what they say of it is in their logs."""
_UNFINISHED_S = 3.0
"""How long a rank may lack its MPI_Finalize after the process that simulated it has ended."""


@dataclass(frozen=True)
class BridgedJob:
    """One MPI job of ``total`` ranks, of which ``ranks`` from ``first`` on are simulated.

    ``guest`` is the command of the program that is linked with the bridge library, ``external`` that of the same
    program linked with MPI. ``directory`` receives marker files and logs.
    """

    flavour: Flavour
    guest: Sequence[str]
    external: Sequence[str]
    first: int
    ranks: int
    total: int
    directory: Path
    inject: Inject = "none"
    ranks_per_node: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to that of proxies and external ranks."""

    def simulated(self) -> range:
        """Return the simulated ranks."""
        return range(self.first, self.first + self.ranks)


@dataclass(frozen=True)
class BridgeFolder:
    """The private folder of one job, as a simulator needs it."""

    path: Path
    job: BridgedJob

    @property
    def state_file(self) -> Path:
        """One byte per simulated rank, in order: the states of wire.h."""
        return self.path / "state"

    def guest_environment(self, rank: int) -> dict[str, str]:
        """Return the environment variables of the guest of ``rank``; the clock is the simulator's."""
        return {"MANYNODE_BRIDGE_DIR": str(self.path), "MANYNODE_BRIDGE_RANK": str(rank)}

    def states(self) -> bytes:
        """Return the states of the simulated ranks."""
        return self.state_file.read_bytes()


@dataclass(frozen=True)
class Simulator:
    """A process that runs the guests of ``ranks``.

    ``explain`` may find the cause of a failure in its output.
    """

    command: Sequence[str]
    ranks: Sequence[int]
    name: str
    explain: Callable[[str], Verdict | None] | None = None


StartGuests = Callable[[BridgeFolder], Sequence[Simulator]]


def native_guests(bridge: BridgeFolder) -> list[Simulator]:
    """Return a plain process for each guest: the bridge without a simulator, with the host's clock."""
    simulators = []
    for rank in bridge.job.simulated():
        environment = {**bridge.guest_environment(rank), "MANYNODE_BRIDGE_CLOCK": "host"}
        assigned = [f"{name}={value}" for name, value in environment.items()]
        simulators.append(Simulator(["env", *assigned, *bridge.job.guest], [rank], f"the guest of rank {rank}"))
    return simulators


def run_bridged_job(
    job: BridgedJob,
    start_guests: StartGuests = native_guests,
    *,
    what: str,
    timeout_s: float | None = None,
    follow: Callable[[int, str], None] | None = None,
) -> list[process.Completed]:
    """Run ``job`` to its end; return the results of the MPI job and then of each process of guests.

    ``follow`` gets the number of the process (0: the MPI job) and each line of its output.

    Whatever dies, all ends within seconds with an :class:`EngineFailedError` that says whose fault it was, and no
    process and no FIFO stays behind.
    """
    _check(job)
    job.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="manynode-bridge-") as folder:
        bridge = BridgeFolder(Path(folder), job)
        _make_files(bridge)
        simulators = list(start_guests(bridge))
        logs = [job.directory / "job.log"]
        errors = job.directory / "errors.log"
        errors.write_bytes(b"")
        logs += [job.directory / f"guests-{index}.log" for index in range(len(simulators))]
        waiting = _Unfinished(bridge, simulators)
        return process.run_together(
            [_job_command(bridge, errors), *(simulator.command for simulator in simulators)],
            what=what,
            failure=lambda broken: EngineFailedError(f"{what} failed", details=broken.output),
            logs=logs,
            env=job_environment(job.flavour),
            timeout_s=timeout_s,
            follow=follow,
            # A guest opens its FIFOs without waiting: its proxy must be there.
            may_start=lambda index: index == 0 or all(bridge.states()),
            check=waiting.look,
            judge=lambda ended: _error(bridge, simulators, ended, what, [logs[0], errors]),
            grace_s=_GRACE_S,
            emptied=True,
        )


class _Unfinished:
    """Detects a process of guests that ended normally although one of its ranks has not called MPI_Finalize."""

    def __init__(self, bridge: BridgeFolder, simulators: Sequence[Simulator]) -> None:
        self._bridge = bridge
        self._simulators = simulators
        self._since: dict[int, float] = {}

    def look(self, codes: Sequence[int | None]) -> None:
        now = time.monotonic()
        states = self._bridge.states()
        for index, (simulator, code) in enumerate(zip(self._simulators, codes[1:], strict=True)):
            lacking = [rank for rank in simulator.ranks if states[rank - self._bridge.job.first] != STATE_FINISHED]
            if code is None or not lacking:
                continue
            if now - self._since.setdefault(index, now) > _UNFINISHED_S:
                began = states[lacking[0] - self._bridge.job.first] != STATE_READY
                raise EngineFailedError(
                    f"{simulator.name} ended without MPI_{'Finalize' if began else 'Init'}",
                    where=process.render(simulator.command),
                    found=f"exit code 0, but rank {lacking[0]} is not finished",
                    remedy="every rank must call MPI_Init and MPI_Finalize",
                )


def _check(job: BridgedJob) -> None:
    if job.ranks < 1 or job.first < 0 or job.first + job.ranks > job.total:
        raise UsageError(
            "the job does not have these ranks",
            where="simulated ranks",
            found=f"{job.first} to {job.first + job.ranks - 1} of {job.total}",
            allowed=f"0 to {job.total - 1}",
        )
    check_guest_program(job.guest[0])


def _make_files(bridge: BridgeFolder) -> None:
    names = ["request", "reply"]
    if bridge.job.inject == "nic":
        names += ["helper-command", "helper-done"]
    for rank in bridge.job.simulated():
        for name in names:
            os.mkfifo(bridge.path / f"rank-{rank}.{name}", 0o600)
    bridge.state_file.write_bytes(bytes(bridge.job.ranks))
    (bridge.path / "ends").touch()


def _job_command(bridge: BridgeFolder, errors: Path) -> list[str]:
    job = bridge.job
    shared = {
        "LD_PRELOAD": str(native_library(f"libmanynode_markers_{job.flavour}.so")),
        "MANYNODE_MARKERS_DIR": str(job.directory.resolve()),
        "MANYNODE_MARKERS_RANKS_PER_NODE": str(job.ranks_per_node or job.ranks),
        "MANYNODE_MARKERS_COUNTERS": "time",
        "MANYNODE_BRIDGE_DIR": str(bridge.path),
        # The job runs on this host: MPICH's transport needs no network, and starts faster without.
        "UCX_TLS": "self,sm",
        **job.environment,
    }
    proxy = native_program("manynode-bridge-proxy" + (".openmpi" if job.flavour == "openmpi" else ""))
    # Everybody waits for the simulated ranks, which are slow: politely, and all in the same way.
    proxies = Block(
        job.ranks,
        [str(proxy), str(Path(job.guest[0]).resolve()), *job.guest[1:]],
        (),
        {
            **shared,
            "MANYNODE_MARKERS_POLITE": "2",
            "MANYNODE_BRIDGE_FIRST": str(job.first),
            "MANYNODE_BRIDGE_RANKS": str(job.ranks),
            "MANYNODE_BRIDGE_INJECT": job.inject,
            "MANYNODE_BRIDGE_REPORT": str(job.directory.resolve()),
        },
    )

    def external(count: int) -> Block:
        return Block(count, job.external, (), {**shared, "MANYNODE_MARKERS_POLITE": "1"})

    blocks = [external(job.first), proxies, external(job.total - job.first - job.ranks)]
    return job_command(job.flavour, watched(blocks, bridge.path / "ends", errors))


def _error(
    bridge: BridgeFolder,
    simulators: Sequence[Simulator],
    ended: Sequence[process.Completed | None],
    what: str,
    logs: Sequence[Path],
) -> ManynodeError:
    processes = [
        EndedProcess(
            simulator.name, simulator.ranks, None if left is None else left.returncode, left, simulator.explain
        )
        for simulator, left in zip(simulators, ended[1:], strict=True)
    ]
    launcher = ended[0]
    job = bridge.job
    log = "\n".join(path.read_text("utf-8", "replace") for path in logs)
    first = first_death((bridge.path / "ends").read_text("utf-8", "replace"))
    verdict = judge(launcher.returncode if launcher else None, log, processes, job.simulated(), first)
    return EngineFailedError(
        f"{what} failed: {verdict.culprit}",
        where=process.render(job.guest),
        found=verdict.found,
        remedy=verdict.remedy,
        details=f"{verdict.details}\n(all output is in {job.directory})".strip(),
    )
