"""``manynode simulate``: the steps of phase 3."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from manynode.config.studies import Study, studies

app = typer.Typer(help="Phase 3: the skeleton on the simulated network.", no_args_is_help=True)

Experiment = Annotated[Path, typer.Option(help="resolved experiment (results/NAME/experiment.json)")]


FlowControl = Annotated[
    Path | None, typer.Option(help="choice of 'manynode simulate flow-control'; without it, auto means credits")
]


@app.command("run")
def run(
    ctx: typer.Context,
    experiment: Experiment,
    technique: Annotated[str, typer.Option(help="no-ext-const, no-ext-var, ext-const or ext-var")],
    nodes: Annotated[int, typer.Option(min=1, help="node count")],
    classes: Annotated[Path, typer.Option(help="rank classes of phase 1")],
    profile: Annotated[Path, typer.Option(help="timing profile of phase 2")],
    result: Annotated[Path, typer.Option(help="result.json to write; its tables go beside it")],
    processes: Annotated[int, typer.Option(min=1, help="processes that share the replicas")] = 1,
    progress: Annotated[bool, typer.Option("--progress", help="show progress and time left")] = False,
    cost: Annotated[Path | None, typer.Option(help="CSV file to write: wall and processor time, memory")] = None,
    variant: Annotated[str | None, typer.Option(help="variant of a study: STUDY/NAME")] = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="use the study's confirming engine")] = False,
    flow_control: FlowControl = None,
) -> None:
    """Simulate all replicas of one point: a technique at a node count."""
    from manynode.steps import step_of
    from phase3_sst.point.contract import engine_of
    from phase3_sst.point.convergence.converged_point import simulate_point
    from phase3_sst.point.point_cost import recorded
    from phase3_sst.point.point_progress import shown

    with shown(progress) as sink, recorded(cost):
        resolved = ctx.with_resource(step_of(experiment))
        point = _point(resolved, technique, nodes, classes, profile, processes, sink, variant, confirm)
        point = _with_flow_control(point, flow_control)
        simulate_point(engine_of(point.experiment.simulate), point, result.parent)


@app.command("resamples")
def resamples(
    ctx: typer.Context,
    experiment: Experiment,
    technique: Annotated[str, typer.Option(help="no-ext-const, no-ext-var, ext-const or ext-var")],
    nodes: Annotated[int, typer.Option(min=1, help="node count")],
    classes: Annotated[Path, typer.Option(help="rank classes of phase 1")],
    profile: Annotated[Path, typer.Option(help="timing profile of phase 2")],
    resamples: Annotated[Path, typer.Option(help="resamples of the timing profile, from phase 2")],
    output: Annotated[Path, typer.Option(help="table to write: makespan of each resample")],
    processes: Annotated[int, typer.Option(min=1, help="cores of each simulation")] = 1,
    flow_control: FlowControl = None,
) -> None:
    """Simulate one point with each resample of its timing profile."""
    from manynode import tables
    from manynode.profile_resamples import read_resamples
    from manynode.steps import step_of
    from phase3_sst.analysis.interval_parts import RESAMPLES_SCHEMA
    from phase3_sst.point.point_progress import shown
    from phase3_sst.point.resampled import simulate_resamples

    with shown(True) as sink:
        resolved = ctx.with_resource(step_of(experiment))
        point = _point(resolved, technique, nodes, classes, profile, processes, sink, None)
        point = _with_flow_control(point, flow_control)
        table = simulate_resamples(point, read_resamples(resamples))
    tables.write_table(output, RESAMPLES_SCHEMA, table)


def _point(
    resolved: Any,
    technique: str,
    nodes: int,
    classes: Path,
    profile: Path,
    processes: int,
    sink: Any,
    variant: str | None,
    confirm: bool = False,
) -> Any:
    """Return the point given on the command line."""
    from manynode.config.studies import variant_of
    from manynode.config.variants import with_confirming_engine
    from manynode.rank_classes import classes_of_job
    from manynode.seeds import derive_seed
    from manynode.timing_profile import read_timing_profile
    from phase3_sst.point.contract import Point
    from phase3_sst.point.inputs import check_profile
    from phase3_sst.point.point_experiment import PointExperiment

    # Also checked here, for better messages than those of the engines, which read the file themselves.
    check_profile(profile, read_timing_profile(profile), technique, str(resolved.application.name))
    if variant is not None:
        changed = variant_of(resolved, variant)
        resolved, variant = changed.applied(resolved), changed.name
    if confirm:
        resolved = with_confirming_engine(resolved)
    ranks = nodes * resolved.ranks_per_node
    assigned = classes_of_job(technique, classes, ranks, resolved.seed)
    seed = derive_seed(resolved.seed, "draws")
    return Point(PointExperiment.of(resolved), nodes, technique, profile, assigned, seed, processes, sink, variant)


@app.command("estimate")
def estimate(
    experiment: Annotated[Path, typer.Option(help="experiment file: YAML, or resolved (experiment.json)")],
    cores: Annotated[int, typer.Option(min=1, help="cores that share the points")] = os.cpu_count() or 1,
    output: Annotated[Path | None, typer.Option(help="estimate.json to write")] = None,
) -> None:
    """Estimate processor time and memory of every point, including those of a sensitivity study."""
    from manynode.config.loader import load_experiment
    from manynode.config.resolved import read_resolved
    from phase3_sst.analysis.estimates import points
    from phase3_sst.analysis.estimates.estimate_sentences import lines

    read = read_resolved if experiment.suffix == ".json" else load_experiment
    resolved = read(experiment)
    costs = points.point_costs(resolved)
    for line in lines(costs, resolved.ranks_per_node, cores):
        typer.echo(line)
    if output is not None:
        points.write(output, resolved.digest(), costs)


@app.command("preflight")
def preflight(
    ctx: typer.Context,
    experiment: Annotated[Path, typer.Option(help="experiment file: YAML, or resolved (experiment.json)")],
    output: Annotated[Path | None, typer.Option(help="preflight.json to write")] = None,
    vary: Annotated[
        str | None, typer.Option(help="parameter that must change the result, such as network.link.bandwidth")
    ] = None,
    values: Annotated[str, typer.Option(help='values of --vary, such as "20 Gbit/s,100 Gbit/s"')] = "",
) -> None:
    """Probe the network: line rate, bisection, effect of parameters; exit code 6 if a probe fails."""
    from manynode import tables
    from manynode.config.loader import load_experiment
    from manynode.steps import step_of
    from phase3_sst.checks import preflight as checks
    from phase3_sst.checks import sweep_reaction
    from phase3_sst.point.contract import engine_of

    resolved = experiment.suffix == ".json"
    given = ctx.with_resource(step_of(experiment)) if resolved else load_experiment(experiment)
    engine = engine_of(given.simulate)
    varied: dict[str, Sequence[object]] = dict(given.simulate.preflight.vary)
    if vary is not None:
        varied = {vary: sweep_reaction.written_values(values)}
    results = [] if vary is not None else checks.check_network(given, engine)
    results += [sweep_reaction.check_vary(given, engine, key, entries) for key, entries in varied.items()]
    for result in results:
        typer.echo(result.line())
    document = checks.verdict(results, str(experiment))
    if output is not None:
        tables.write_json(output, checks.PREFLIGHT_SCHEMA, document)


@app.command("flow-control")
def flow_control(
    ctx: typer.Context,
    experiment: Experiment,
    classes: Annotated[Path, typer.Option(help="rank classes of phase 1")],
    profiles: Annotated[list[Path], typer.Argument(help="timing profiles of phase 2, one for each mode")],
    output: Annotated[Path, typer.Option(help="flow-control.json to write")],
    base: Annotated[Path | None, typer.Option(help="the experiment's own choice: choose for its studies")] = None,
    processes: Annotated[int, typer.Option(min=1, help="trials that run side by side")] = 1,
) -> None:
    """Choose the flow control of network: flow_control: auto by trials of the first iterations."""
    from manynode import tables
    from manynode.config.experiment import mode_of, most_complete
    from manynode.config.studies import all_points
    from manynode.steps import step_of
    from phase3_sst.checks import flow_control as trials
    from phase3_sst.point.contract import engine_of
    from phase3_sst.point.flow_choice import FLOW_CONTROL_SCHEMA

    resolved = ctx.with_resource(step_of(experiment))
    engine = engine_of(resolved.simulate)

    def situation(variant: str | None, technique: str, nodes: int) -> trials.Situation:
        profile = next((path for path in profiles if path.stem == f"timing-profile-{mode_of(technique)}"), profiles[0])
        point = _point(resolved, technique, nodes, classes, profile, 1, None, variant)
        return trials.Situation(point.name, point)

    if base is None:
        own = iter([situation(None, most_complete(resolved.techniques), max(resolved.nodes))])
        document = trials.choose(own, engine, processes)
        if document["flow_control"] == "credits":
            trials.check_buffers(resolved, engine, str(experiment))
    else:
        largest = {
            f"{one.study}/{one.variant.name}": one for one in sorted(all_points(resolved), key=lambda p: p.nodes)
        }
        varied = (situation(name, one.technique, one.nodes) for name, one in largest.items())
        open_ones = (one for one in varied if one.point.experiment.network.flow_control == "auto")
        document = trials.follow(tables.read_json(base, FLOW_CONTROL_SCHEMA), open_ones, engine, processes)
    typer.echo(f"flow control: {document['flow_control']} ({document['reason']})")
    for warning in document["warnings"]:
        typer.echo(f"WARNING {warning}")
    tables.write_json(output, FLOW_CONTROL_SCHEMA, {k: v for k, v in document.items() if k in trials.MEMBERS})


@app.command("draws")
def draws(
    ctx: typer.Context,
    experiment: Experiment,
    profile: Annotated[Path, typer.Option(help="timing profile of phase 2")],
    series: Annotated[Path, typer.Option(help="the simulated times as they were, of 'manynode nodesim series'")],
    output: Annotated[Path, typer.Option(help="comparison to write")],
) -> None:
    """Compare drawn compute times with the simulated node's own, replayed as they were."""
    from manynode import tables
    from manynode.steps import step_of
    from phase3_sst.checks.draws import DRAWS_SCHEMA, compare
    from phase3_sst.point.contract import engine_of

    resolved = ctx.with_resource(step_of(experiment))
    document = compare(resolved, profile, series, engine_of(resolved.simulate))
    tables.write_json(output, DRAWS_SCHEMA, document)


