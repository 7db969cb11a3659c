"""``manynode nodesim``: the steps of phase 2."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from manynode.config.application_section import ApplicationSection
    from manynode.config.experiment import NodesimSection
    from phase2_nodesim.parameters import FitParameters

app = typer.Typer(help="Phase 2: compute times between MPI calls -> timing profile.", no_args_is_help=True)

Experiment = Annotated[Path, typer.Option(help="resolved experiment (results/NAME/experiment.json)")]
Mode = Annotated[str, typer.Option(help="ext (with external ranks) or no-ext (the node alone)")]
RunMode = Annotated[
    str, typer.Option(help="ext, no-ext, or one of them and -control: every rank has its caches for itself")
]


@app.command("run")
def run(
    ctx: typer.Context,
    experiment: Experiment,
    mode: RunMode,
    node: Annotated[int, typer.Option(min=0, help="number of the simulated node")],
    output: Annotated[Path, typer.Option(help="segments table to write; marker files go to a folder beside it")],
) -> None:
    """Run the application with one simulated node, and write its segments table."""
    from manynode.heartbeat import announce
    from manynode.hostlock import exclusive
    from manynode.launch import application_command, application_guest, job_folder
    from manynode.notices import warn
    from manynode.steps import CONTROL, step_of
    from phase2_nodesim.checksum import check_against_profiled
    from phase2_nodesim.cost import node_run
    from phase2_nodesim.engines._interface import NodeJob
    from phase2_nodesim.gem5.estimate import profiled_instructions
    from phase2_nodesim.jobs import choose_engine, require_sharing, run_node
    from phase2_nodesim.steps import make_segments
    from phase2_nodesim.waits import waiting_of, waiting_warning

    resolved = ctx.with_resource(step_of(experiment))
    settings, application = resolved.nodesim, resolved.application
    external = _external(mode.removesuffix(CONTROL), "ext, no-ext, ext-control, no-ext-control")
    engine, reason = choose_engine(resolved, experiment.parent)
    if mode.endswith(CONTROL):
        require_sharing(engine, reason)
        settings = settings.model_copy(update={"qemu": settings.qemu.model_copy(update={"sharing": "private"})})
    nodes = settings.nodes if external else 1
    ranks = nodes * resolved.ranks_per_node
    command, flavour = application_command(application, ranks, resolved.ranks_per_node)
    directory = (output.parent / "markers").resolve()
    announce(node_run(resolved, experiment.parent, mode, node, engine), experiment.parent)
    with exclusive(experiment.parent / ".measuring.lock", purpose="measuring job"):
        shutil.rmtree(directory, ignore_errors=True)
        job = NodeJob(
            command,
            flavour,
            node,
            nodes,
            resolved.ranks_per_node,
            guest=application_guest(application, ranks, resolved.ranks_per_node),
            threads=application.threads,
            folder=job_folder(application, ranks, resolved.ranks_per_node, directory.with_name("files")),
            settings=settings,
            timeout_s=application.timeout_s,
            tell=typer.echo,
        )
        counters = experiment.parent / "profile" / "counters.parquet"
        job = dataclasses.replace(job, instructions=profiled_instructions(counters, nodes, job.simulated()))
        typer.echo(f"engine: {engine} ({reason})")
        simulated = run_node(job, engine, resolved.machine, directory)
        profiled = experiment.parent / "profile" / f"nodes-{nodes}-rep-0" / "ranks" / "job.log"
        checksum = check_against_profiled(profiled, directory, job.words(engine))
        frame = make_segments(
            directory,
            output,
            engine,
            resolved.machine,
            nodes=nodes,
            ranks_per_node=resolved.ranks_per_node,
            external=external,
            application=_application(application),
            simulated_ranks=simulated,
            settings=settings,
            provenance={"checksum_as_profiled": checksum},
        )
    if text := waiting_warning(waiting_of(frame, counted=settings.clock == "wall"), f"phase 2, {mode}, node {node}"):
        warn(text)


@app.command("cost")
def cost(
    experiment: Annotated[Path, typer.Option(help="experiment file: YAML, or resolved (experiment.json)")],
    results: Annotated[Path, typer.Option(help="folder of the experiment's results")],
    output: Annotated[Path, typer.Option(help="file to write (measured-runs/1)")],
) -> None:
    """Write the expected cost of the simulated nodes: engine, ranks, typical slow-down."""
    from manynode.config.loader import load_experiment
    from manynode.config.resolved import read_resolved
    from manynode.measured_runs import write_runs
    from phase2_nodesim.cost import node_runs

    resolved = (read_resolved if experiment.suffix == ".json" else load_experiment)(experiment)
    write_runs(output, resolved.digest(), node_runs(resolved, results))


@app.command("fit")
def fit(
    ctx: typer.Context,
    experiment: Experiment,
    mode: Mode,
    classes: Annotated[Path, typer.Option(help="rank classes of phase 1")],
    profile: Annotated[Path, typer.Option(help="timing profile to write")],
    table: Annotated[Path, typer.Option(help="table of all segments to write")],
    segments: Annotated[list[Path], typer.Argument(help="segments of every simulated node")],
) -> None:
    """Fit the timing profile: distributions, clusters and patterns of each compute phase and class."""
    from manynode.provenance import provenance
    from manynode.steps import step_of
    from phase2_nodesim.steps import fit_profile

    _external(mode)
    resolved = ctx.with_resource(step_of(experiment))
    fit_profile(
        segments,
        classes,
        profile,
        _fit_parameters(resolved.nodesim),
        table=table,
        provenance=provenance(
            seed=resolved.seed,
            experiment_digest=resolved.digest("application", "ranks_per_node", "machine", "nodesim"),
            tools={},
        ),
    )


@app.command("series")
def series(
    ctx: typer.Context,
    experiment: Experiment,
    profile: Annotated[Path, typer.Option(help="timing profile, as 'fit' wrote it")],
    output: Annotated[Path, typer.Option(help="timing profile to write, each rank with its own series of times")],
    segments: Annotated[Path, typer.Argument(help="table of all segments, as 'fit' wrote it")],
) -> None:
    """Write the simulated times as they were, each rank and execution for itself, to compare the draws with."""
    from manynode.steps import step_of
    from manynode.timing_profile import read_timing_profile, write_timing_profile
    from phase2_nodesim.series import series_profile
    from phase2_nodesim.steps import read_segments

    resolved = ctx.with_resource(step_of(experiment))
    table, _ = read_segments([segments])
    fitted = read_timing_profile(profile)
    write_timing_profile(output, series_profile(fitted, table, _fit_parameters(resolved.nodesim)))


@app.command("own-times")
def own_times(
    ctx: typer.Context,
    experiment: Experiment,
    mode: Annotated[str, typer.Option(help="ext or no-ext")] = "ext",
    profile: Annotated[Path | None, typer.Option(help="timing profile to write")] = None,
    classes: Annotated[Path | None, typer.Option(help="rank classes to write")] = None,
) -> None:
    """Make timing profile and rank classes of the user's own compute times (section own_times)."""
    from manynode import rank_classes, tables
    from manynode.errors import UsageError
    from manynode.provenance import provenance
    from manynode.steps import step_of
    from manynode.timing_profile import write_timing_profile
    from phase2_nodesim import own_times as own

    resolved = ctx.with_resource(step_of(experiment))
    if resolved.own_times is None:
        raise UsageError(
            "the experiment has no compute times of its own",
            where=f"{experiment}: own_times",
            remedy="add the section own_times, or run phases 1 and 2",
        )
    if classes is not None:
        tables.write_json(classes, rank_classes.SCHEMA, own.rank_classes(resolved))
    if profile is not None:
        sections = ("application", "ranks_per_node", "machine", "own_times")
        origin = provenance(seed=resolved.seed, experiment_digest=resolved.digest(*sections), tools={})
        write_timing_profile(profile, own.timing_profile(resolved, external=_external(mode), provenance=origin))


