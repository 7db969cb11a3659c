"""The common part of native engines: distributes replicas over processes, merges results, reports errors.

Such an engine is a program ``PROGRAM RUN.json --output FOLDER [--progress]`` that reads a run file
(:mod:`phase3_sst.point.run_file`), writes the files of :mod:`phase3_sst.point.result_files`, and on failure leaves
a line of JSON with the key ``error`` on stderr.
"""

from __future__ import annotations

import itertools
import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from manynode import process
from manynode.config.simulate import SimulateSection
from manynode.errors import EngineFailedError, EngineMissingError, ManynodeError
from manynode.native_errors import reported_error
from manynode.paths import native_program
from manynode.probe import Probe
from manynode.refused_writes import refusal_below
from phase3_sst.point.contract import Capabilities, Measurement, Point, ReplicaCost
from phase3_sst.point.result_files import collect_parts, read_measurement
from phase3_sst.point.run_file import run_description, run_text


class NativeEngine:
    """An engine with a program in the native build; a subclass names the program."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    program: ClassVar[str]
    what: ClassVar[str]
    purpose: ClassVar[str]

    @classmethod
    def with_settings(cls, _simulate: SimulateSection) -> Self:
        """Return the engine; all its settings are in the run file."""
        return cls()

    def cores_of_replica(self) -> int:
        """Return 1: a replica is one process with one thread."""
        return 1

    def probe_bytes(self, _network: Mapping[str, Any]) -> float:
        """Return infinity: probes may cause any traffic."""
        return math.inf

    def expected_cost(self, _run: Mapping[str, Any]) -> ReplicaCost | None:
        """Return None: it is not known without a trial."""
        return None

    def probe(self) -> Probe:
        """Look for the program in the native build and ask its version."""
        try:
            path = native_program(self.program)
            version = process.run([path, "--version"], what=self.program).output.strip()
        except ManynodeError as error:
            return Probe(False, "", "", self.purpose, error.remedy or "run 'make build'")
        return Probe(True, str(path), version, self.purpose, "")

    def check(self, runs: Mapping[str, Mapping[str, Any]]) -> None:
        """Ask the program whether it can simulate the run files ``runs``, which messages name by key."""
        program = native_program(self.program)
        with tempfile.TemporaryDirectory(prefix=f"{self.program}.") as folder:
            files = {str(Path(folder) / f"run-{index}.json"): name for index, name in enumerate(runs)}
            for path, run in zip(files, runs.values(), strict=True):
                Path(path).write_text(json.dumps(run), encoding="utf-8")
            done = process.run([program, "--check", *files], what=self.what, check=False)
        if done.returncode != 0:
            accepted = set(done.output.splitlines())
            refused = next(name for path, name in files.items() if path not in accepted)
            raise engine_error(done, f"{self.what} ({refused})")

    def simulate(self, point: Point, directory: Path) -> None:
        """Simulate all replicas of ``point``, in up to ``point.processes`` processes."""
        chosen = point.chosen_replicas
        shares = [[chosen[place] for place in share] for share in deal(len(chosen), point.processes)]
        what = f"{self.what} ({point.name})"
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{self.program}.", dir=directory) as name:
            runs = [run_description(point, share) for share in shares]
            limit = point.experiment.simulate.time_limit
            follow = None if point.progress is None else _labelled(point.progress, len(shares))
            collect_parts(self._run(runs, Path(name), what, limit, follow), directory)

    def measure(self, run: Mapping[str, Any], timeout_s: float | None = None) -> Measurement:
        """Simulate the first replica of the run file ``run``."""
        (measured,) = self.measure_all([run], timeout_s)
        return measured

    def measure_all(
        self, runs: Sequence[Mapping[str, Any]], timeout_s: float | None = None, processes: int = 1
    ) -> list[Measurement]:
        """Simulate the first replica of each of ``runs``, at most ``processes`` side by side, begun in their order."""
        limit = None if timeout_s is None else timeout_s * math.ceil(len(runs) / processes)
        with tempfile.TemporaryDirectory(prefix=f"{self.program}.") as name:
            parts = self._run(runs, Path(name), self.what, limit, None, processes)
            return [read_measurement(part) for part in parts]

    def _run(
        self,
        runs: Sequence[Mapping[str, Any]],
        scratch: Path,
        what: str,
        timeout_s: float | None,
        follow: Callable[[int, str], None] | None,
        processes: int | None = None,
    ) -> list[Path]:
        """Run the program once for each run file, side by side, at most ``processes`` at a time.

        Returns the folders that they wrote.
        """
        program = native_program(self.program)
        commands: list[list[str | Path]] = []
        outs = []
        for index, run in enumerate(runs):
            file, out = scratch / f"run-{index}.json", scratch / f"out-{index}"
            file.write_text(run_text(run), encoding="utf-8")
            progress = ["--progress"] if follow is not None else []
            commands.append([program, file, "--output", out, *progress])
            outs.append(out)
        ended = 0

        def count(codes: Sequence[int | None]) -> None:
            nonlocal ended
            ended = sum(code is not None for code in codes)

        process.run_together(
            commands,
            what=what,
            # The program cannot tell a full disk from a wrong folder.
            failure=lambda completed: refusal_below([scratch.parent.resolve()]) or engine_error(completed, what),
            timeout_s=timeout_s,
            follow=follow,
            may_start=lambda index: processes is None or index < ended + processes,
            check=count,
        )
        return outs


def deal(replicas: int, processes: int) -> list[range]:
    """Return at most ``processes`` consecutive shares of the replicas, equally long (the first may have one more).

    Shares are consecutive: concatenated results are in the replicas' order for any number of shares.
    """
    count = max(1, min(replicas, processes))
    bounds = [-(-replicas * index // count) for index in range(count + 1)]
    return [range(begin, end) for begin, end in itertools.pairwise(bounds)]


def _labelled(progress: Callable[[str], None], processes: int) -> Callable[[int, str], None]:
    def follow(index: int, line: str) -> None:
        if line and not line.startswith("{"):
            progress(line if processes == 1 else f"process {index + 1} of {processes}: {line}")

    return follow


def engine_error(completed: process.Completed, what: str) -> ManynodeError:
    """Return the error from the JSON line on a native program's stderr; without one, an error with the last lines."""
    reported = reported_error(completed, what)
    if reported is not None:
        return reported
    if completed.returncode == 127:
        return EngineMissingError(f"{what} could not be loaded", details=completed.output, remedy="run 'make build'")
    return EngineFailedError(
        f"{what} failed",
        found=f"exit code {completed.returncode}"
        if completed.returncode >= 0
        else f"killed by signal {-completed.returncode} (9 is often the system out of memory)",
        remedy="run again; finished points are kept",
        details="\n".join(completed.output.splitlines()[-process.LAST_LINES :]),
    )