def _with_flow_control(point: Any, choice: Path | None) -> Any:
    """Return the point with the choice in the file, if there is one."""
    if choice is None:
        return point
    from dataclasses import replace

    from manynode import tables
    from phase3_sst.point.flow_choice import FLOW_CONTROL_SCHEMA, decided

    return replace(point, experiment=decided(point.experiment, tables.read_json(choice, FLOW_CONTROL_SCHEMA)))


@app.command("analyse")
def analyse(
    ctx: typer.Context,
    experiment: Experiment,
    projection: Annotated[Path, typer.Option(help="projection.parquet to write; the other tables go beside it")],
    results: Annotated[list[Path], typer.Argument(help="result.json of every point")],
) -> None:
    """Analyse all points: projection with intervals, breakdown, link load, provenance."""
    from manynode import provenance, tables
    from manynode.steps import step_of
    from phase3_sst.analysis import projection_tables
    from phase3_sst.point.contract import RESULT_SCHEMA
    from phase3_sst.point.flow_choice import FLOW_CONTROL_SCHEMA, is_chosen

    resolved = ctx.with_resource(step_of(experiment))
    content = resolved.content
    points = [(path.parent.parent.name, int(path.parent.name.removeprefix("nodes-")), path.parent) for path in results]
    found = projection_tables.analyse(
        points,
        ranks_per_node=content["ranks_per_node"],
        confidence=content["simulate"]["confidence"],
        seed=content["seed"],
        resamples=projection.parent / "resamples" if content["simulate"]["profile_bootstrap"] else None,
    )
    engine = tables.read_json(results[0], RESULT_SCHEMA)["engine"]
    tools = {engine["name"]: engine["version"], **_phase2_tools(projection.parent, content["techniques"])}
    # The projection is written last, since it stands for all files of this step.
    origin = provenance.provenance(seed=content["seed"], experiment_digest=resolved.projection_digest(), tools=tools)
    choice = projection.parent / "simulate/flow-control.json"
    if is_chosen(resolved) and choice.is_file():
        chosen = tables.read_json(choice, FLOW_CONTROL_SCHEMA)
        origin |= {key: chosen[key] for key in ("flow_control", "most_chunks")}
    tables.write_json(projection.parent / "provenance.json", "provenance/1", origin)
    projection_tables.write(found, projection)


