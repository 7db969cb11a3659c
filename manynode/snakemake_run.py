"""Runs Snakemake as a child: follows and logs its output, shows progress, and gives one clear error for a failed step.

Steps write their error to a file (``MANYNODE_ERROR_FILE``). It is shown as the step wrote it, with its exit code.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from io import RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from manynode import process, slurm_snakemake, tables
from manynode.errors import EngineFailedError, ManynodeError, OutputError
from manynode.fork_server import owner
from manynode.heartbeat import interval_s
from manynode.measured_runs import KnownRuns
from manynode.notices import Notices
from manynode.refused_writes import refusal_below, said_in, writes_to
from manynode.running_steps import RunningSteps
from manynode.snakemake_profile import read_profile

if TYPE_CHECKING:
    from rich.progress import Task

ERROR_FILE = "MANYNODE_ERROR_FILE"
# As a shell says it: 128 and the number of SIGINT.
EXIT_INTERRUPTED = 130
_MOST_FAILURES = 20

_STEPS = re.compile(r"^(\d+) of (\d+) steps \(\d+(?:\.\d+)?%\) done")
# Without a line for so long, Snakemake has said all it has to say of a step that starts.
_SETTLED_S = 0.3


class StepFailedError(ManynodeError):
    """A step's own error, or an interruption, with its exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code

    def beside(self, full: OutputError) -> StepFailedError:
        """Return the error with the full disk added, which may be the reason that the step failed."""
        lines = [f"in addition, nothing can be written below {full.where}: {full.found}", f"  remedy: {full.remedy}"]
        return StepFailedError("\n".join([self.what, *lines]), self.exit_code)


class Progress(Protocol):
    """Progress of a run apart from its steps."""

    def read(self, line: str) -> None:
        """Read a line of Snakemake's output."""

    def words(self) -> str:
        """Return progress and time left; cheap, because a terminal asks several times per second."""


def snakemake_command(snakefile: Path, configfile: Path, directory: Path, cores: int, profile: str | None) -> list[str]:
    """Return the command that runs ``snakefile`` in ``directory``; ``profile`` is one of ``profiles/`` or a folder."""
    module, options = "manynode.fork_server", list[str]()
    if profile:
        folder, content = read_profile(profile)
        options = ["--profile", str(folder)]
        if content.get("executor") == slurm_snakemake.EXECUTOR:
            module, options = slurm_snakemake.__name__, [*options, *slurm_snakemake.site_options(content)]
    return [
        *(sys.executable, "-m", module, "--snakefile", str(snakefile)),
        *("--configfile", str(configfile.resolve()), "--directory", str(directory.resolve())),
        *("--cores", str(cores), "--rerun-incomplete", "--nolock", *options),
    ]


