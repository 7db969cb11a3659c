"""``manynode run``: runs the workflow with Snakemake, shows progress, and gives one clear error if a step fails.

Snakemake keeps finished steps. The next run continues there, whatever ended the last one (an error, SIGINT, a power
cut).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.announcement import announce_measurements
from manynode.checks import check_experiment
from manynode.command_answer import answer_of, say
from manynode.config import yaml_text
from manynode.config.changes import changed
from manynode.config.crowding import crowding_warning
from manynode.config.loader import load_experiment, resolve
from manynode.config.resolved import Resolved, write_resolved
from manynode.config.studies import all_points, studies
from manynode.errors import EngineMissingError, ManynodeError, UsageError, nearest
from manynode.hostlock import only_here
from manynode.launch import started_here
from manynode.measured_runs import KnownRuns
from manynode.measurements import adopt, reused
from manynode.paths import ROOT
from manynode.phase_commands import ask as ask_phase
from manynode.results_owner import claim
from manynode.run_record import record_run
from manynode.snakemake_run import (
    EXIT_INTERRUPTED,
    StepFailedError,
    description,
    run_snakemake,
    snakemake_command,
)
from manynode.steps import MEASURED, Steps
from manynode.study_progress import StudyProgress, read_estimate
from manynode.verify import remove_untrusted

# The rule of the pre-flight check.
_CHECK = "phase3_check_network"
_CLASSES = "phase1_classify_ranks"
_SUMMARY_COLUMNS = 6  # of Snakemake's option --summary: file, date, rule, log, status, plan


@started_here()
def run_experiment(
    experiment: Path,
    *,
    cores: int,
    directory: Path,
    dry_run: bool = False,
    until: str | None = None,
    only: Sequence[str] = (),
    profile: str | None = None,
    measurements_from: Path | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Path:
    """Run ``experiment`` in ``directory``; on success print the answer and the path of the report. Return the results.

    ``until`` is the last rule to run, ``only`` are files below the results to make, with nothing but their inputs.
    ``measurements_from`` is a results folder whose measured runs are reused, or a folder of such folders
    (:mod:`manynode.measurements`).
    ``changes`` are key -> value; the changed experiment is kept as ``experiment.yaml`` beside its results.

    Raises :class:`UsageError` for a wrong experiment before anything starts, and the error of the step that failed.
    """
    resolved = resolve_with(experiment, changes or {})
    measurements_from = reused(measurements_from, resolved)
    name = resolved.name
    results = directory / "results" / name
    missing = check_experiment(resolved, str(experiment))
    whole = not (dry_run or until or only or profile)
    _refuse_missing(missing, results, whole=whole, measured=measurements_from is not None)
    file = results / "experiment.yaml" if changes else experiment
    command = snakemake_command(ROOT / "Snakefile", file, directory, cores, profile)
    if all_points(resolved):
        # If a point of a study fails, the others still run.
        command.append("--keep-going")
    # With a profile, the measuring jobs may run elsewhere.
    if profile is None and measurements_from is None and (text := crowding_warning(resolved)):
        print(f"warning: {text}", flush=True)
    if dry_run:
        command.append("--dry-run")
    if only:
        command += ["--", *(f"results/{name}/{file}" for file in only)]
    with only_here(results, what="experiment", command="run", remedy="give it another name or --directory"):
        claim(results, experiment, name, keep=not dry_run)
        if changes:
            with tables.replacing(file) as part:
                part.write_text(yaml_text.dump(changed(experiment, changes)), encoding="utf-8")
        if measurements_from is not None and not dry_run:
            adopt(measurements_from, results, resolved)
        if not dry_run:
            _check_finished(results, resolved)
            record_run(results)
        try:
            log = results / "logs" / "snakemake.log"
            if until:
                _check_rule(until, command, log)
                if dry_run:
                    command += ["--until", until]
            # Cluster jobs run elsewhere: this host cannot estimate their time.
            may_run, last = not dry_run and profile is None, until or next(iter(only), None)
            known = announce_measurements(
                file, resolved, results, may_run=may_run, until=last, taken_from=measurements_from
            )
            expected = {} if dry_run or until or only else _expected(file, resolved, results, cores)
            if not (dry_run or until or only) and _lacks_only_verdict(results, resolved):
                # Snakemake repeats the points if a file that they wait for is missing, but not if it is newer.
                run_snakemake([*command, "--until", _CHECK], log, StudyProgress({}), known=known)
            if until and not dry_run:
                _run_up_to(until, command, log, known, classes=resolved.own_times is None)
            else:
                run_snakemake(command, log, StudyProgress(expected), show_all=dry_run, known=known)
        except KeyboardInterrupt:
            raise StepFailedError(
                "interrupted; finished steps are kept, run the same command to continue", EXIT_INTERRUPTED
            ) from None
    if reason := resolved.unprojected():
        say(f"no projection: {reason}")
    if not dry_run:
        report = results / "report.html"
        found = None if until or only else answer_of(report)
        for line in [*(found["said"] if found else ()), *_said(results, resolved)]:
            say(line)
        say(f"report: {report}" if report.is_file() else f"results: {results}")
    return results


def _check_rule(rule: str, command: Sequence[str], log: Path) -> None:
    """Raise :class:`UsageError` for a rule that the workflow does not have."""
    rules = [line for line in description(command, "--list-rules", log.parent) if line.isidentifier() and line != "all"]
    if rule not in rules:
        near = nearest(rule, rules)
        raise UsageError(
            "the workflow has no such rule",
            where="--until",
            found=rule,
            allowed=", ".join(rules),
            remedy=f"did you mean {near!r}?" if near else None,
        )


def _run_up_to(rule: str, command: Sequence[str], log: Path, known: KnownRuns, *, classes: bool) -> None:
    """Make the files of a rule, by their names: ``--until`` forgets jobs that are known once there are rank classes.

    ``classes``: the experiment has rank classes, from which further jobs of the rule may follow.
    """
    made: set[str] | None = None
    while True:
        rows = [line.split("\t") for line in description(command, "--summary", log.parent)]
        files = {row[0] for row in rows if len(row) == _SUMMARY_COLUMNS and row[2] == rule}
        if files == made or not (files or classes):
            break
        options = ["--", *sorted(files)] if files else ["--until", _CLASSES]
        run_snakemake([*command, *options], log, StudyProgress({}), known=known)
        made = files
    if not files:
        print(f"warning: the experiment has no step {rule}", flush=True)


def _said(results: Path, resolved: Resolved) -> list[str]:
    """Return the lines of the studies that the run has concluded."""
    asked = [study for study in studies() if study.asked(resolved)]
    return [line for study in asked if all((results / file.name).is_file() for file in study.files) for line in
            study.said(results)]  # fmt: skip


def _check_finished(results: Path, resolved: Resolved) -> None:
    """Remove finished files that cannot be trusted, to make them again, and print which."""
    for line in remove_untrusted(results, Steps(resolved.content)):
        print(line, flush=True)
    # The workflow writes this file only if it has steps to run.
    write_resolved(results / "experiment.json", resolved)


def _lacks_only_verdict(results: Path, resolved: Resolved) -> bool:
    """Return whether points are finished, but the verdict of the pre-flight check before them is missing."""
    if not resolved.simulate.preflight.enabled or (results / "simulate" / "preflight.json").exists():
        return False
    return any(results.glob("simulate/*/nodes-*/result.json"))


def _refuse_missing(missing: Mapping[str, EngineMissingError], results: Path, *, whole: bool, measured: bool) -> None:
    """Refuse a run that certainly cannot finish on this host.

    It may still finish if steps were finished before (perhaps on another host), if the run stops at a given step, or if
    cluster nodes run the steps. Then the step that lacks something reports it.
    """
    if not whole or (results / "experiment.json").exists():
        return
    for phase, error in missing.items():
        if not (measured and phase in MEASURED):
            raise error


def resolve_with(experiment: Path, changes: Mapping[str, Any]) -> Resolved:
    """Return the file's experiment with ``changes``, checked."""
    if not changes:
        return load_experiment(experiment)
    return resolve(changed(experiment, changes), where=str(experiment), base=experiment.resolve().parent)


def _expected(experiment: Path, resolved: Resolved, results: Path, cores: int) -> dict[tuple[str, str, int], float]:
    """Return and print the expected time of each point [s]; nothing if phase 3 has no estimate."""
    path, digest = results / "logs" / "estimate.json", resolved.digest()
    if resolved.application.name is None:
        return {}
    known = read_estimate(path, digest)
    if known:
        return known
    try:
        said = ask_phase(
            "simulate", "estimate", "--experiment", experiment.resolve(), "--cores", cores, "--output", path
        )
    except ManynodeError:
        return {}  # the step that fails for the same reason says it
    found = read_estimate(path, digest)
    if found:
        print(said.rstrip(), flush=True)
    return found
