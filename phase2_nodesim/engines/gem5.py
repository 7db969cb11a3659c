"""The gem5 engine: the ranks of one node on simulated out-of-order cores, beside native ranks, through the bridge.

One gem5 process simulates all ranks of the node. ``phase2_nodesim/gem5/board_file.py`` describes the board,
``phase2_nodesim/bridge/README.md`` how simulated and native ranks communicate, ``docs/how-to/gem5.md`` the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from manynode.config.experiment import NodesimSection
from manynode.config.resolved import Resolved
from manynode.errors import EngineFailedError, EngineMissingError, UsageError
from manynode.launch import application_guest
from manynode.markers import MarkerFile, concatenate
from manynode.measured_runs import SlowDown
from manynode.paths import PACKAGES, build_dir
from manynode.probe import Probe
from manynode.tables import write_json
from phase2_nodesim.bridge.blame import Verdict
from phase2_nodesim.bridge.gem5_messages import refusal
from phase2_nodesim.bridge.guest_program import check_guest_program
from phase2_nodesim.bridge.job import BridgedJob, BridgeFolder, Simulator, run_bridged_job
from phase2_nodesim.engines._interface import ENGINES, NodeCost, NodeEngine, NodeJob, NodeRun
from phase2_nodesim.gem5.board_file import SCHEMA, BoardFiles, GuestProcess, board_file
from phase2_nodesim.gem5.cpi_stack import cpi_stacks
from phase2_nodesim.gem5.estimate import RATE, Teller, estimate
from phase2_nodesim.gem5.installation import GUIDE, Installation, find_gem5
from phase2_nodesim.gem5.statistics import all_misses, read_statistics, without_rows_beyond
from phase2_nodesim.segments import segment_table

_PURPOSE = "phase 2: compute times on simulated out-of-order cores, caches and memory"
# A host core executes 1 to 3 thousand million instructions a second, gem5 simulates 0.2 to 0.3 million
# (docs/how-to/gem5.md).
_SLOW_DOWN = SlowDown(3000.0, 15000.0, serial=True)
_BOARD = Path(__file__).resolve().parent.parent / "gem5" / "board" / "run.py"
# Memory that malloc gives back is lost to gem5, and every munmap empties all its TLBs: never give back, never map.
MALLOC = "glibc.malloc.mmap_threshold=1099511627776:glibc.malloc.trim_threshold=1099511627776:glibc.malloc.arena_max=1"


class Gem5:
    """Runs the guests of one node in gem5 and takes their times and statistics."""

    name = "gem5"

    def probe(self, settings: NodesimSection | None = None) -> Probe:
        try:
            found = find_gem5(_executable(settings))
        except EngineMissingError as error:
            return Probe(False, str(error.found or ""), "", _PURPOSE, f"optional; {error.remedy or GUIDE}")
        return Probe(True, str(found.program), found.version, _PURPOSE, "")

    def check(self, experiment: Resolved) -> None:
        """Look at the guest program, and describe the board with a guest for each rank of a node."""
        application = experiment.application
        built = application.command is not None or (build_dir() / "bin" / f"{application.executable}").is_file()
        guest = application_guest(application, experiment.ranks_per_node, experiment.ranks_per_node)
        if guest is not None:
            check_guest_program(guest[0])
        elif built:  # else the whole application is missing, which is no mistake of the experiment
            raise _no_guest(named=application.command is not None)
        command = guest or [f"{application.executable}"]
        board_file(
            experiment.machine,
            [GuestProcess(rank, command, [], Path()) for rank in range(experiment.ranks_per_node)],
            BoardFiles(None, None),
            threads=application.threads,
            helpers=experiment.nodesim.gem5.inject == "nic",
        )

    def cost(self, settings: NodesimSection, ranks_per_node: int, nodes: int, threads: int) -> NodeCost:
        # One host core simulates all cores of the board.
        return NodeCost(ranks_per_node, _SLOW_DOWN, 1, RATE)

    def run(self, run: NodeRun, job: NodeJob) -> None:
        found = find_gem5(_executable(job.settings))
        settings = job.settings.gem5
        bridged = BridgedJob(
            job.flavour,
            _guest(job),
            job.command,
            job.first,
            job.ranks_per_node,
            job.ranks,
            run.directory,
            settings.inject,
            job.ranks_per_node,
            {"OMP_NUM_THREADS": str(job.threads)},
        )

        def start(bridge: BridgeFolder) -> list[Simulator]:
            return [_simulator(run, job, found, bridge)]

        if job.tell is not None:
            job.tell(estimate(job))
        teller = Teller(job)
        left = run_bridged_job(
            bridged, start, what=job.words(self.name), timeout_s=job.timeout_s, follow=lambda _, line: teller.see(line)
        )
        # An instruction that gem5 leaves out is only a warning to it.
        if (wrong := refusal(left[1].output)) is not None:
            raise EngineFailedError(
                f"{job.words(self.name)} failed", where=str(left[1].log), found=wrong.found, remedy=wrong.remedy
            )

    def segments(self, run: NodeRun, files: Sequence[MarkerFile]) -> pd.DataFrame:
        records = concatenate(list(files))
        path = run.directory / "statistics.jsonl"
        if not path.is_file():
            return segment_table(records)
        counts = without_rows_beyond(read_statistics(path), records)
        stacks = cpi_stacks(counts, run.machine)
        return segment_table(records, pd.concat([all_misses(counts).drop(columns="tick"), stacks], axis=1))

    def describe(self, run: NodeRun, segments: pd.DataFrame) -> Mapping[str, Any]:
        board = json.loads((run.directory / "board.json").read_text(encoding="utf-8"))
        return {
            "times": "simulated by gem5",
            "inject": board["inject"],
            **{key: board[key] for key in ("core", "caches", "memory", "threads")},
        }


def board_command(found: Installation, board: Path, outdir: Path) -> list[str]:
    """Return the command that simulates ``board``; gem5's own files go to ``outdir``."""
    # The board's modules are imported by gem5's own Python.
    gem5 = ["env", f"PYTHONPATH={PACKAGES}", str(found.program)]
    return [*gem5, f"--outdir={outdir}", "--quiet", str(_BOARD), str(board)]


