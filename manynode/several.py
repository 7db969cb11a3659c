"""``manynode run A B C``: runs experiments one after the other, each as if alone, and writes a common front page.

Each experiment keeps its results folder, its report and its finished steps. Running one after the other uses the cores
well: measured runs need the whole host, and the points of a projection share it. All experiments are checked before the
first starts. A failed one is named at the end and does not stop the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manynode.checks import check_experiment
from manynode.command_answer import say
from manynode.config.resolved import Resolved
from manynode.errors import ManynodeError, UsageError
from manynode.measurements import fitting_of, sources
from manynode.run import resolve_with, run_experiment
from manynode.snakemake_run import EXIT_INTERRUPTED, StepFailedError


def run_several(
    experiments: Sequence[Path],
    *,
    cores: int,
    directory: Path,
    dry_run: bool = False,
    until: str | None = None,
    profile: str | None = None,
    measurements_from: Path | None = None,
    changes: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Run the experiments in ``directory``, write ``results/index.html`` there, and return the results of each.

    ``changes`` (key -> value) apply to all. ``measurements_from`` is a results folder or a folder of such folders; each
    experiment reuses the measured runs that fit it, and measures if none fit.

    Raises :class:`UsageError` before anything starts if an experiment is wrong or two have the same name. Raises
    :class:`StepFailedError` with the names of the failed ones when all have run.
    """
    from manynode.report.overview import build_overview

    planned = {path: resolve_with(path, changes or {}) for path in experiments}
    _check_names(experiments, planned)
    for path, resolved in planned.items():
        # What one lacks on this host, its own run says, and does not keep the others from running.
        check_experiment(resolved, str(path))
    found = sources(measurements_from)
    failures: dict[str, ManynodeError] = {}
    for number, (path, resolved) in enumerate(planned.items(), start=1):
        name = resolved.name
        print(f"experiment {number} of {len(planned)}: {name}", flush=True)
        source = measurements_from and fitting_of(measurements_from, found, resolved)
        try:
            run_experiment(
                path, cores=cores, directory=directory, dry_run=dry_run, until=until, profile=profile,
                measurements_from=source, changes=changes,
            )  # fmt: skip
        except ManynodeError as error:
            if isinstance(error, StepFailedError) and error.exit_code == EXIT_INTERRUPTED:
                raise
            failures[name] = error
            print(f"failed: {name}: {_first_line(error)}", flush=True)
    if not dry_run:
        names = [resolved.name for resolved in planned.values()]
        page = directory / "results" / "index.html"
        build_overview(page.parent, names, page, {name: _first_line(error) for name, error in failures.items()})
        say(f"overview: {page}")
    if failures:
        raise _failed(failures, len(planned))
    return [directory / "results" / resolved.name for resolved in planned.values()]


def _check_names(experiments: Sequence[Path], planned: Mapping[Path, Resolved]) -> None:
    taken: dict[str, Path] = {}
    for path in experiments:
        name = planned[path].name
        if name in taken:
            raise UsageError(
                "two experiments have the same name",
                where=f"{taken[name]} and {path}",
                found=f"name: {name}",
                allowed="different names, because results go to results/NAME",
                remedy="rename one, or give each file once",
            )
        taken[name] = path


def _failed(failures: Mapping[str, ManynodeError], count: int) -> StepFailedError:
    (name, first), *others = failures.items()
    lines = [f"{len(failures)} of {count} experiments failed", f"experiment {name!r}: {first}"]
    lines += [f"experiment {other!r}: {_first_line(error)}" for other, error in others]
    return StepFailedError("\n".join(lines), first.exit_code)


def _first_line(error: ManynodeError) -> str:
    return str(error).splitlines()[0]
