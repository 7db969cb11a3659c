"""``manynode variability``: trains a model on runs, and applies it to another run (Chunduri et al.)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Estimate from router counters how much the network changed a run's time.", no_args_is_help=True)

Files = Annotated[
    list[Path], typer.Argument(help="a table router-counters/1, or files of LDMS, PAPI or darshan-parser")
]
Names = Annotated[str | None, typer.Option(help="names, separated by commas")]


@app.command("train")
def train(
    runs: Annotated[Path, typer.Argument(help="table of runs (variability-runs/1), Parquet or CSV")],
    output: Annotated[Path, typer.Option(help="model to write (JSON)")],
    features: Annotated[
        str, typer.Option(help="paper: the paper's seven features; auto: the seven most important")
    ] = "paper",
    trees: Annotated[int, typer.Option(min=10, help="trees of the random forest")] = 200,
    confidence: Annotated[float, typer.Option(min=0.51, max=0.999, help="share of runs within the error")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="seed of folds and trees")] = 1,
    tables: Annotated[Path | None, typer.Option(help="folder for the validation tables")] = None,
) -> None:
    """Train a model on a table of runs, show its quality, and write it."""
    from manynode import tables as files
    from manynode.errors import UsageError
    from phase3_sst.studies.congestion.variability import variability_model_file
    from phase3_sst.studies.congestion.variability.runs_table import read_runs
    from phase3_sst.studies.congestion.variability.train import AUTO, PAPER, Options
    from phase3_sst.studies.congestion.variability.training_report import trained
    from phase3_sst.studies.congestion.variability.variability_findings import quality

    if features not in (PAPER, AUTO):
        raise UsageError("unknown choice of features", where="--features", found=features, allowed=f"{PAPER}, {AUTO}")
    found = trained(read_runs(runs), Options(features, trees, confidence, seed), runs.name)
    variability_model_file.write(output, found.model)
    if tables is not None:
        for name, (schema, frame) in found.tables.items():
            files.write_table(tables / f"{name}.parquet", schema, frame)
    for note in [*found.notes, *quality(found)]:
        typer.echo(note)
    typer.echo(str(output))


@app.command("predict")
def predict(
    model: Annotated[Path, typer.Argument(help="model from 'manynode variability train'")],
    counters: Files,
    nodes: Names = None,
    routers: Names = None,
    node_count: Annotated[
        int | None, typer.Option(min=1, help="nodes of the run [default: as many as --nodes]")
    ] = None,
    application: Annotated[
        str | None, typer.Option(help="application that the model knows; the answer is then in seconds")
    ] = None,
    run_time: Annotated[str | None, typer.Option(help="run time to judge, such as '569 s'")] = None,
    start: Annotated[float | None, typer.Option(help="start of the run in the counters' time [s]")] = None,
    end: Annotated[float | None, typer.Option(help="end of the run in the counters' time [s]")] = None,
    form: Annotated[str, typer.Option("--format", help="auto, table, ldms, papi or darshan")] = "auto",
) -> None:
    """Estimate, with its error, how much the network made a run slower or faster than usual; or explain why not."""
    from manynode.errors import UsageError
    from manynode.units import parse
    from phase3_sst.studies.congestion.counters.counter_features import host_direction
    from phase3_sst.studies.congestion.counters.counter_table import window
    from phase3_sst.studies.congestion.counters.readers.interface import read_counters
    from phase3_sst.studies.congestion.variability import variability_model_file
    from phase3_sst.studies.congestion.variability.predict import predict as ask
    from phase3_sst.studies.congestion.variability.predict import routers_of, words

    learned = variability_model_file.read(model)
    names = [name.strip() for name in (nodes or "").split(",") if name.strip()]
    count = node_count or len(names)
    if not count:
        raise UsageError("the nodes of the run are not known", remedy="give --nodes NAME,NAME or --node-count N")
    try:
        seconds = None if run_time is None else parse(run_time, "time")
    except ValueError as error:
        raise UsageError("the run time is not a time", where="--run-time", found=str(error)) from None
    found = window(read_counters(counters, form), start, end)
    own = routers_of(found, names, [name.strip() for name in (routers or "").split(",") if name.strip()])
    for note in found.notes:
        typer.echo(f"counters: {note}")
    if not names and not routers:
        typer.echo(f"counters: all {len(own)} routers are taken for the run's, because no nodes are named")
    if host_direction(found.table) != "in":
        typer.echo("counters: host ports are counted towards the nodes, because nothing counts what comes from them")
    said = ask(learned, found, routers=own, nodes=count, application=application, run_time_s=seconds)
    for line in words(said, learned):
        typer.echo(line)
    if said.refused is not None:
        raise typer.Exit(6)
