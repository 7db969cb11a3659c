"""``manynode congestion``: measures and simulates several jobs on one machine, and analyses each part of the study."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer


def congestion_file() -> dict[str, Any]:
    """Return the model of each section of a congestion study's file, for the reference."""
    from phase3_sst.studies.congestion.contract import parts
    from phase3_sst.studies.congestion.study_file import Study

    return {"": Study, **{name: parts.get(name).section for name in parts.names()}}


def congestion(
    study: Annotated[Path, typer.Argument(help="congestion study (YAML)", metavar="STUDY")],
    output: Annotated[Path | None, typer.Option(help="folder to write (default: results/NAME)")] = None,
    cores: Annotated[int, typer.Option(min=1, help="cores to use")] = os.cpu_count() or 1,
    profile: Annotated[str | None, typer.Option(help="Snakemake profile: default, slurm or a folder")] = None,
    measurements_from: Annotated[
        Path | None,
        typer.Option(
            help="folder whose measured runs are reused where they fit: results of an experiment, of several, or of a "
            "congestion study"
        ),
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="run only this part of the study; repeatable")] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="only show the number of situations and their cost")
    ] = False,
) -> None:
    """Study congestion: simulate jobs side by side, analyse link counters, suggest remedies."""
    from manynode.snakemake_run import EXIT_INTERRUPTED, StepFailedError

    try:
        _study(study, output, cores, profile, measurements_from, only or [], estimate)
    except KeyboardInterrupt:
        raise StepFailedError(
            "interrupted; finished situations are kept, the same command continues there", EXIT_INTERRUPTED
        ) from None


def _study(
    study: Path,
    output: Path | None,
    cores: int,
    profile: str | None,
    measurements_from: Path | None,
    only: Sequence[str],
    estimate: bool,
) -> None:
    from manynode.hostlock import only_here
    from phase3_sst.campaign.campaign import check_engine
    from phase3_sst.campaign.experiments import ExperimentRunner
    from phase3_sst.point import folders
    from phase3_sst.studies.congestion import rounds, workloads
    from phase3_sst.studies.congestion.study_file import read_study

    described = read_study(study)
    settings = rounds.chosen_parts(described, only)
    target = output or Path("results") / described.study.name
    planned = workloads.plan_workloads(described, target)
    runs = _runs(described, target, {name: plan.workload for name, plan in planned.items()})
    rounds.check_parts(runs, settings)
    check_engine(runs.simulate)
    batch = described.study.batch
    here = only_here(target, what="congestion study", command="congestion", remedy="choose another --output")
    with here, folders.bound(target):
        if estimate:
            _estimate(described, target, planned, settings, batch, cores)
            return
        runner = ExperimentRunner(cores, profile, measurements_from, typer.echo)
        runner.run(plan.experiment for plan in planned.values() if plan.experiment is not None)

        def simulate(number: int, wanted: Mapping[str, Sequence[Any]]) -> None:
            _simulate(runs, number, wanted, batch=batch, cores=cores, profile=profile)

        situations = rounds.run_rounds(runs, settings, simulate)
        _conclude(described, runs, settings, planned, situations)


def _conclude(
    described: Any, runs: Any, settings: Mapping[str, Any], planned: Mapping[str, Any], situations: Sequence[Any]
) -> None:
    """Write tables and page, print the findings and failures."""
    from manynode.snakemake_run import StepFailedError
    from phase3_sst.studies.congestion import congestion_page, rounds

    concluded = rounds.conclude(runs, settings)
    measured = {
        name: plan.experiment.resolved.digest() for name, plan in planned.items() if plan.experiment is not None
    }
    study = described.study
    digests = congestion_page.digests(study, settings, described.networks, measured)
    place = congestion_page.write(study, runs, concluded, situations, digests)
    for part in concluded:
        typer.echo(f"{part.title}:")
        for sentence in part.findings.sentences or [part.failure]:
            typer.echo(f"  {sentence}")
    typer.echo(f"congestion: {place}")
    message = _failures(runs, situations, concluded)
    if message:
        raise StepFailedError(message, 5)


def _estimate(
    described: Any, output: Path, planned: Mapping[str, Any], settings: Mapping[str, Any], batch: int, cores: int
) -> None:
    """Print the estimated cost of the first round."""
    from phase3_sst.campaign.cost import estimate
    from phase3_sst.studies.congestion import rounds

    missing = [name for name, plan in planned.items() if not plan.measured]
    if missing:
        typer.echo(
            f"not measured yet: {', '.join(missing)}; without compute times jobs under study end sooner, so that what "
            "follows is a lower bound"
        )
    runs = _runs(described, output, {name: plan.without_missing_times() for name, plan in planned.items()})
    wanted = _planned(runs, rounds.needed(runs, settings, 0))
    lines, _ = estimate(runs.output, wanted, batch, cores, "situation")
    for line in lines:
        typer.echo(line)
    typer.echo("that is the first round; what a further one needs depends on its results")


def _runs(described: Any, output: Path, workloads: Mapping[str, Any]) -> Any:
    from phase3_sst.studies.congestion.situation_runs import Runs
    from phase3_sst.studies.congestion.study_file import as_content

    study = described.study
    network, simulate = as_content(study)
    confidence = study.simulate.confidence
    return Runs(study.network, network, simulate, study.seed, confidence, workloads, output, described.networks)


def _simulate(
    runs: Any, number: int, wanted: Mapping[str, Sequence[Any]], *, batch: int, cores: int, profile: str | None
) -> None:
    from phase3_sst.campaign import campaign

    typer.echo(f"round {number + 1}:")
    how = campaign.How(batch, cores, profile, "situation")
    campaign.run(runs.output, _planned(runs, wanted), how, typer.echo, indent="  ")


def _planned(runs: Any, wanted: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    return {part: [runs.planned(one) for one in group] for part, group in wanted.items()}


def _failures(runs: Any, situations: Sequence[Any], concluded: Sequence[Any]) -> str:
    """Return the failed situations and parts as text; empty if none failed."""
    from phase3_sst.campaign.planned_point import failure_lines

    failed = [(one.name, reason) for one in situations if (reason := runs.failed(one)) is not None]
    lines = failure_lines(failed, len(situations), "situation")
    lines += [f"part {part.name!r} could not conclude: {part.failure}" for part in concluded if part.failure]
    return "\n".join(lines)