@app.command("resample")
def resample(
    ctx: typer.Context,
    experiment: Experiment,
    mode: Mode,
    classes: Annotated[Path, typer.Option(help="rank classes of phase 1")],
    count: Annotated[int, typer.Option(min=1, help="number of resamples")],
    output: Annotated[Path, typer.Option(help="resamples of the timing profile to write")],
    segments: Annotated[Path, typer.Argument(help="table of all segments, as 'fit' wrote it")],
) -> None:
    """Resample the timing profile, as other samples of ranks and executions might have given it."""
    from manynode.profile_resamples import write_resamples
    from manynode.steps import step_of
    from phase2_nodesim.resampling import make_resamples

    external = _external(mode)
    resolved = ctx.with_resource(step_of(experiment))
    parameters = _fit_parameters(resolved.nodesim)
    write_resamples(
        output,
        make_resamples(segments, classes, parameters, count=count, seed=resolved.seed, borrow=not external),
    )


@app.command("judge")
def judge(
    ctx: typer.Context,
    experiment: Experiment,
    output: Annotated[Path, typer.Option(help="file to write (skeleton-verdicts/1)")],
) -> None:
    """Write what a derived skeleton is worth at each node count of the experiment."""
    from manynode.steps import step_of
    from phase2_nodesim.derive.judging.judged import write_verdicts

    write_verdicts(output, ctx.with_resource(step_of(experiment)))