def cache_environment(folder: Path) -> dict[str, str]:
    """Return that Snakemake's cache is below ``folder`` if it cannot be in the user's home; nothing if it can."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "snakemake"
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        if os.access(cache, os.W_OK):
            return {}
    return {"XDG_CACHE_HOME": str((folder / "cache").resolve())}


def description(command: Sequence[str], option: str, folder: Path) -> list[str]:
    """Return what Snakemake prints with an option with which it runs nothing; ``folder`` may have its cache."""
    environment = {**owner.environment(), **cache_environment(folder)}
    return process.run([*command, option], what="the workflow's description", env=environment).output.splitlines()


def run_snakemake(
    command: Sequence[str], log: Path, progress: Progress, *, show_all: bool = False, known: KnownRuns | None = None
) -> None:
    """Run Snakemake to its end; its output goes to ``log`` (``show_all``: to stdout as well).

    ``known`` gives the expected times of measured runs.

    Raises the error of the first failed step, or :class:`EngineFailedError` with Snakemake's last lines. An
    interruption first ends Snakemake and its jobs.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    # Beside the log and not in a folder for temporary files: a cluster's nodes write there as well.
    errors = log.with_name("errors.jsonl").resolve()
    errors.unlink(missing_ok=True)
    notices = Notices(log.with_name("notices.jsonl").resolve())
    own = {ERROR_FILE: str(errors), **notices.environment(), **owner.environment(), **cache_environment(log.parent)}
    beat_s = interval_s()
    child = subprocess.Popen(  # the one child outside process.py: its output is followed while it runs
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", errors="replace", env={**os.environ, **own}, start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        # Without a buffer: what a full disk does not take is not tried again when the file is closed.
        with open(log, "wb", buffering=0) as sink:
            follower = _Follower(sink, log, progress, RunningSteps(known), notices, beat_s, show_all=show_all)
            tail = follower.follow(child.stdout)
        code = child.wait()
    except BaseException:
        # Snakemake ends its jobs and forgets half-written outputs when it is asked politely.
        os.killpg(child.pid, signal.SIGINT)
        try:
            child.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        raise
    if code == 0:
        return
    directory = Path(command[command.index("--directory") + 1])
    full = refusal_below([log.parent, directory])
    if recorded := recorded_errors(errors):
        failure = _failure(recorded)
        raise failure if full is None else failure.beside(full)
    if follower.told is not None and full is None:
        full = tables.write_error(directory, follower.told)
    if full is not None:
        raise full
    if code in (2, 3, 4, 5, 6):
        raise StepFailedError("\n".join(tail), code)
    raise EngineFailedError(
        "the workflow failed",
        found=f"Snakemake ended with exit code {code}",
        remedy=f"see {log}; finished steps are kept, run the same command to continue",
        details="\n".join(tail),
    )


def recorded_errors(path: Path) -> list[dict[str, Any]]:
    """Return the errors written by steps; a line that a full disk cut short is ignored."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found


def _failure(errors: list[dict[str, Any]]) -> StepFailedError:
    """Return the first step's error, with a line for each later one: a study continues after a failure."""
    first, *others = errors
    message = str(first["message"])
    if others:
        lines = [str(error["message"]).splitlines()[0] for error in others]
        shown = [f"  | {line}" for line in lines[:_MOST_FAILURES]]
        rest = [f"  | and {len(lines) - len(shown)} more"] if len(lines) > len(shown) else []
        message = "\n".join([message, f"{len(others) + 1} steps failed; the others are finished. Also:", *shown, *rest])
    return StepFailedError(message, int(first["exit_code"]))


class _Follower:
    """Copies Snakemake's output to the log and shows progress: steps at their start, progress lines, points."""

    def __init__(
        self,
        sink: RawIOBase,
        log: Path,
        points: Progress,
        steps: RunningSteps,
        notices: Notices,
        beat_s: float,
        *,
        show_all: bool,
    ) -> None:
        from rich.console import Console

        self._sink, self._log, self._points, self._steps, self._beat_s = sink, log, points, steps, beat_s
        self.told: OSError | None = None
        """A refused write that the lines tell of."""
        self._notices = notices
        self._show_all = show_all
        self._console = Console(highlight=False, markup=False, soft_wrap=True)
        self._beaten = time.monotonic()

    def follow(self, output: IO[str]) -> list[str]:
        """Read all output and return its last lines."""
        from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars
        from rich.text import Text

        follower = self

        class Words(ProgressColumn):
            """Asked anew whenever the line is drawn, not only when a step ends."""

            def render(self, _task: Task) -> Text:
                words = [follower._points.words(), follower._steps.longest(), follower._notices.progress]
                words = [text for text in words if text]
                return Text("; ".join(words), no_wrap=True, overflow="ellipsis")

        tail: list[str] = []
        columns = (
            *(TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()),
            Words(),
        )
        live = self._console.is_terminal and not self._show_all
        with Bars(*columns, console=self._console, disable=not live) as bars:
            task = bars.add_task("starting", total=None)
            for line in _with_pauses(output, _SETTLED_S):
                if line is None:
                    self._started(self._steps.described(), bars, task)
                    self._show_notices()
                    self._beat(live)
                    continue
                self._write(line)
                text = line.rstrip("\n")
                self.told = self.told or said_in([text])
                self._points.read(text)
                tail = [*tail[-29:], text]
                self._started(self._steps.read(text), bars, task)
                if self._show_all:
                    print(text)
                elif match := _STEPS.match(text):
                    self._notices.progress = ""
                    bars.update(task, completed=int(match[1]), total=int(match[2]))
                    if not live:
                        words = self._points.words()
                        print(f"{text}; {words}" if words else text, flush=True)
            self._show_notices()
        return [line for line in tail if line.strip()]

    def _write(self, text: str) -> None:
        with writes_to(self._log):
            self._sink.write(text.encode())

    def _show_notices(self) -> None:
        for notice in self._notices.new():
            self._console.print(f"warning: {notice}")

    def _started(self, line: str, bars: Any, task: Any) -> None:
        if not line or self._show_all:
            return
        bars.update(task, description=line.partition(":")[0])
        self._console.print(line)
        self._beaten = time.monotonic()

    def _beat(self, live: bool) -> None:
        """Print a progress line after a long silence; on a terminal the last line updates itself."""
        now = time.monotonic()
        if now - self._beaten < self._beat_s or self._show_all:
            return
        self._beaten = now
        lines = self._steps.words()
        for words in (self._notices.progress, self._points.words()) if lines else ():
            lines[-1] = f"{lines[-1]}; {words}" if words else lines[-1]
        for line in lines:
            self._write(f"{line}\n")
            if not live:
                print(line, flush=True)


def _with_pauses(lines: IO[str], pause_s: float) -> Iterable[str | None]:
    """Yield the lines as they arrive, and None whenever none has arrived for ``pause_s``."""
    arrived: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in lines:
            arrived.put(line)
        arrived.put(None)

    threading.Thread(target=read, name="output", daemon=True).start()
    while True:
        try:
            line = arrived.get(timeout=pause_s)
        except queue.Empty:
            yield None
            continue
        if line is None:
            return
        yield line


def record_error(error: ManynodeError) -> None:
    """Write a step's error to the file of ``manynode run``, if that is the caller."""
    path = os.environ.get(ERROR_FILE)
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as sink:
            sink.write(json.dumps({"message": error.render(), "exit_code": error.exit_code}) + "\n")
    except OSError:
        # The message is in the step's log as well.
        return
