"""``manynode run``: Snakemake underneath, progress above, one clear error when a step fails.

Snakemake keeps what is finished; whatever ended the last run (an error, SIGINT, a power cut), the next one goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from manynode import process, tables
from manynode.announcement import announce_measurements
from manynode.checks import check_experiment
from manynode.config.changes import changed
from manynode.config.crowding import crowding_warning
from manynode.config.loader import load_experiment, resolve
from manynode.config.resolved import Resolved, write_resolved
from manynode.config.studies import STUDIES
from manynode.errors import EngineMissingError
from manynode.hostlock import only_here
from manynode.measurements import adopt
from manynode.paths import ROOT
from manynode.snakemake_run import EXIT_INTERRUPTED, StepFailedError, run_snakemake, snakemake_command
from manynode.steps import MEASURED, Steps
from manynode.study_progress import StudyProgress, read_estimate
from manynode.verify import remove_untrusted


def run_experiment(
    experiment: Path,
    *,
    cores: int,
    directory: Path,
    dry_run: bool = False,
    until: str | None = None,
    only: str | None = None,
    profile: str | None = None,
    measurements_from: Path | None = None,
    changes: Mapping[str, Any] | None = None,
) -> None:
    """Run ``experiment`` in ``directory``; on success print where the report is.

    ``until`` is the last rule to run, ``only`` a file below the results to make, with what it needs and nothing else.
    ``measurements_from`` is a results folder whose measured runs are taken over (:mod:`manynode.measurements`).
    ``changes`` are key -> value; the experiment with them is kept as ``experiment.yaml`` beside its results.

    Raises :class:`UsageError` for a wrong experiment before anything starts, and the error of the step that failed.
    """
    resolved = resolve_with(experiment, changes or {})
    name = resolved.model.name
    results = directory / "results" / name
    missing = check_experiment(resolved, str(experiment))
    whole = not (dry_run or until or only or profile)
    _refuse_missing(missing, results, whole=whole, measured=measurements_from is not None)
    file = results / "experiment.yaml" if changes else experiment
    command = snakemake_command(ROOT / "Snakefile", file, directory, cores, profile)
    if any(resolved.content[study] for study in STUDIES):
        # A point of a study that fails leaves the others their chance.
        command.append("--keep-going")
    # With a profile, the measuring jobs may run elsewhere.
    if profile is None and measurements_from is None and (text := crowding_warning(resolved.model)):
        print(f"warning: {text}", flush=True)
    if dry_run:
        command.append("--dry-run")
    if until:
        command += ["--until", until]
    if only:
        command += ["--", f"results/{name}/{only}"]
    with only_here(results, what="experiment", command="run", remedy="give it another name or --directory"):
        if changes:
            with tables.replacing(file) as part:
                part.write_text(yaml.safe_dump(changed(experiment, changes), sort_keys=False), encoding="utf-8")
        if measurements_from is not None and not dry_run:
            adopt(measurements_from, results, resolved)
        if not dry_run:
            _check_finished(results, resolved)
        try:
            # Jobs of a cluster run elsewhere: this host says nothing of their time.
            may_run = not dry_run and profile is None
            known = announce_measurements(file, resolved, results, may_run=may_run, until=until or only)
            expected = {} if dry_run or until or only else _expected(file, resolved, results, cores)
            log = results / "logs" / "snakemake.log"
            run_snakemake(command, log, StudyProgress(expected), show_all=dry_run, known=known)
        except KeyboardInterrupt:
            raise StepFailedError(
                "interrupted; finished steps are kept, the same command goes on from there", EXIT_INTERRUPTED
            ) from None
    if reason := resolved.unprojected():
        print(f"no projection: {reason}")
    if not dry_run:
        report = results / "report.html"
        print(f"report: {report}" if report.is_file() else f"results: {results}")


def _check_finished(results: Path, resolved: Resolved) -> None:
    """Remove finished files that cannot be trusted, so that they are made again, and say which."""
    for line in remove_untrusted(results, Steps(resolved.content)):
        print(line, flush=True)
    # The workflow writes it only when there is something to do.
    write_resolved(results / "experiment.json", resolved)


def _refuse_missing(missing: Mapping[str, EngineMissingError], results: Path, *, whole: bool, measured: bool) -> None:
    """Refuse a run that will not get to its end on this host, where that is certain.

    It is not where steps have been finished before, on another host perhaps, where the run is to stop at some step, or
    where a cluster's nodes run the steps: then the step that lacks something says so.
    """
    if not whole or (results / "experiment.json").exists():
        return
    for phase, error in missing.items():
        if not (measured and phase in MEASURED):
            raise error


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