@app.command("stream")
def stream(recording: Annotated[Path, typer.Argument(help="folder of the marker files of all ranks of a run")]) -> None:
    """Write the calls of a recording as the skeleton 'recorded' reads them, into its folder, unless they are there.

    Prints the parameters of that skeleton as JSON.
    """
    import json

    from phase2_nodesim.recorded_stream import FILE, write_recorded_stream

    path = recording / FILE
    typer.echo(json.dumps({"file": str(path), "digest": write_recorded_stream(recording, path)["digest"]}))


@app.command("compare")
def compare(
    segments: Annotated[list[Path], typer.Argument(help="nodesim/ext/segments.parquet of several results")],
    csv: Annotated[Path | None, typer.Option(help="CSV file for the whole table")] = None,
) -> None:
    """Compare the mean times of every compute phase between engines."""
    from manynode.notices import warn
    from manynode.tables import read_provenance
    from manynode.waiting import Waiting
    from phase2_nodesim.compare import compare_engines, table_lines
    from phase2_nodesim.segments import SCHEMA
    from phase2_nodesim.waits import waiting_warning

    table = compare_engines(segments)
    for path in segments:
        found = read_provenance(path, SCHEMA).get("engine_detail", {}).get("waiting")
        if found and (text := waiting_warning(Waiting.model_validate(found), str(path))):
            warn(text)
    if csv is not None:
        table.to_csv(csv, index=False)
    for line in table_lines(table):
        typer.echo(line)


def _fit_parameters(section: NodesimSection) -> FitParameters:
    """Return the fit parameters of a resolved section ``nodesim``."""
    from phase2_nodesim.parameters import FitParameters

    shared: dict[str, Any] = {"warmup": section.warmup, "separation": section.separation}
    tail = section.tail
    if tail is None:
        return FitParameters(**shared)
    return FitParameters(**shared, tail=tail.threshold, min_exceedances=tail.min_exceedances)


def _external(mode: str, allowed: str = "ext, no-ext") -> bool:
    from manynode.errors import UsageError

    if mode not in ("ext", "no-ext"):
        raise UsageError("unknown mode", where="--mode", found=mode, allowed=allowed)
    return mode == "ext"


def _application(section: ApplicationSection) -> dict[str, Any]:
    """Return the identity of the application without paths, which must not affect the results."""
    if section.command is not None:
        return {"name": section.name, "command": [Path(section.command[0]).name, *section.command[1:]]}
    return {"name": section.name, "parameters": section.parameters}


def probes() -> dict[str, Any]:
    """Return the probe of each engine of phase 2 for ``manynode doctor``."""
    from phase2_nodesim.engines._interface import probes as engine_probes

    return dict(engine_probes())