def _executable(settings: NodesimSection | None) -> str | None:
    return None if settings is None else settings.gem5.executable


def _guest(job: NodeJob) -> list[str]:
    if job.guest is None:
        raise _no_guest(named=True)
    return [str(word) for word in job.guest]


def _no_guest(*, named: bool) -> UsageError:
    return UsageError(
        "the application has no program for the simulator",
        where="application: guest",
        found="nothing" if named else "no guest program in the native build",
        allowed="the application built as a guest: static, with the bridge's mpi.h and library",
        remedy="build it as docs/how-to/gem5.md shows and name it under application: guest; for an application of this "
        "project run 'make build'",
    )


def _simulator(run: NodeRun, job: NodeJob, found: Installation, bridge: BridgeFolder) -> Simulator:
    settings = job.settings.gem5
    shared = [f"GLIBC_TUNABLES={MALLOC}", f"OMP_NUM_THREADS={job.threads}", "OMP_DYNAMIC=false"]
    guests = [
        GuestProcess(
            rank,
            bridge.job.guest,
            [*(f"{name}={value}" for name, value in bridge.guest_environment(rank).items()), *shared],
            Path.cwd(),
        )
        for rank in bridge.job.simulated()
    ]
    files = BoardFiles(
        bridge.state_file.resolve(),
        (run.directory / "statistics.jsonl").resolve() if settings.statistics else None,
    )
    board = board_file(
        run.machine,
        guests,
        files,
        threads=job.threads,
        helpers=settings.inject == "nic",
        progress_s=settings.progress,
    )
    path = run.directory / "board.json"
    write_json(path, SCHEMA, {**board, "inject": settings.inject})
    command = board_command(found, path, run.directory / "gem5")
    return Simulator(command, bridge.job.simulated(), "gem5", _explain)


def _explain(output: str) -> Verdict | None:
    """Return the explanation of a failure from gem5's own messages."""
    wrong = refusal(output)
    return None if wrong is None else Verdict("the guest program", wrong.found, wrong.remedy)


_engine: NodeEngine = ENGINES.register("gem5")(Gem5())
