"""``manynode profile``: the steps of phase 1."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Phase 1: counters per rank -> rank classes -> representative nodes.", no_args_is_help=True)

Experiment = Annotated[Path, typer.Option(help="resolved experiment (results/NAME/experiment.json)")]


@app.command("run")
def run(
    ctx: typer.Context,
    experiment: Experiment,
    nodes: Annotated[int, typer.Option(min=1, help="job size in nodes")],
    output: Annotated[Path, typer.Option(help="counter table to write; the ranks' files go to a folder beside it")],
    repetition: Annotated[int, typer.Option(min=0, help="which run of this size")] = 0,
) -> None:
    """Run the application once with counters on all ranks, and write the counter table."""
    from manynode.errors import EngineFailedError
    from manynode.heartbeat import announce
    from manynode.hostlock import exclusive
    from manynode.launch import Block, application_command, job_folder, run_job
    from manynode.steps import step_of
    from phase1_profile.cost import profiled_run
    from phase1_profile.sources.interface import SOURCES, CountedJob, choose_source
    from phase1_profile.steps import profile_counters

    resolved = ctx.with_resource(step_of(experiment))
    ranks_per_node = resolved.ranks_per_node
    source, reason = choose_source(resolved.profile.source, resolved.application)
    counted = SOURCES.get(source)()
    command, flavour = application_command(resolved.application, nodes * ranks_per_node, ranks_per_node)
    directory = (output.parent / "ranks").resolve()
    announce(profiled_run(resolved, source, reason, nodes, repetition), experiment.parent)
    with exclusive(experiment.parent / ".measuring.lock", purpose="measuring job"):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        threads = resolved.application.threads
        job = CountedJob(directory, flavour, nodes * ranks_per_node, ranks_per_node, threads)
        environment = {**counted.environment(job), "OMP_NUM_THREADS": str(threads)}
        log = directory / "job.log"
        try:
            run_job(
                flavour,
                [Block(job.ranks, command, counted.prefix(job), environment)],
                what=f"the application on {nodes} nodes, profiled with {source},",
                log=log,
                cwd=job_folder(resolved.application, job.ranks, ranks_per_node, directory / "files"),
                timeout_s=resolved.application.timeout_s,
            )
        except EngineFailedError as error:
            raise counted.explained(error, log) from None
        profile_counters(
            directory,
            output,
            source=source,
            nodes=nodes,
            repetition=repetition,
            ranks_per_node=ranks_per_node,
            reason=reason,
        )


@app.command("cost")
def cost(
    experiment: Annotated[Path, typer.Option(help="experiment file: YAML, or resolved (experiment.json)")],
    output: Annotated[Path, typer.Option(help="file to write (measured-runs/1)")],
) -> None:
    """Write the expected cost of the profiled runs: tool, ranks, typical slow-down."""
    from manynode.config.loader import load_experiment
    from manynode.config.resolved import read_resolved
    from manynode.measured_runs import write_runs
    from phase1_profile.cost import profiled_runs

    resolved = (read_resolved if experiment.suffix == ".json" else load_experiment)(experiment)
    write_runs(output, resolved.digest(), profiled_runs(resolved))


@app.command("classify")
def classify(
    ctx: typer.Context,
    experiment: Experiment,
    classes: Annotated[Path, typer.Option(help="rank-classes file to write")],
    table: Annotated[Path, typer.Option(help="table of all counters to write")],
    counters: Annotated[list[Path], typer.Argument(help="counter tables of all profiled jobs")],
) -> None:
    """Group the ranks into classes and choose representative nodes."""
    from manynode.config.skeleton import phases_of_ranks
    from manynode.provenance import provenance
    from manynode.steps import step_of
    from phase1_profile import counters as counter_tables
    from phase1_profile.parameters import DEFAULT_FEATURES, TIME_FEATURES, ClassifyParameters
    from phase1_profile.steps import classify as classify_ranks

    resolved = ctx.with_resource(step_of(experiment))
    section = resolved.profile
    origin = provenance(
        seed=resolved.seed,
        experiment_digest=resolved.digest("application", "ranks_per_node", "profile", "nodesim"),
        tools={},
    )
    counter_tables.write(table, counter_tables.read(counters, resolved.ranks_per_node), origin)
    classify_ranks(
        counters,
        classes,
        parameters=ClassifyParameters(
            features=TIME_FEATURES if section.source == "processor_time" else DEFAULT_FEATURES,
            max_classes=section.max_classes,
            noise_floor=section.noise_floor,
            coverage=section.coverage,
        ),
        reference_nodes=resolved.nodesim.nodes,
        phases_of_rank=phases_of_ranks(resolved.application, resolved.nodesim.nodes * resolved.ranks_per_node),
        seed=resolved.seed,
        provenance=origin,
    )


def probes() -> dict[str, Any]:
    """Return the probe of each source of phase 1 for ``manynode doctor``."""
    from phase1_profile.sources.interface import SOURCES

    return {name: SOURCES.get(name)().probe() for name in SOURCES.names()}
