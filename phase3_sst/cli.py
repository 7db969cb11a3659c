"""``manynode simulate``: the steps of phase 3."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Phase 3: the skeleton on the simulated network.", no_args_is_help=True)

Experiment = Annotated[Path, typer.Option(help="resolved experiment (results/NAME/experiment.json)")]


@app.command("run")
def run(
    experiment: Experiment,
    technique: Annotated[str, typer.Option(help="no-ext-const, no-ext-var, ext-const or ext-var")],
    nodes: Annotated[int, typer.Option(min=1, help="node count")],
    classes: Annotated[Path, typer.Option(help="rank classes of phase 1")],
    profile: Annotated[Path, typer.Option(help="timing profile of phase 2")],
    result: Annotated[Path, typer.Option(help="result.json to write; its tables go beside it")],
    processes: Annotated[int, typer.Option(min=1, help="processes that share the replicas")] = 1,
    progress: Annotated[bool, typer.Option("--progress", help="tell how far it is, and how long it will take")] = False,
    cost: Annotated[Path | None, typer.Option(help="CSV file to write: wall and processor time, memory")] = None,
    variant: Annotated[str | None, typer.Option(help="of the sensitivity study: its name")] = None,
) -> None:
    """Simulate one point: a technique at a node count, all replicas."""
    from phase3_sst.cost import recorded
    from phase3_sst.engines.interface import engine_of
    from phase3_sst.progress import shown

    with shown(progress) as sink, recorded(cost):
        point = _point(experiment, technique, nodes, classes, profile, processes, sink, variant)
        engine_of(point.experiment).simulate(point, result.parent)


@app.command("resamples")
def resamples(
    experiment: Experiment,
    technique: Annotated[str, typer.Option(help="no-ext-const, no-ext-var, ext-const or ext-var")],
    nodes: Annotated[int, typer.Option(min=1, help="node count")],
    classes: Annotated[Path, typer.Option(help="rank classes of phase 1")],
    profile: Annotated[Path, typer.Option(help="timing profile of phase 2")],
    resamples: Annotated[Path, typer.Option(help="its resamples, of phase 2 as well")],
    output: Annotated[Path, typer.Option(help="table to write: makespan of each resample")],
    processes: Annotated[int, typer.Option(min=1, help="cores of a simulation")] = 1,
) -> None:
    """Simulate one point with each resample of its timing profile."""
    from manynode import tables
    from manynode.profile_resamples import read_resamples
    from phase3_sst.interval_parts import RESAMPLES_SCHEMA
    from phase3_sst.progress import shown
    from phase3_sst.resampled import simulate_resamples

    with shown(True) as sink:
        point = _point(experiment, technique, nodes, classes, profile, processes, sink, None)
        table = simulate_resamples(point, read_resamples(resamples))
    tables.write_table(output, RESAMPLES_SCHEMA, table)


def _point(
    experiment: Path,
    technique: str,
    nodes: int,
    classes: Path,
    profile: Path,
    processes: int,
    sink: Any,
    variant: str | None,
) -> Any:
    """Return the point that the command line names."""
    from manynode.config.loader import read_resolved
    from manynode.config.variants import variant_of
    from manynode.rank_classes import assign_classes, read_rank_classes
    from manynode.seeds import derive_seed
    from manynode.timing_profile import read_timing_profile
    from phase3_sst.engines.interface import Point

    # Checked here as well: the engines read the file themselves, and say less about what is wrong with it.
    read_timing_profile(profile)
    content = read_resolved(experiment).content
    if variant is not None:
        content = variant_of(content, variant).content(content)
    ranks = nodes * content["ranks_per_node"]
    if technique.startswith("ext"):
        assigned = assign_classes(read_rank_classes(classes), ranks, content["seed"])
    else:
        # A node that ran alone is of one class: its ranks have no place in a larger job.
        assigned = ["0"] * ranks
    seed = derive_seed(content["seed"], "draws")
    return Point(content, nodes, technique, profile, assigned, seed, processes, sink, variant)


@app.command("estimate")
def estimate(
    experiment: Annotated[Path, typer.Option(help="experiment: its file (YAML) or resolved (experiment.json)")],
) -> None:
    """Say what the points will take with the engine sst: memory, and processor time of one replica."""
    from manynode.config.loader import load_experiment, read_resolved
    from phase3_sst.sst_run.resources import point_estimate

    read = read_resolved if experiment.suffix == ".json" else load_experiment
    content = read(experiment).content
    for nodes in content["nodes"]:
        found = point_estimate(content, nodes)
        typer.echo(f"{nodes} nodes, {nodes * content['ranks_per_node']} ranks: {found.words()}")


@app.command("preflight")
def preflight(
    experiment: Annotated[Path, typer.Option(help="experiment: its file (YAML) or resolved (experiment.json)")],
    output: Annotated[Path | None, typer.Option(help="preflight.json to write")] = None,
    vary: Annotated[str | None, typer.Option(help="a parameter that must matter: network.link.bandwidth")] = None,
    values: Annotated[str, typer.Option(help='its values: "20 Gbit/s,100 Gbit/s"')] = "",
) -> None:
    """Probe the network: line rate, bisection, parameters that move the result; exit code 6 when one fails."""
    from manynode import tables
    from manynode.config.loader import load_experiment, read_resolved
    from phase3_sst import preflight as checks
    from phase3_sst import sensitivity
    from phase3_sst.engines.interface import engine_of

    read = read_resolved if experiment.suffix == ".json" else load_experiment
    content = read(experiment).content
    engine = engine_of(content)
    varied = dict(content["simulate"]["preflight"]["vary"])
    if vary is not None:
        varied = {vary: sensitivity.written_values(values)}
    results = [] if vary is not None else checks.check_network(content, engine)
    results += [sensitivity.check_vary(content, engine, key, entries) for key, entries in varied.items()]
    for result in results:
        typer.echo(result.line())
    document = checks.verdict(results, str(experiment))
    if output is not None:
        tables.write_json(output, checks.PREFLIGHT_SCHEMA, document)


@app.command("analyse")
def analyse(
    experiment: Experiment,
    projection: Annotated[Path, typer.Option(help="projection.parquet to write; the other tables go beside it")],
    results: Annotated[list[Path], typer.Argument(help="result.json of every point")],
) -> None:
    """Bring all points together: projection with intervals, breakdown, link load, provenance."""
    from manynode import provenance, tables
    from manynode.config.loader import read_resolved
    from phase3_sst import analysis
    from phase3_sst.engines.interface import RESULT_SCHEMA

    resolved = read_resolved(experiment)
    content = resolved.content
    points = [(path.parent.parent.name, int(path.parent.name.removeprefix("nodes-")), path.parent) for path in results]
    analysis.write(
        analysis.analyse(
            points,
            ranks_per_node=content["ranks_per_node"],
            confidence=content["simulate"]["confidence"],
            seed=content["seed"],
            resamples=projection.parent / "resamples" if content["simulate"]["profile_bootstrap"] else None,
        ),
        projection,
    )
    engine = tables.read_json(results[0], RESULT_SCHEMA)["engine"]
    tools = {engine["name"]: engine["version"], **_phase2_tools(projection.parent)}
    tables.write_json(
        projection.parent / "provenance.json",
        "provenance/1",
        provenance.provenance(seed=content["seed"], experiment_digest=resolved.digest(), tools=tools),
    )


@app.command("sensitivity")
def analyse_sensitivity(
    experiment: Experiment,
    points: Annotated[Path, typer.Option(help="folder of the study's points")],
    output: Annotated[Path, typer.Option(help="sensitivity.parquet to write; the other tables go beside it")],
) -> None:
    """Bring the points of the sensitivity study together: times, knees, Sobol indices."""
    from manynode.config.loader import read_resolved
    from phase3_sst.studies import sensitivity

    sensitivity.write(sensitivity.analyse(read_resolved(experiment).content, points), output)


def _phase2_tools(folder: Path) -> dict[str, str]:
    """Return the engines that the timing profiles name, with their versions."""
    from manynode import tables

    tools: dict[str, str] = {}
    for path in sorted(folder.glob("nodesim/timing-profile-*.json")):
        profile: dict[str, Any] = tables.read_json(path, "timing-profile/1")
        tools[str(profile.get("engine", "unknown"))] = str(profile.get("engine_version", "unknown"))
    return tools


def probes() -> dict[str, Any]:
    """Return what ``manynode doctor`` shows of phase 3: engine -> probe."""
    from phase3_sst.engines.interface import engines

    return {name: engines.get(name)().probe() for name in engines.names()}