def _add_conclusion(study: Study) -> None:
    """Add the command that concludes ``study``."""

    @app.command(study.command, help=study.help)
    def conclude(
        ctx: typer.Context,
        experiment: Experiment,
        cores: Annotated[int, typer.Option(min=1, help="cores for simulations of the conclusion itself")] = 1,
    ) -> None:
        from manynode.steps import step_of

        resolved = ctx.with_resource(step_of(experiment))
        processes = max(1, cores // resolved.simulate.cores_of_replica())
        study.write(study.conclude(resolved, experiment.parent, processes), experiment.parent)
        for line in study.said(experiment.parent):
            typer.echo(line)


for _study in studies():
    _add_conclusion(_study)


@app.command("record")
def record(
    results: Annotated[Path, typer.Argument(help="results folder of an experiment with a section validation")],
    output: Annotated[Path, typer.Option(help="table to write (validation-record/1), such as validation/NAME.parquet")],
    fitted_to: Annotated[str, typer.Option(help="what the parameters of machine and network were fitted to")],
    source: Annotated[str, typer.Option(help="the command or publication that the comparison comes from")],
) -> None:
    """Record a validation: the report's band of known errors can use it (docs/how-to/validate.md)."""
    from manynode import artefacts
    from manynode.config.resolved import read_resolved
    from manynode.known_errors.records import write_records
    from manynode.steps import Steps
    from phase3_sst.studies.validation.records import records

    resolved = read_resolved(results / "experiment.json")
    with artefacts.bound(results, Steps(resolved.content).identity_of):
        found = records(resolved, results, fitted_to=fitted_to, source=source)
    write_records(output, found)
    typer.echo(f"{len(found)} records: {output}")


@app.command("situations")
def situations(
    batch: Annotated[Path, typer.Option(help="batch of a study's points (campaign-batch/1)")],
    output: Annotated[Path, typer.Option(help="folder of the study")],
    processes: Annotated[int, typer.Option(min=1, help="replicas of a point simulated side by side")] = 1,
) -> None:
    """Simulate the points of a batch that have no result yet."""
    from phase3_sst.campaign.batch import simulate_batch

    simulate_batch(batch, output, processes)


def _phase2_tools(folder: Path, techniques: Sequence[str]) -> dict[str, str]:
    """Return the engines that made the timing profiles of ``techniques``, with their versions; own times have none."""
    from manynode import tables

    tools: dict[str, str] = {}
    for mode in sorted({"ext" if name.startswith("ext") else "no-ext" for name in techniques}):
        path = folder / f"nodesim/timing-profile-{mode}.json"
        if path.is_file():
            profile: dict[str, Any] = tables.read_json(path, "timing-profile/1")
            if version := str(profile.get("engine_version", "unknown")):
                tools[str(profile.get("engine", "unknown"))] = version
    return tools


def probes() -> dict[str, Any]:
    """Return the probe of each engine of phase 3 for ``manynode doctor``."""
    from phase3_sst.point.contract import engines

    return {name: engines.get(name)().probe() for name in engines.names()}
