"""Runs SST simulations in parallel: writes files, starts and watches processes, reads parts, reports failures."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manynode import process, process_tree
from manynode.config.sst import SstSection
from manynode.errors import ManynodeError
from phase3_sst.engines.sst.run.failure import failure_of, unfinished_error
from phase3_sst.engines.sst.run.parts import Parts, read_parts, write_result
from phase3_sst.engines.sst.run.progress_lines import Progress, read_progress
from phase3_sst.engines.sst.run.run_files import sst_run, write_run
from phase3_sst.engines.sst.run.sst_command import environment, sst_command
from phase3_sst.engines.sst.run.sst_installation import Installation
from phase3_sst.engines.sst.run.watch import Watch

# Share of the host's memory, if the experiment sets no limit; the system and the caller need the rest.
_SHARE_OF_HOST = 0.95


@dataclass
class Simulation:
    """One replica: its run file, its scratch folder, and the path of SST's output."""

    run: Mapping[str, Any]
    scratch: Path
    log: Path
    content: dict[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> Path:
        """Return the output folder of SST."""
        return self.scratch / "parts"

    @property
    def replica(self) -> int:
        """Return the number of the replica."""
        (replica,) = self.run["replicas"]
        return int(replica)

    def prepare(self, settings: SstSection) -> Path:
        """Write the files that SST reads; return RUN.json."""
        self.parts.mkdir(parents=True)
        self.content = sst_run(self.run, settings, self.parts)
        path = self.scratch / "RUN.json"
        write_run(self.content, path)
        return path


def simulate_together(
    simulations: Sequence[Simulation],
    installation: Installation,
    settings: SstSection,
    *,
    what: str,
    timeout_s: float | None = None,
    tell: Callable[[int, Progress], None] | None = None,
) -> list[Path]:
    """Run ``simulations`` in parallel; return the folder of tables of each.

    ``tell`` gets the number of the replica and its progress. A simulation that fails, leaves ranks unfinished, hangs or
    exceeds its memory ends all of them with a :class:`ManynodeError`; SST's output stays in its log.
    """
    commands = []
    for simulation in simulations:
        simulation.log.parent.mkdir(parents=True, exist_ok=True)
        commands.append(sst_command(installation, settings, simulation.prepare(settings), simulation.parts))
    memory = settings.memory or _SHARE_OF_HOST * process_tree.host_memory_bytes() / len(simulations)
    watches = [
        Watch(what, hang_limit_s=settings.hang_limit, memory_bytes=memory, log=simulation.log)
        for simulation in simulations
    ]

    def follow(index: int, line: str) -> None:
        progress = read_progress(line)
        if progress is None:
            return
        watches[index].advance(progress.simulated_s)
        if tell is not None:
            tell(simulations[index].replica, progress)

    completed = process.run_together(
        commands,
        what=what,
        failure=lambda broken: failure_of(broken, what),
        timeout_s=timeout_s,
        follow=follow,
        logs=[simulation.log for simulation in simulations],
        env=environment(installation, settings),
        watch=lambda index, pid: watches[index].look(pid),
    )
    outs = []
    for simulation, ended in zip(simulations, completed, strict=True):
        parts = _whole(simulation, ended, what)
        out = simulation.scratch / "out"
        write_result(parts, simulation.content, installation.engine_version, out)
        shutil.rmtree(simulation.parts)
        simulation.log.unlink(missing_ok=True)
        outs.append(out)
    return outs


def _whole(simulation: Simulation, ended: process.Completed, what: str) -> Parts:
    """Return the parts of a simulation; raise an error unless every rank has finished."""
    parts = read_parts(simulation.parts, simulation.run)
    if parts is None:
        # SST also exits with code 0 when it was told to stop, and when it did not understand its options.
        error: ManynodeError = failure_of(ended, what)
        raise error
    entries, count = parts.unfinished
    if count:
        jobs = [str(job.get("name", "main")) for job in simulation.run["jobs"]]
        raise unfinished_error(entries, count, jobs, what, simulation.log)
    return parts
