"""``manynode run``: Snakemake underneath, progress above, one clear error when a step fails.

Snakemake keeps what is finished; whatever ended the last run (an error, SIGINT, a power cut), the next one goes on.
Steps leave their error in a file of their own, so that it is shown as the step wrote it, with its exit code.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import yaml

from manynode import process, tables
from manynode.config.changes import changed
from manynode.config.loader import Resolved, load_experiment, resolve
from manynode.config.studies import STUDIES
from manynode.errors import EngineFailedError, ManynodeError
from manynode.hostlock import only_here
from manynode.measurements import adopt
from manynode.paths import ROOT
from manynode.snakemake_profile import profile_folder
from manynode.study_progress import StudyProgress, read_estimate

ERROR_FILE = "MANYNODE_ERROR_FILE"
# As a shell says it: 128 and the number of SIGINT.
EXIT_INTERRUPTED = 130
_MOST_FAILURES = 20

_STEPS = re.compile(r"^(\d+) of (\d+) steps \(\d+(?:\.\d+)?%\) done")
_RULE = re.compile(r"^(?:local)?(?:rule|checkpoint) (\w+):$")
_WILDCARDS = re.compile(r"^\s+wildcards: (.*)$")


class StepFailedError(ManynodeError):
    """A step's own error, or an interruption, with its exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def run_experiment(
    experiment: Path,
    *,
    cores: int,
    directory: Path,
    dry_run: bool = False,
    until: str | None = None,
    profile: str | None = None,
    measurements_from: Path | None = None,
    changes: Mapping[str, Any] | None = None,
) -> None:
    """Run ``experiment`` in ``directory``; on success print where the report is.

    ``measurements_from`` is a results folder whose measured runs are taken over (:mod:`manynode.measurements`).
    ``changes`` are key -> value; the experiment with them is kept as ``experiment.yaml`` beside its results.

    Raises :class:`UsageError` for a wrong experiment before anything starts, and the error of the step that failed.
    """
    resolved = resolve_with(experiment, changes or {})
    name = resolved.model.name
    results = directory / "results" / name
    file = results / "experiment.yaml" if changes else experiment
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")),
        *("--configfile", str(file.resolve()), "--directory", str(directory.resolve())),
        *("--cores", str(cores), "--rerun-incomplete", "--nolock"),
    ]
    if any(resolved.content[study] for study in STUDIES):
        # A point of a study that fails leaves the others their chance.
        command.append("--keep-going")
    if dry_run:
        command.append("--dry-run")
    if until:
        command += ["--until", until]
    if profile:
        command += ["--profile", str(profile_folder(profile))]
    with only_here(results, what="experiment", command="run", remedy="give it another name or --directory"):
        if changes:
            with tables.replacing(file) as part:
                part.write_text(yaml.safe_dump(changed(experiment, changes), sort_keys=False), encoding="utf-8")
        if measurements_from is not None and not dry_run:
            adopt(measurements_from, results, resolved)
        try:
            expected = {} if dry_run or until else _expected(file, resolved, results, cores)
            _run(command, results, dry_run, StudyProgress(expected))
        except KeyboardInterrupt:
            raise StepFailedError(
                "interrupted; finished steps are kept, the same command goes on from there", EXIT_INTERRUPTED
            ) from None
    if not dry_run:
        report = results / "report.html"
        print(f"report: {report}" if report.is_file() else f"results: {results}")


def resolve_with(experiment: Path, changes: Mapping[str, Any]) -> Resolved:
    """Return the checked experiment of the file with ``changes``."""
    if not changes:
        return load_experiment(experiment)
    return resolve(changed(experiment, changes), where=str(experiment), base=experiment.resolve().parent)


def _expected(experiment: Path, resolved: Resolved, results: Path, cores: int) -> dict[tuple[str, str, int], float]:
    """Return what each point is expected to take [s], and print it; nothing where phase 3 cannot tell."""
    path, digest = results / "logs" / "estimate.json", resolved.digest()
    if resolved.model.application.name is None:
        return {}
    known = read_estimate(path, digest)
    if known:
        return known
    # Phase 3's own command: this package imports no phase.
    command = [sys.executable, "-m", "manynode", "simulate", "estimate", "--experiment", str(experiment.resolve())]
    done = process.run([*command, "--cores", str(cores), "--output", str(path)], what="the estimate", check=False)
    found = read_estimate(path, digest) if done.returncode == 0 else {}
    if found:
        print(done.output.rstrip(), flush=True)
    return found


def _run(command: list[str], results: Path, dry_run: bool, points: StudyProgress) -> None:
    log = results / "logs" / "snakemake.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    # Beside the log and not in a folder for temporary files: a cluster's nodes write there as well.
    errors = log.with_name("errors.jsonl").resolve()
    errors.unlink(missing_ok=True)
    environment = dict(os.environ, **{ERROR_FILE: str(errors)})
    child = subprocess.Popen(  # the one child outside process.py: its output is followed while it runs
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", errors="replace", env=environment, start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        with open(log, "w", encoding="utf-8") as sink:
            tail = _follow(child.stdout, sink, points, show_all=dry_run)
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
    if errors.is_file():
        raise _failure([json.loads(line) for line in errors.read_text(encoding="utf-8").splitlines()])
    if code in (2, 3, 4, 5, 6):
        raise StepFailedError("\n".join(tail), code)
    raise EngineFailedError(
        "the workflow failed",
        found=f"Snakemake ended with exit code {code}",
        remedy=f"see {log}; finished steps are kept, the same command goes on from there",
        details="\n".join(tail),
    )


def _failure(errors: list[dict[str, Any]]) -> StepFailedError:
    """Return the first step's error; of others, which a study goes on to, what failed."""
    first, *others = errors
    message = str(first["message"])
    if others:
        lines = [str(error["message"]).splitlines()[0] for error in others]
        shown = [f"  | {line}" for line in lines[:_MOST_FAILURES]]
        rest = [f"  | and {len(lines) - len(shown)} more"] if len(lines) > len(shown) else []
        message = "\n".join([message, f"{len(others) + 1} steps failed; the others are finished. Also:", *shown, *rest])
    return StepFailedError(message, int(first["exit_code"]))


def _follow(lines: IO[str], sink: IO[str], points: StudyProgress, *, show_all: bool) -> list[str]:
    """Copy Snakemake's output to the log, show progress, and return the last lines."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(highlight=False)
    tail: list[str] = []
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()),
        TextColumn("{task.fields[points]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal or show_all) as progress:
        task = progress.add_task("starting", total=None, points="")
        step = ""
        for line in lines:
            sink.write(line)
            text = line.rstrip("\n")
            points.read(text)
            tail = [*tail[-29:], text]
            if show_all:
                print(text)
            elif match := _RULE.match(text):
                step = match[1]
            elif match := _WILDCARDS.match(text):
                step = f"{step} ({match[1]})"
            elif step and not text.strip():
                progress.update(task, description=step)
                if not console.is_terminal:
                    print(step, flush=True)
                step = ""
            elif match := _STEPS.match(text):
                words = points.words()
                progress.update(task, completed=int(match[1]), total=int(match[2]), points=words)
                if not console.is_terminal:
                    print(f"{text}; {words}" if words else text, flush=True)
    return [line for line in tail if line.strip()]


def record_error(error: ManynodeError) -> None:
    """Leave a step's error where ``manynode run`` looks for it, when it is the caller."""
    path = os.environ.get(ERROR_FILE)
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as sink:
            sink.write(json.dumps({"message": error.render(), "exit_code": error.exit_code}) + "\n")
    except OSError:
        # The message is in the step's log as well.
        return
